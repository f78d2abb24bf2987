//! What a variable of a script holds, and how it looks as a parameter.

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
    /// Given from outside as text; an expression guesses its type, a parameter takes it as it is.
    Text(Arc<str>),
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        Value::Scalar(scalar)
    }
}

impl Value {
    /// The value in an expression.
    #[inline]
    pub fn scalar(&self) -> Result<Scalar, String> {
        match self {
            Value::Scalar(scalar) => Ok(*scalar),
            Value::Unset => Err("undefined variable".to_owned()),
            Value::Text(text) => Scalar::guess(text).ok_or_else(|| format!("malformed variable value: \"{text}\"")),
        }
    }
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
                    Err(format!("double to int overflow for {value}"))
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
    pub fn guess(text: &str) -> Option<Scalar> {
        let lower = text.to_ascii_lowercase();
        // Prefixes down to one letter, but "o" could be either of "on" and "off".
        let starts = |word: &str| !lower.is_empty() && word.starts_with(&lower);
        let trimmed = lower.trim_ascii();
        if lower == "null" {
            Some(Scalar::Null)
        } else if starts("true") || starts("yes") || lower == "on" {
            Some(Scalar::Boolean(true))
        } else if starts("false") || starts("no") || lower == "off" || lower == "of" {
            Some(Scalar::Boolean(false))
        } else if trimmed.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit()) {
            trimmed.parse().ok().map(Scalar::Integer)
        } else {
            trimmed.parse().ok().map(Scalar::Double)
        }
    }
}

/// A double as C's `%.15g` writes it, which is how pgbench passes it on.
pub fn double_text(value: f64) -> String {
    const DIGITS: i32 = 15;
    if !value.is_finite() {
        let name = if value.is_nan() { "nan" } else { "inf" };
        return if value.is_sign_negative() { format!("-{name}") } else { name.to_owned() };
    }
    let scientific = format!("{value:.precision$e}", precision = DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("`{:e}` writes an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes an integer exponent");
    if (-4..DIGITS).contains(&exponent) {
        let fixed = format!("{value:.precision$}", precision = (DIGITS - 1 - exponent) as usize);
        return without_trailing_zeros(&fixed).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_trailing_zeros(mantissa), exponent.abs())
}

fn without_trailing_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(double_text(value), text);
        }
    }

    #[test]
    fn text_is_guessed_as_pgbench_does() {
        for (text, value) in [
            ("10", Some(Scalar::Integer(10))),
            (" -7", Some(Scalar::Integer(-7))),
            ("1e3", Some(Scalar::Double(1000.0))),
            ("Y", Some(Scalar::Boolean(true))),
            ("of", Some(Scalar::Boolean(false))),
            ("o", None),
            ("NULL", Some(Scalar::Null)),
            ("99999999999999999999", None),
            ("", None),
            ("ten", None),
        ] {
            assert_eq!(Scalar::guess(text), value, "{text}");
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
