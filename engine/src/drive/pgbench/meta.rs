//! What meta commands do outside of the server: sleep, and run shell commands.

use super::voice;
use crate::script::meta::{self, Sleep, Word};
use crate::script::value::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

/// As in pgbench, its closing zero byte included.
const SHELL_COMMAND_BYTES_MAX: usize = 256;
/// Of what a shell command prints this much is read.
const RESULT_BYTES_MAX: u64 = 63;

fn text(value: &Value) -> Option<String> {
    let mut out = Vec::new();
    value.write_text(&mut out).then(|| String::from_utf8_lossy(&out).into_owned())
}

/// How long to sleep. `command`: the name as the script has it. What is wrong is said.
pub fn sleep_time(sleep: &Sleep, command: &str, variables: &[Value]) -> Option<Duration> {
    match sleep {
        Sleep::For(time) => Some(*time),
        Sleep::Variable { slot, name, unit } => {
            let Some(text) = text(&variables[*slot]) else {
                voice::error(format_args!("{command}: undefined variable \"{name}\""));
                return None;
            };
            let amount = meta::leading_integer(&text);
            if amount == 0 && !text.starts_with(|c: char| c.is_ascii_digit()) {
                voice::error(format_args!("{command}: invalid sleep time \"{text}\" for variable \"{name}\""));
                return None;
            }
            Some(meta::times(amount, *unit))
        }
    }
}

/// The command line of words, and the first of them for messages.
fn line<'a>(words: &'a [Word], variables: &[Value]) -> Result<(String, &'a str), ()> {
    let first = match &words[0] {
        Word::Text(text) => text.as_str(),
        Word::Variable { written, .. } => written.as_str(),
    };
    let mut line = String::new();
    for (number, word) in words.iter().enumerate() {
        let word = match word {
            Word::Text(text) => text.clone(),
            Word::Variable { slot, written } => text(&variables[*slot]).ok_or_else(|| {
                voice::error(format_args!("{first}: undefined variable \"{written}\""));
            })?,
        };
        if line.len() + word.len() + usize::from(number > 0) >= SHELL_COMMAND_BYTES_MAX - 1 {
            voice::error(format_args!("{first}: shell command is too long"));
            return Err(());
        }
        if number > 0 {
            line.push(' ');
        }
        line += &word;
    }
    Ok((line, first))
}

/// Whether it ran and ended well. What is wrong is said unless the time is `over` anyway.
pub fn run_shell(words: &[Word], variables: &[Value], over: bool) -> bool {
    let Ok((line, first)) = line(words, variables) else { return false };
    let ran = Command::new("/bin/sh").arg("-c").arg(line).status().is_ok_and(|status| status.success());
    if !ran && !over {
        voice::error(format_args!("{first}: could not launch shell command"));
    }
    ran
}

/// The integer that a shell command prints.
pub fn ask_shell(words: &[Word], variables: &[Value], over: bool) -> Option<i64> {
    let (line, first) = line(words, variables).ok()?;
    let child = Command::new("/bin/sh").arg("-c").arg(&line).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        voice::error(format_args!("{first}: could not launch shell command"));
        return None;
    };
    let mut result = Vec::new();
    let output = child.stdout.take().map(|output| BufReader::new(output.take(RESULT_BYTES_MAX)));
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
    let result = String::from_utf8_lossy(&result);
    match result.trim_ascii().parse::<i64>() {
        Ok(value) => {
            let second = line.split(' ').nth(1).unwrap_or("(null)");
            voice::debug(format_args!("{first}: shell parameter name: \"{second}\", value: \"{result}\""));
            // pgbench keeps what fits a C int.
            Some(i64::from(value as i32))
        }
        Err(_) => {
            voice::error(format_args!("{first}: shell command must return an integer (not \"{result}\")"));
            None
        }
    }
}
