//! A meta command: its words, and what they mean.

use super::expression::{self, Expression, Slot};
use super::{Context, Fault, name_length, token};
use std::time::Duration;

/// As in pgbench, the name of the command included.
const WORDS_MAX: usize = 256;

/// One meta command as it stands in a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// The name as written, and the words behind it as far as they are no expression.
    pub words: Vec<String>,
    pub order: Order,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    Set {
        target: Target,
        expression: Expression,
        expression_at: usize,
    },
    If(Expression),
    Elif(Expression),
    Else,
    Endif,
    Sleep(Sleep),
    /// With the words of a command line.
    Shell(Vec<Word>),
    SetShell {
        target: Target,
        line: Vec<Word>,
    },
    /// Where the columns of the statement before go: to variables with this prefix.
    Gset {
        prefix: String,
    },
    Aset {
        prefix: String,
    },
    StartPipeline,
    SyncPipeline,
    EndPipeline,
}

/// What is assigned to. pgbench looks at the name of a variable when it first makes one.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Slot(Slot),
    Invalid(String),
}

/// A word of a shell command.
#[derive(Debug, Clone, PartialEq)]
pub enum Word {
    Text(String),
    /// `:name`, with the colon as written; no slot: nothing ever sets it.
    Variable {
        slot: Slot,
        written: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Sleep {
    For(Duration),
    /// As long as the variable says, in this unit.
    Variable {
        slot: Slot,
        name: String,
        unit: Duration,
    },
}

/// Reads the meta command in `text[begin..end]`. `None`: a lone backslash. `slot_of` gives the
/// slot of a variable that is used, or, with `true`, assigned.
pub fn read(
    text: &str,
    begin: usize,
    end: usize,
    slot_of: &mut dyn FnMut(&str, usize, bool) -> Slot,
) -> Result<Option<Meta>, Fault> {
    let words = words(text, begin + 1, end);
    let Some(&(name_at, name)) = words.first() else { return Ok(None) };
    let mut reader = Reader { text, begin, end, name, words: &words, slot_of };
    let (order, kept) = match name.to_ascii_lowercase().as_str() {
        "set" => (reader.set()?, 2),
        "if" => (Order::If(reader.expression(name_at + name.len())?), 1),
        "elif" => (Order::Elif(reader.expression(name_at + name.len())?), 1),
        other => (reader.without_expression(other)?, words.len()),
    };
    let words = words.iter().take(kept).map(|&(_, word)| word.to_owned()).collect();
    Ok(Some(Meta { words, order }))
}

/// The words between blanks, with their places. A backslash that continues a line is a blank.
fn words(text: &str, begin: usize, end: usize) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let continues = |at: usize| bytes[at..end].starts_with(b"\\\n") || bytes[at..end].starts_with(b"\\\r\n");
    let (mut words, mut word): (Vec<(usize, &str)>, Option<usize>) = (Vec::new(), None);
    for at in begin..end {
        let blank = matches!(bytes[at], b' ' | b'\t' | b'\r' | b'\n' | b'\x0b' | b'\x0c') || continues(at);
        match (blank, word) {
            (false, None) => word = Some(at),
            (true, Some(start)) => {
                words.push((start, &text[start..at]));
                word = None;
            }
            _ => {}
        }
    }
    words.extend(word.map(|start| (start, &text[start..end])));
    words
}

struct Reader<'a, 'b> {
    text: &'a str,
    begin: usize,
    end: usize,
    name: &'a str,
    words: &'b [(usize, &'a str)],
    slot_of: &'b mut dyn FnMut(&str, usize, bool) -> Slot,
}

