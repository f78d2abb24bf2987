//! What a variable of a script holds, and how it looks as a parameter.

use super::encoding;
use std::io::Write;
use std::iter;
use std::sync::Arc;

/// What expressions compute with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
}

/// What a variable holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing was ever assigned: an error in an expression, NULL as a parameter.
    Unset,
    Scalar(Scalar),
    /// Given from outside as text, held as scripts are (`encoding`); an expression guesses its type, a parameter takes it
    /// as it is.
    Text(Arc<str>),
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        Value::Scalar(scalar)
    }
}

impl Value {
    /// What came from outside; it need not be UTF-8.
    pub fn text(bytes: &[u8]) -> Self {
        Value::Text(encoding::text(bytes).into())
    }

    /// The value as pgbench passes it on; `false`: there is none.
    pub fn write_text(&self, out: &mut Vec<u8>) -> bool {
        match self {
            Value::Unset => return false,
            Value::Text(text) => out.extend_from_slice(&encoding::bytes(text)),
            Value::Scalar(Scalar::Null) => out.extend_from_slice(b"NULL"),
            Value::Scalar(Scalar::Boolean(true)) => out.extend_from_slice(b"true"),
            Value::Scalar(Scalar::Boolean(false)) => out.extend_from_slice(b"false"),
            Value::Scalar(Scalar::Integer(value)) => {
                out.extend_from_slice(itoa::Buffer::new().format(*value).as_bytes());
            }
            Value::Scalar(Scalar::Double(value)) => write_double(*value, out),
        }
        true
    }
}

/// What text stands for in an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guess {
    Scalar(Scalar),
    Nothing,
    /// An integer beyond 64 bits.
    Beyond,
    /// A sign or blanks without a digit.
    Sign,
}

impl Scalar {
    /// What pgbench calls the type in its messages.
    fn type_name(self) -> &'static str {
        match self {
            Scalar::Null => "null",
            Scalar::Boolean(_) => "boolean",
            Scalar::Integer(_) => "int",
            Scalar::Double(_) => "double",
        }
    }

    #[inline]
    pub fn integer(self) -> Result<i64, String> {
        match self {
            Scalar::Integer(value) => Ok(value),
            Scalar::Double(value) => {
                // The bounds are exact as doubles; i64::MAX itself is not one.
                let rounded = value.round_ties_even();
                if (i64::MIN as f64..-(i64::MIN as f64)).contains(&rounded) {
                    Ok(rounded as i64)
                } else {
                    Err(format!("double to int overflow for {}", fixed(rounded, 6)))
                }
            }
            other => Err(format!("cannot coerce {} to int", other.type_name())),
        }
    }

    pub fn double(self) -> Result<f64, String> {
        match self {
            Scalar::Double(value) => Ok(value),
            Scalar::Integer(value) => Ok(value as f64),
            other => Err(format!("cannot coerce {} to double", other.type_name())),
        }
    }

    pub fn boolean(self) -> Result<bool, String> {
        match self {
            Scalar::Boolean(value) => Ok(value),
            other => Err(format!("cannot coerce {} to boolean", other.type_name())),
        }
    }

    /// What a condition makes of the value: numbers other than zero are true, NULL is not.
    pub fn is_true(self) -> bool {
        match self {
            Scalar::Boolean(value) => value,
            Scalar::Integer(value) => value != 0,
            Scalar::Double(value) => value != 0.0,
            Scalar::Null => false,
        }
    }

    /// The value that text stands for in an expression, by pgbench's rules.
    pub fn guess(text: &str) -> Guess {
        let starts = |word: &str| word.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
        let is = |word: &str| word.eq_ignore_ascii_case(text);
        let without_blanks = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
        let digits = without_blanks.strip_prefix(['+', '-']).unwrap_or(without_blanks);
        // Prefixes down to one letter, but "o" could be either of "on" and "off".
        if text.is_empty() {
            Guess::Nothing
        } else if is("null") {
            Guess::Scalar(Scalar::Null)
        } else if starts("true") || starts("yes") || is("on") {
            Guess::Scalar(Scalar::Boolean(true))
        } else if starts("false") || starts("no") || is("off") || is("of") {
            Guess::Scalar(Scalar::Boolean(false))
        } else if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            match without_blanks.parse() {
                Ok(value) => Guess::Scalar(Scalar::Integer(value)),
                Err(_) if digits.is_empty() => Guess::Sign,
                Err(_) => Guess::Beyond,
            }
        } else {
            let names_infinity = digits.to_ascii_lowercase().starts_with("inf");
            let value =
                without_blanks.parse().ok().filter(|value: &f64| value.is_finite() || value.is_nan() || names_infinity);
            value.map_or(Guess::Nothing, |value| Guess::Scalar(Scalar::Double(value)))
        }
    }
}

