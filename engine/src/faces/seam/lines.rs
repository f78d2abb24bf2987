//! Lines of the input, read by a thread of their own.

use crate::drive::halt::Halt;
use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Receiver};
use std::thread;

const LINE_BYTES_MAX: usize = 16 << 20;

#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// Sets `halt` when the input ends. Lines that wait to be answered wait here and no longer in the
/// pipe: only who reads on sees the end.
pub fn read<R: BufRead + Send + 'static>(mut input: R, halt: Halt) -> io::Result<Receiver<Line>> {
    let (sender, lines) = mpsc::channel();
    thread::Builder::new().name("requests".to_owned()).spawn(move || {
        // An input that cannot be read any more has ended too.
        while let Ok(Some(line)) = next(&mut input, LINE_BYTES_MAX) {
            if sender.send(line).is_err() {
                break;
            }
        }
        halt.set();
    })?;
    Ok(lines)
}

/// `None` at the end of the input. A line that does not end is none.
fn next(input: &mut impl BufRead, bytes_max: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    input.take(bytes_max as u64 + 1).read_until(b'\n', &mut line)?;
    if line.ends_with(b"\n") {
        line.pop();
        return Ok(Some(Line::Whole(line)));
    }
    if line.len() <= bytes_max {
        return Ok(None);
    }
    // The rest of a line that is too long is read in pieces, and none of them kept.
    while !line.ends_with(b"\n") {
        line.clear();
        if input.take(bytes_max as u64).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(Line::TooLong))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[Option<&str>]) {
        let mut input = io::BufReader::with_capacity(3, text.as_bytes());
        let mut found = Vec::new();
        while let Some(line) = next(&mut input, 5).unwrap() {
            found.push(match line {
                Line::Whole(line) => Some(String::from_utf8(line).unwrap()),
                Line::TooLong => None,
            });
        }
        assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn long_lines_are_told_from_whole_ones() {
        check("a\n12345\n123456\nb\n", &[Some("a"), Some("12345"), None, Some("b")]);
        check("1234567890123456\n\n", &[None, Some("")]);
        check("a\nb", &[Some("a")]);
        check("", &[]);
    }
}