impl<'a> Reader<'a, '_> {
    /// A fault of the command as a whole.
    fn fault(&self, what: &str) -> Fault {
        self.place(Fault::new(self.begin, what), true, false)
    }

    fn fault_at(&self, word: usize, what: &str) -> Fault {
        self.place(Fault::new(self.words[word].0, what), true, true)
    }

    fn place(&self, fault: Fault, shown: bool, pointed: bool) -> Fault {
        let (begin, end) = (self.begin, self.end);
        fault.within(Context::Meta { name: Some(self.name.to_owned()), begin, end, shown, pointed })
    }

    fn target(&mut self, word: usize) -> Target {
        let (at, name) = self.words[word];
        match name_length(name.as_bytes()) == name.len() {
            true => Target::Slot((self.slot_of)(name, at, true)),
            false => Target::Invalid(name.to_owned()),
        }
    }

    fn set(&mut self) -> Result<Order, Fault> {
        let Some(&(at, name)) = self.words.get(1) else {
            return Err(self.place(Fault::new(self.end, "missing argument"), false, false));
        };
        let expression_at = at + name.len();
        let expression = self.expression(expression_at)?;
        let blanks = self.text[expression_at..self.end].len() - self.text[expression_at..self.end].trim_start().len();
        Ok(Order::Set { target: self.target(1), expression, expression_at: expression_at + blanks })
    }

    fn expression(&mut self, from: usize) -> Result<Expression, Fault> {
        let tokens = token::tokens(&self.text[from..self.end], from);
        // pgbench reads one character too far where there is one: the newline.
        let end = if self.end < self.text.len() { self.end } else { self.end.saturating_sub(1).max(self.begin) };
        let slot_of = &mut *self.slot_of;
        let parsed = expression::parse(&tokens, end, &mut |name, at| slot_of(name, at, false));
        parsed.map_err(|fault| {
            let rest = (fault.last + 1).min(self.end);
            let last = token::last_fault(&self.text[rest..self.end], rest);
            self.place(last.unwrap_or(fault), true, true)
        })
    }

    fn without_expression(&mut self, name: &str) -> Result<Order, Fault> {
        let count = self.words.len();
        if count > WORDS_MAX {
            return Err(self.place(Fault::new(self.words[WORDS_MAX].0, "too many arguments"), false, false));
        }
        let prefix = self.words.get(1).map_or_else(String::new, |(_, prefix)| (*prefix).to_owned());
        match name {
            "sleep" => self.sleep(),
            "shell" if count < 2 => Err(self.fault("missing command")),
            "shell" => Ok(Order::Shell(self.line(1))),
            "setshell" if count < 3 => Err(self.fault("missing argument")),
            "setshell" => Ok(Order::SetShell { target: self.target(1), line: self.line(2) }),
            "gset" | "aset" if count > 2 => Err(self.fault("too many arguments")),
            "gset" => Ok(Order::Gset { prefix }),
            "aset" => Ok(Order::Aset { prefix }),
            "else" | "endif" | "startpipeline" | "syncpipeline" | "endpipeline" if count > 1 => {
                Err(self.fault("unexpected argument"))
            }
            "else" => Ok(Order::Else),
            "endif" => Ok(Order::Endif),
            "startpipeline" => Ok(Order::StartPipeline),
            "syncpipeline" => Ok(Order::SyncPipeline),
            "endpipeline" => Ok(Order::EndPipeline),
            _ => Err(self.fault("invalid command")),
        }
    }

    fn line(&mut self, from: usize) -> Vec<Word> {
        let words = self.words;
        let slot_of = &mut *self.slot_of;
        let word = |&(at, word): &(usize, &str)| match word.strip_prefix(':') {
            Some(rest) if rest.starts_with(':') => Word::Text(rest.to_owned()),
            Some(name) => Word::Variable { slot: slot_of(name, at, false), written: word.to_owned() },
            None => Word::Text(word.to_owned()),
        };
        words[from..].iter().map(word).collect()
    }

    fn sleep(&mut self) -> Result<Order, Fault> {
        let words = self.words;
        let Some(&(at, amount)) = words.get(1) else { return Err(self.fault("missing argument")) };
        if words.len() > 3 {
            return Err(self.fault_at(3, "too many arguments"));
        }
        if let Some(name) = amount.strip_prefix(':') {
            let unit = words.get(2).map_or(Ok(Duration::from_secs(1)), |&(unit_at, unit)| self.unit(unit_at, unit))?;
            return Ok(Order::Sleep(Sleep::Variable {
                slot: (self.slot_of)(name, at, false),
                name: name.to_owned(),
                unit,
            }));
        }
        let sign = usize::from(amount.starts_with(['+', '-']));
        let digits = amount[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let rest = &amount[sign + digits..];
        let unit = match (rest, words.get(2)) {
            ("", None) => Duration::from_secs(1),
            ("", Some(&(unit_at, unit))) => self.unit(unit_at, unit)?,
            (unit, None) if digits > 0 => self.unit(at + sign + digits, unit)?,
            _ => {
                let fault = self.fault_at(1, "invalid sleep time, must be an integer");
                return Err(fault.about(amount));
            }
        };
        Ok(Order::Sleep(Sleep::For(times(leading_integer(amount), unit))))
    }

    fn unit(&self, at: usize, unit: &str) -> Result<Duration, Fault> {
        match unit.to_ascii_lowercase().as_str() {
            "us" => Ok(Duration::from_micros(1)),
            "ms" => Ok(Duration::from_millis(1)),
            "s" => Ok(Duration::from_secs(1)),
            _ => {
                let fault = Fault::new(at, "unrecognized time unit, must be us, ms or s").about(unit);
                Err(self.place(fault, true, true))
            }
        }
    }
}

