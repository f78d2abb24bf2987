//! Meta commands that leave the script: how long they sleep, what a shell is given, and what is made of its answer. What
//! is wrong is said in pgbench's words.

use super::encoding;
use super::meta::{self, Sleep, Word};
use super::value::Value;
use std::time::Duration;

/// As in pgbench, its closing zero byte included.
const SHELL_COMMAND_BYTES_MAX: usize = 256;
/// Of what a shell command prints this much is read.
pub const RESULT_BYTES_MAX: u64 = 63;

impl Sleep {
    pub fn time(&self, variables: &[Value]) -> Result<Duration, String> {
        match self {
            Sleep::For(time) => Ok(*time),
            Sleep::Variable { slot, name, unit } => {
                let text = text(&variables[*slot]).ok_or_else(|| format!("undefined variable \"{name}\""))?;
                let amount = meta::leading_integer(&text);
                if amount == 0 && !text.starts_with(|c: char| c.is_ascii_digit()) {
                    return Err(format!("invalid sleep time \"{}\" for variable \"{name}\"", encoding::shown(&text)));
                }
                Ok(meta::times(amount, *unit))
            }
        }
    }
}

/// What messages call a shell command: its first word.
pub fn first(words: &[Word]) -> &str {
    match &words[0] {
        Word::Text(text) => text,
        Word::Variable { written, .. } => written,
    }
}

/// The line that a shell is to execute.
pub fn line(words: &[Word], variables: &[Value]) -> Result<String, String> {
    let mut line = String::new();
    for (number, word) in words.iter().enumerate() {
        let word = match word {
            Word::Text(text) => text.clone(),
            Word::Variable { slot, written } => {
                text(&variables[*slot]).ok_or_else(|| format!("undefined variable \"{written}\""))?
            }
        };
        if line.len() + word.len() + usize::from(number > 0) >= SHELL_COMMAND_BYTES_MAX - 1 {
            return Err("shell command is too long".to_owned());
        }
        if number > 0 {
            line.push(' ');
        }
        line += &word;
    }
    Ok(line)
}

/// The integer that a shell command printed.
pub fn integer(printed: &[u8]) -> Result<i64, String> {
    let text = String::from_utf8_lossy(printed);
    match text.trim_ascii().parse::<i64>() {
        // pgbench keeps what fits a C int.
        Ok(value) => Ok(i64::from(value as i32)),
        Err(_) => Err(format!("shell command must return an integer (not \"{text}\")")),
    }
}

fn text(value: &Value) -> Option<String> {
    let mut out = Vec::new();
    value.write_text(&mut out).then(|| encoding::text(&out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::value::Scalar;

    #[test]
    fn a_sleep_may_be_as_long_as_a_variable_says() {
        let sleep = Sleep::Variable { slot: 0, name: "n".into(), unit: Duration::from_millis(1) };
        assert_eq!(sleep.time(&[Scalar::Integer(7).into()]), Ok(Duration::from_millis(7)));
        assert_eq!(sleep.time(&[Value::Unset]).unwrap_err(), "undefined variable \"n\"");
        let word = sleep.time(&[Value::Text("soon".into())]);
        assert_eq!(word.unwrap_err(), "invalid sleep time \"soon\" for variable \"n\"");
    }

    #[test]
    fn a_line_has_the_values_of_its_variables() {
        let words = [Word::Text("echo".into()), Word::Variable { slot: 0, written: ":a".into() }];
        assert_eq!(line(&words, &[Scalar::Integer(3).into()]), Ok("echo 3".to_owned()));
        assert_eq!(line(&words, &[Value::Unset]), Err("undefined variable \":a\"".to_owned()));
        assert_eq!(line(&words, &[Value::Text("x".repeat(250).into())]), Err("shell command is too long".to_owned()));
    }

    #[test]
    fn a_shell_answers_with_an_integer() {
        assert_eq!(integer(b" 42\n"), Ok(42));
        assert_eq!(integer(b"4x"), Err("shell command must return an integer (not \"4x\")".to_owned()));
    }
}
