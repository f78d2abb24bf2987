//! The script language of pgbench: text in, program out.
//!
//! [`split`] cuts a script into SQL and meta commands, [`meta`] reads a meta command, [`expression`]
//! parses what `\\set` assigns, [`compile`] puts it together into a [`program`] and gives every variable a slot.
//! [`evaluate`] computes expressions from slots. Nothing here knows of servers, sockets or time.
//!
//! Scripts are read in one of two dialects, see [`program::Dialect`]: as pgbench itself reads them,
//! or as campaigns want them, where what would only fail while it runs is refused beforehand.

pub mod compile;
pub mod condition;
pub mod encoding;
pub mod evaluate;
pub mod expression;
pub mod function;
pub mod hash;
pub mod meta;
pub mod outside;
pub mod parameters;
pub mod pipeline;
pub mod program;
pub mod random;
pub mod split;
pub mod stored;
pub mod token;
pub mod value;

/// What is wrong at a byte of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub at: usize,
    /// The last byte of what is wrong, which pgbench points at.
    pub last: usize,
    pub what: String,
    /// The text that `what` is about.
    pub about: Option<String>,
    pub context: Context,
}

/// What a fault is in, as far as pgbench tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Context {
    Script,
    /// A meta command from its backslash to its end. What is not `shown` is not printed with the
    /// error, and what is not `pointed` at has no place in it.
    Meta {
        name: Option<String>,
        begin: usize,
        end: usize,
        shown: bool,
        pointed: bool,
    },
    /// The conditions around a command, counted from 1.
    Condition {
        command: usize,
    },
    /// A whole script or a whole SQL statement, shown without a place.
    Whole,
}

impl Fault {
    pub fn new(at: usize, what: impl Into<String>) -> Self {
        Self { at, last: at, what: what.into(), about: None, context: Context::Script }
    }

    /// With the end of what is wrong, one behind its last byte.
    pub fn up_to(self, end: usize) -> Self {
        Self { last: end.saturating_sub(1).max(self.at), ..self }
    }

    pub fn about(self, text: impl Into<String>) -> Self {
        Self { about: Some(text.into()), ..self }
    }

    pub fn within(self, context: Context) -> Self {
        Self { context, ..self }
    }
}

/// A script that cannot be run, with the place an editor jumps to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("script \"{script}\" line {line} column {column}: {what}{}", in_brackets(about.as_deref()))]
pub struct ScriptError {
    pub script: String,
    pub line: usize,
    pub column: usize,
    pub what: String,
    pub about: Option<String>,
    pub context: ErrorContext,
}

/// A [`Context`] with the texts it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorContext {
    Script,
    Meta {
        name: Option<String>,
        /// Where the meta command begins.
        line: usize,
        shown: Option<String>,
        /// In bytes from the backslash.
        pointed: Option<usize>,
    },
    Condition {
        command: usize,
    },
    Whole,
}

fn in_brackets(about: Option<&str>) -> String {
    about.map_or_else(String::new, |about| format!(" ({about})"))
}

impl ScriptError {
    pub fn new(script: &str, text: &str, fault: Fault) -> Box<Self> {
        let (line, column) = position(text, fault.at);
        let context = match fault.context {
            Context::Script => ErrorContext::Script,
            Context::Whole => ErrorContext::Whole,
            Context::Condition { command } => ErrorContext::Condition { command },
            Context::Meta { name, begin, end, shown, pointed } => ErrorContext::Meta {
                name,
                line: position(text, begin).0,
                shown: shown.then(|| encoding::shown(text[begin..end].trim_end_matches(['\r', '\n']))),
                pointed: pointed.then(|| {
                    let end = text.ceil_char_boundary(fault.last + 1).max(begin);
                    let beyond = (fault.last + 1).saturating_sub(text.len());
                    (encoding::bytes(&text[begin..end]).len() + beyond).saturating_sub(1)
                }),
            },
        };
        let (what, about) = (encoding::shown(&fault.what), fault.about.as_deref().map(encoding::shown));
        Box::new(Self { script: script.to_owned(), line, column, what, about, context })
    }
}

/// Where the lines of a script begin, for many positions in a long one.
#[derive(Debug)]
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let starts = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Self { text, starts: [0].into_iter().chain(starts).collect() }
    }

    /// As [`position`].
    pub fn position(&self, at: usize) -> (usize, usize) {
        let at = self.text.floor_char_boundary(at);
        let line = self.starts.partition_point(|&start| start <= at);
        (line, self.text[self.starts[line - 1]..at].chars().count() + 1)
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