/// The integer that a text begins with, 0 if it begins with none: C's `atoi`.
pub fn leading_integer(text: &str) -> i64 {
    let text = text.trim_ascii_start();
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    text[..sign + digits].parse().unwrap_or(0)
}

/// No time where the amount is negative.
pub fn times(amount: i64, unit: Duration) -> Duration {
    unit.saturating_mul(u32::try_from(amount.max(0)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Result<Order, &str>) {
        let end = text.trim_end_matches('\n').len();
        let found = read(text, 0, end, &mut |_, _, _| 0).map(|meta| meta.expect("a command").order);
        assert_eq!(found.map_err(|fault| fault.what), expect.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn sleeps_have_units() {
        let ms = Duration::from_millis;
        for (text, time) in [
            ("\\sleep 2", ms(2000)),
            ("\\sleep 2ms", ms(2)),
            ("\\sleep 2 MS", ms(2)),
            ("\\sleep 1500us", Duration::from_micros(1500)),
            ("\\sleep -1", ms(0)),
        ] {
            check(text, Ok(Order::Sleep(Sleep::For(time))));
        }
        let unit = ms(1);
        check("\\sleep :a ms", Ok(Order::Sleep(Sleep::Variable { slot: 0, name: "a".into(), unit })));
        check("\\sleep x", Err("invalid sleep time, must be an integer"));
        check("\\sleep 1 week", Err("unrecognized time unit, must be us, ms or s"));
        check("\\sleep 1 s s", Err("too many arguments"));
        check("\\sleep", Err("missing argument"));
    }

    #[test]
    fn shell_words_may_be_variables() {
        let words =
            vec![Word::Text("echo".into()), Word::Variable { slot: 0, written: ":a".into() }, Word::Text(":b".into())];
        check("\\shell echo :a \\\n ::b", Ok(Order::Shell(words)));
    }

    #[test]
    fn words_are_counted() {
        check("\\else x", Err("unexpected argument"));
        check("\\gset a b", Err("too many arguments"));
        check("\\shell", Err("missing command"));
        check("\\setshell a", Err("missing argument"));
        check("\\nosuch", Err("invalid command"));
        check("\\set", Err("missing argument"));
        check("\\GSET x_", Ok(Order::Gset { prefix: "x_".into() }));
    }
}
