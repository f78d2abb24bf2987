//! The words of an expression.

use super::{Fault, name_length};

#[derive(Debug, Clone, PartialEq)]
pub enum Token<'a> {
    Integer(u64),
    Double(f64),
    /// `:name`
    Variable(&'a str),
    /// A keyword or the name of a function.
    Word(&'a str),
    Symbol(&'static str),
}

/// A token and where it begins in the script.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed<'a> {
    pub token: Token<'a>,
    pub at: usize,
}

/// Longer ones first, so that `<=` is not `<`.
const SYMBOLS: [&str; 21] =
    ["<=", ">=", "<>", "!=", "<<", ">>", "+", "-", "*", "/", "%", "<", ">", "=", "|", "#", "&", "~", "(", ")", ","];

/// `offset` is where `text` begins in the script.
pub fn tokens(text: &str, offset: usize) -> Result<Vec<Placed<'_>>, Fault> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let (token, length) = match bytes[at] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'\\' if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") => {
                at += 1;
                continue;
            }
            b':' => match name_length(&bytes[at + 1..]) {
                0 => return Err(Fault::new(offset + at, "no name of a variable after the colon")),
                length => (Token::Variable(&rest[1..=length]), length + 1),
            },
            byte if byte.is_ascii_digit() || byte == b'.' => {
                number(rest).map_err(|what| Fault::new(offset + at, what))?
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let length = name_length(rest.as_bytes());
                (Token::Word(&rest[..length]), length)
            }
            _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => (Token::Symbol(symbol), symbol.len()),
                None => {
                    let character = rest.chars().next().expect("not at the end");
                    return Err(Fault::new(offset + at, format!("unexpected character `{character}`")));
                }
            },
        };
        tokens.push(Placed { token, at: offset + at });
        at += length;
    }
    Ok(tokens)
}

fn number(text: &str) -> Result<(Token<'_>, usize), String> {
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
    let token = if integer {
        text.parse().ok().map(Token::Integer)
    } else {
        text.parse().ok().filter(|value: &f64| value.is_finite()).map(Token::Double)
    };
    match token {
        Some(token) => Ok((token, end)),
        None => Err(format!("\"{text}\" is no number that we can hold")),
    }
}
