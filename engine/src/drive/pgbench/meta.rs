//! What meta commands do outside of the server: sleep, and run shell commands.

use super::voice;
use crate::script::meta::{Sleep, Word};
use crate::script::value::Value;
use crate::script::{encoding, outside};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long to sleep. `command`: the name as the script has it. What is wrong is said.
pub fn sleep_time(sleep: &Sleep, command: &str, variables: &[Value]) -> Option<Duration> {
    sleep.time(variables).map_err(|what| voice::error(format_args!("{command}: {what}"))).ok()
}

/// The command line of words, and the first of them for messages.
fn line<'a>(words: &'a [Word], variables: &[Value]) -> Option<(String, &'a str)> {
    let first = outside::first(words);
    let line = outside::line(words, variables).map_err(|what| voice::error(format_args!("{first}: {what}"))).ok()?;
    Some((line, first))
}

/// The bytes that the script has.
fn as_written(line: &str) -> OsString {
    OsString::from_vec(encoding::bytes(line).into_owned())
}

/// Whether it ran and ended well. What is wrong is said unless the time is `over` anyway.
pub fn run_shell(words: &[Word], variables: &[Value], over: bool) -> bool {
    let Some((line, first)) = line(words, variables) else { return false };
    let ran = Command::new("/bin/sh").arg("-c").arg(as_written(&line)).status().is_ok_and(|status| status.success());
    if !ran && !over {
        voice::error(format_args!("{first}: could not launch shell command"));
    }
    ran
}

/// The integer that a shell command prints.
pub fn ask_shell(words: &[Word], variables: &[Value], over: bool) -> Option<i64> {
    let (line, first) = line(words, variables)?;
    let child = Command::new("/bin/sh").arg("-c").arg(as_written(&line)).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        voice::error(format_args!("{first}: could not launch shell command"));
        return None;
    };
    let mut result = Vec::new();
    let output = child.stdout.take().map(|output| BufReader::new(output.take(outside::RESULT_BYTES_MAX)));
    let read = output.map_or(Ok(0), |mut output| output.read_until(b'\n', &mut result));
    let ended = child.wait();
    if !matches!(read, Ok(1..)) {
        if !over {
            voice::error(format_args!("{first}: could not read result of shell command"));
        }
        return None;
    }
    if ended.is_err() {
        voice::error(format_args!("{first}: could not run shell command"));
        return None;
    }
    match outside::integer(&result) {
        Ok(value) => {
            let (second, result) = (line.split(' ').nth(1).unwrap_or("(null)"), String::from_utf8_lossy(&result));
            voice::debug(format_args!("{first}: shell parameter name: \"{second}\", value: \"{result}\""));
            Some(value)
        }
        Err(what) => {
            voice::error(format_args!("{first}: {what}"));
            None
        }
    }
}
