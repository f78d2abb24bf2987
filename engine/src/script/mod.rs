//! The script language of pgbench: text in, program out.
//!
//! [`split`] cuts a script into SQL and meta commands, [`expression`] parses what `\set` assigns,
//! [`program`] puts both together and gives every variable a slot. [`evaluate`] computes
//! expressions from slots. Nothing here knows of servers, sockets or time.
//!
//! Not here yet: `\if`, `\gset`, `\aset`, `\sleep`, `\shell`, pipelines, and the simple and extended
//! protocols. An unknown or unsupported command is an error, never skipped.

pub mod evaluate;
pub mod expression;
pub mod function;
pub mod hash;
pub mod parameters;
pub mod program;
pub mod random;
pub mod split;
pub mod token;
pub mod value;

/// What is wrong at a byte of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub at: usize,
    pub what: String,
}

impl Fault {
    pub fn new(at: usize, what: impl Into<String>) -> Self {
        Self { at, what: what.into() }
    }
}

/// A script that cannot be run, with the place an editor jumps to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("script \"{script}\" line {line} column {column}: {what}")]
pub struct ScriptError {
    pub script: String,
    pub line: usize,
    pub column: usize,
    pub what: String,
}

impl ScriptError {
    pub fn new(script: &str, text: &str, fault: Fault) -> Self {
        let (line, column) = position(text, fault.at);
        Self { script: script.to_owned(), line, column, what: fault.what }
    }
}

/// Line and column, both from 1, columns in characters.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Whether a variable's name may begin with the byte. All of a non-ASCII character's bytes count.
pub fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

/// Whether a variable's name may go on with the byte.
pub fn continues_name(byte: u8) -> bool {
    begins_name(byte) || byte.is_ascii_digit()
}

/// How long the name at the start of `bytes` is; 0 if there is none.
pub fn name_length(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(&first) if begins_name(first) => {
            bytes.iter().position(|&byte| !continues_name(byte)).unwrap_or(bytes.len())
        }
        _ => 0,
    }
}
