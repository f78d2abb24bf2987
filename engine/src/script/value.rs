//! What a variable of a script holds, and how it looks as a parameter.

use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing was ever assigned: an error in an expression, NULL as a parameter.
    Unset,
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
    /// Given from outside as text; an expression guesses its type, a parameter takes it as it is.
    Text(Arc<str>),
}

impl Value {
    /// What pgbench calls the type in its messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Unset => "none",
            Value::Null => "null",
            Value::Boolean(_) => "boolean",
            Value::Integer(_) => "int",
            Value::Double(_) => "double",
            Value::Text(_) => "text",
        }
    }

    #[inline]
    pub fn integer(&self) -> Result<i64, String> {
        match self {
            Value::Integer(value) => Ok(*value),
            Value::Double(value) => {
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

    pub fn double(&self) -> Result<f64, String> {
        match self {
            Value::Double(value) => Ok(*value),
            Value::Integer(value) => Ok(*value as f64),
            other => Err(format!("cannot coerce {} to double", other.type_name())),
        }
    }

    pub fn boolean(&self) -> Result<bool, String> {
        match self {
            Value::Boolean(value) => Ok(*value),
            other => Err(format!("cannot coerce {} to boolean", other.type_name())),
        }
    }

    /// What a condition makes of the value: numbers other than zero are true, NULL is not.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Boolean(value) => *value,
            Value::Integer(value) => *value != 0,
            Value::Double(value) => *value != 0.0,
            Value::Unset | Value::Null | Value::Text(_) => false,
        }
    }

    /// The value that text stands for in an expression, by pgbench's rules.
    pub fn guess(text: &str) -> Option<Value> {
        let lower = text.to_ascii_lowercase();
        // Prefixes down to one letter, but "o" could be either of "on" and "off".
        let starts = |word: &str| !lower.is_empty() && word.starts_with(&lower);
        let trimmed = lower.trim_ascii();
        if lower == "null" {
            Some(Value::Null)
        } else if starts("true") || starts("yes") || lower == "on" {
            Some(Value::Boolean(true))
        } else if starts("false") || starts("no") || lower == "off" || lower == "of" {
            Some(Value::Boolean(false))
        } else if trimmed.trim_start_matches(['+', '-']).bytes().all(|byte| byte.is_ascii_digit()) {
            trimmed.parse().ok().map(Value::Integer)
        } else {
            trimmed.parse().ok().map(Value::Double)
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
            ("10", Some(Value::Integer(10))),
            (" -7", Some(Value::Integer(-7))),
            ("1e3", Some(Value::Double(1000.0))),
            ("Y", Some(Value::Boolean(true))),
            ("of", Some(Value::Boolean(false))),
            ("o", None),
            ("NULL", Some(Value::Null)),
            ("99999999999999999999", None),
            ("", None),
            ("ten", None),
        ] {
            assert_eq!(Value::guess(text), value, "{text}");
        }
    }

    #[test]
    fn a_double_becomes_an_integer_only_where_it_fits() {
        assert_eq!(Value::Double(2.5).integer(), Ok(2));
        assert_eq!(Value::Double(i64::MIN as f64).integer(), Ok(i64::MIN));
        assert!(Value::Double(-(i64::MIN as f64)).integer().is_err());
        assert!(Value::Double(f64::NAN).integer().is_err());
    }
}
