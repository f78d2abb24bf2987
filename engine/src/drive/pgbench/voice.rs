//! How pgbench says things on standard error: its name, the kind of message, the text.

use crate::wire::ServerError;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static PROGRAM: OnceLock<String> = OnceLock::new();
static DEBUGGING: AtomicBool = AtomicBool::new(false);

/// The name that messages begin with; the first one told is kept.
pub fn set_program(name: &str) {
    PROGRAM.get_or_init(|| name.to_owned());
}

pub fn program() -> &'static str {
    PROGRAM.get().map_or("pgbench", String::as_str)
}

pub fn set_debugging() {
    DEBUGGING.store(true, Ordering::Relaxed);
}

#[inline]
pub fn debugging() -> bool {
    DEBUGGING.load(Ordering::Relaxed)
}

fn say(kind: &str, text: &dyn Display) {
    let text = format!("{}: {kind}{text}", program());
    raw(text.strip_suffix('\n').unwrap_or(&text));
}

/// A line without a name. Nobody is left to tell when standard error is closed.
pub fn raw(line: &str) {
    let _ = io::stdout().flush();
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

pub fn error(text: impl Display) {
    say("error: ", &text);
}

pub fn warning(text: impl Display) {
    say("warning: ", &text);
}

pub fn detail(text: impl Display) {
    say("detail: ", &text);
}

pub fn hint(text: impl Display) {
    say("hint: ", &text);
}

pub fn info(text: impl Display) {
    say("", &text);
}

/// Only where debugging was asked for; callers that would format much ask first.
pub fn debug(text: impl Display) {
    if debugging() {
        say("", &text);
    }
}

/// A notice of a server, as libpq prints it.
pub fn notice(said: &ServerError) {
    let text = said.shown(None, false);
    raw(text.trim_end_matches('\n'));
}
