//! Parameters of Bind in PostgreSQL's binary form, for the types of numbers.

/// How a parameter is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Any type that is none of the others.
    Text,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
}

impl Form {
    /// Of a type, by its number in the catalog, which is the same in all releases.
    pub fn of(oid: u32) -> Self {
        match oid {
            21 => Form::Int2,
            23 => Form::Int4,
            20 => Form::Int8,
            700 => Form::Float4,
            701 => Form::Float8,
            _ => Form::Text,
        }
    }

    /// As Bind gives it.
    pub fn code(self) -> i16 {
        i16::from(self != Form::Text)
    }

    /// Appends a whole number; `false`: the type does not hold it.
    #[inline]
    pub fn write_integer(self, value: i64, out: &mut Vec<u8>) -> bool {
        match self {
            Form::Int2 => i16::try_from(value).map(|value| bytes(&value.to_be_bytes(), out)).is_ok(),
            Form::Int4 => i32::try_from(value).map(|value| bytes(&value.to_be_bytes(), out)).is_ok(),
            Form::Int8 => {
                bytes(&value.to_be_bytes(), out);
                true
            }
            _ => self.write_double(value as f64, out),
        }
    }

    /// Appends a number with a fraction; `false`: the type does not hold it.
    #[inline]
    pub fn write_double(self, value: f64, out: &mut Vec<u8>) -> bool {
        match self {
            Form::Float8 => bytes(&value.to_be_bytes(), out),
            Form::Float4 if (value as f32).is_finite() || !value.is_finite() => {
                bytes(&(value as f32).to_be_bytes(), out);
            }
            _ => return false,
        }
        true
    }

    /// What the server calls the type.
    pub fn name(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::Int2 => "smallint",
            Form::Int4 => "integer",
            Form::Int8 => "bigint",
            Form::Float4 => "real",
            Form::Float8 => "double precision",
        }
    }
}

#[inline]
fn bytes(value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(value.len() as i32).to_be_bytes());
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sent_as_their_types_are_stored() {
        let written = |form: Form, value: i64| {
            let mut out = Vec::new();
            form.write_integer(value, &mut out).then_some(out)
        };
        assert_eq!(written(Form::Int2, -2).unwrap(), b"\0\0\0\x02\xff\xfe");
        assert_eq!(written(Form::Int4, 258).unwrap(), b"\0\0\0\x04\0\0\x01\x02");
        assert_eq!(written(Form::Int8, 1).unwrap(), b"\0\0\0\x08\0\0\0\0\0\0\0\x01");
        assert_eq!(written(Form::Float8, 1).unwrap(), b"\0\0\0\x08\x3f\xf0\0\0\0\0\0\0");
        assert_eq!(written(Form::Float4, 1).unwrap(), b"\0\0\0\x04\x3f\x80\0\0");
        assert_eq!(written(Form::Int2, 40_000), None);
        assert_eq!(written(Form::Int4, 3_000_000_000), None);
    }

    #[test]
    fn what_a_type_does_not_hold_is_not_written() {
        let mut out = Vec::new();
        assert!(!Form::Int8.write_double(1.5, &mut out));
        assert!(!Form::Float4.write_double(1e300, &mut out));
        assert!(!Form::Text.write_integer(1, &mut out));
        assert!(out.is_empty());
        assert!(Form::Float4.write_double(f64::INFINITY, &mut out));
    }
}