/// A double with so many digits behind the point, as the `%f` of PostgreSQL's own printf writes it.
pub fn fixed(value: f64, digits: usize) -> String {
    match (value.is_nan(), value.is_infinite(), value > 0.0) {
        (true, ..) => "NaN".to_owned(),
        (_, true, true) => "Infinity".to_owned(),
        (_, true, false) => "-Infinity".to_owned(),
        _ => format!("{value:.digits$}"),
    }
}

/// Writes a double as the `%.15g` of PostgreSQL's own printf does, which is how pgbench passes it on.
pub fn write_double(value: f64, out: &mut Vec<u8>) {
    const DIGITS: usize = 15;
    if value.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if value.is_sign_negative() {
        out.push(b'-');
    }
    if value.is_infinite() {
        return out.extend_from_slice(b"Infinity");
    }
    // `d.dddddddddddddde-308`
    let mut text = [0; DIGITS + 6];
    let mut rest = &mut text[..];
    write!(rest, "{:.precision$e}", value.abs(), precision = DIGITS - 1).expect("a double fits");
    let unused = rest.len();
    let exponent = str::from_utf8(&text[DIGITS + 2..text.len() - unused]).ok().and_then(|text| text.parse().ok());
    let exponent: i32 = exponent.expect("`{:e}` writes an integer exponent");

    text.copy_within(2..=DIGITS, 1); // over the point
    let zeros = text[1..DIGITS].iter().rev().take_while(|&&digit| digit == b'0').count();
    let digits = &text[..DIGITS - zeros];
    match usize::try_from(exponent) {
        Ok(exponent) if exponent < DIGITS => {
            let whole = exponent + 1;
            out.extend_from_slice(&digits[..whole.min(digits.len())]);
            out.extend(iter::repeat_n(b'0', whole.saturating_sub(digits.len())));
            if digits.len() > whole {
                out.push(b'.');
                out.extend_from_slice(&digits[whole..]);
            }
        }
        Err(_) if exponent >= -4 => {
            out.extend_from_slice(b"0.");
            out.extend(iter::repeat_n(b'0', (-1 - exponent) as usize));
            out.extend_from_slice(digits);
        }
        _ => {
            out.push(digits[0]);
            if digits.len() > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(out, "e{sign}{:02}", exponent.abs()).expect("memory takes all that is written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_not_utf_8_is_passed_on_as_it_came() {
        let mut out = Vec::new();
        assert!(Value::text(b"gr\xfc\xdfe").write_text(&mut out));
        assert_eq!(out, b"gr\xfc\xdfe");
    }

    #[test]
    fn doubles_look_as_printf_writes_them() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333333333333"),
            (123456789012345.0, "123456789012345"),
            (999999999999999.9, "1e+15"),
            (1e15, "1e+15"),
            (1.5e-5, "1.5e-05"),
            (0.0001, "0.0001"),
            (1e100, "1e+100"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
            (-f64::NAN, "NaN"),
            (-120.0, "-120"),
            (0.00012, "0.00012"),
            (f64::MAX, "1.79769313486232e+308"),
            (-f64::MIN_POSITIVE, "-2.2250738585072e-308"),
        ] {
            let mut out = Vec::new();
            write_double(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn text_is_guessed_as_pgbench_does() {
        for (text, guess) in [
            ("10", Guess::Scalar(Scalar::Integer(10))),
            (" -7", Guess::Scalar(Scalar::Integer(-7))),
            ("+3", Guess::Scalar(Scalar::Integer(3))),
            ("1e3", Guess::Scalar(Scalar::Double(1000.0))),
            ("Y", Guess::Scalar(Scalar::Boolean(true))),
            ("of", Guess::Scalar(Scalar::Boolean(false))),
            ("NULL", Guess::Scalar(Scalar::Null)),
            ("o", Guess::Nothing),
            ("trueXXX", Guess::Nothing),
            ("7 ", Guess::Nothing),
            ("", Guess::Nothing),
            ("ten", Guess::Nothing),
            ("1e999", Guess::Nothing),
            ("-", Guess::Sign),
            ("99999999999999999999", Guess::Beyond),
        ] {
            assert_eq!(Scalar::guess(text), guess, "{text}");
        }
    }

    #[test]
    fn a_double_becomes_an_integer_only_where_it_fits() {
        assert_eq!(Scalar::Double(2.5).integer(), Ok(2));
        assert_eq!(Scalar::Double(i64::MIN as f64).integer(), Ok(i64::MIN));
        assert!(Scalar::Double(-(i64::MIN as f64)).integer().is_err());
        assert!(Scalar::Double(f64::NAN).integer().is_err());
    }
}
