//! The words of an expression.

use super::{Fault, begins_name, continues_name, name_length};

#[derive(Debug, Clone, PartialEq)]
pub enum Token<'a> {
    Integer(u64),
    Double(f64),
    /// `:name`; in expressions it may begin with a digit.
    Variable(&'a str),
    /// A keyword or the name of a function.
    Word(&'a str),
    Symbol(&'static str),
}

/// A token and where it is in the script.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed<'a> {
    pub token: Token<'a>,
    pub at: usize,
    pub end: usize,
}

/// The words of an expression up to its end or to what is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Tokens<'a> {
    pub tokens: Vec<Placed<'a>>,
    pub fault: Option<Fault>,
}

/// Longer ones first, so that `<=` is not `<`.
const SYMBOLS: [&str; 21] =
    ["<=", ">=", "<>", "!=", "<<", ">>", "+", "-", "*", "/", "%", "<", ">", "=", "|", "#", "&", "~", "(", ")", ","];

/// `offset` is where `text` begins in the script.
pub fn tokens(text: &str, offset: usize) -> Tokens<'_> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if let Some(blank) = blank_bytes(rest) {
            at += blank;
            continue;
        }
        match token(rest) {
            Ok((token, length)) => {
                tokens.push(Placed { token, at: offset + at, end: offset + at + length });
                at += length;
            }
            Err((what, about)) => {
                let fault = Fault::new(offset + at, what).up_to(offset + at + about.len()).about(about);
                return Tokens { tokens, fault: Some(fault) };
            }
        }
    }
    Tokens { tokens, fault: None }
}

/// The last of what is no word in a text. pgbench, which finishes the line before it reports an
/// error, reports this one instead.
pub fn last_fault(text: &str, offset: usize) -> Option<Fault> {
    let (mut last, mut at) = (None, 0);
    while let Some(fault) = tokens(&text[at..], offset + at).fault {
        at = fault.last + 1 - offset;
        last = Some(fault);
    }
    last
}

/// Blanks, and a backslash that lets a line go on.
fn blank_bytes(text: &str) -> Option<usize> {
    match text.as_bytes()[0] {
        b' ' | b'\t' | b'\r' | b'\n' | b'\x0b' | b'\x0c' => Some(1),
        b'\\' if text.starts_with("\\\n") => Some(2),
        b'\\' if text.starts_with("\\\r\n") => Some(3),
        _ => None,
    }
}

/// The token at the start and its length, or what is wrong with which text.
fn token(text: &str) -> Result<(Token<'_>, usize), (&'static str, &str)> {
    let bytes = text.as_bytes();
    let unexpected = || {
        let length = text.chars().next().map_or(0, char::len_utf8);
        ("unexpected character", &text[..length])
    };
    match bytes[0] {
        b':' => match bytes[1..].iter().take_while(|&&byte| continues_name(byte)).count() {
            0 => Err(unexpected()),
            length => Ok((Token::Variable(&text[1..=length]), length + 1)),
        },
        b'.' if !bytes.get(1).is_some_and(u8::is_ascii_digit) => Err(unexpected()),
        byte if byte.is_ascii_digit() || byte == b'.' => number(text),
        byte if begins_name(byte) => {
            let length = name_length(bytes);
            Ok((Token::Word(&text[..length]), length))
        }
        _ => match SYMBOLS.iter().find(|symbol| text.starts_with(**symbol)) {
            Some(symbol) => Ok((Token::Symbol(symbol), symbol.len())),
            None => Err(unexpected()),
        },
    }
}

fn number(text: &str) -> Result<(Token<'_>, usize), (&'static str, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    let mut integer = true;
    if bytes.get(end) == Some(&b'.') {
        integer = false;
        end += 1 + digits(end + 1);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            integer = false;
            end += 1 + sign + exponent;
        }
    }
    let text = &text[..end];
    if integer {
        // One more than an i64 holds is the smallest one behind a minus.
        const BEYOND_MAX: u64 = i64::MIN.unsigned_abs();
        let fits = text.parse().ok().filter(|&value: &u64| value <= BEYOND_MAX);
        // pgbench knows the smallest one by its digits alone.
        let fits = fits.filter(|&value| value < BEYOND_MAX || text.len() == 19);
        return fits.map(|value| (Token::Integer(value), end)).ok_or(("bigint constant overflow", text));
    }
    let fits = text.parse().ok().filter(|value: &f64| value.is_finite());
    fits.map(|value| (Token::Double(value), end)).ok_or(("double constant overflow", text))
}
