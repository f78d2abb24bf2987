//! Rows of answers, for whoever has asked to read them: kept as they came, in one buffer that is used
//! again for the next answer.

use super::WireError;
use super::answer::Taker;
use super::backend::{self, HEADER_BYTES};

/// A server may not make us hold more for one answer.
pub const ROWS_BYTES_MAX: usize = 16 << 20;

/// The answer to one or several statements that were sent together. Statements, rows and columns
/// count from 0; all values are text.
#[derive(Debug, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    /// Where in `bytes` each row begins.
    starts: Vec<usize>,
    /// By statement: the number of the row behind its last one, and how many rows it says it affected.
    completed: Vec<(usize, u64)>,
    /// By statement that was sent: whether its rows are kept.
    wanted: Vec<bool>,
}

impl Rows {
    /// Forgets the last answer. `wanted`: of each statement now sent, whether its rows are kept.
    #[inline]
    pub fn expect(&mut self, wanted: impl Iterator<Item = bool>) {
        self.bytes.clear();
        self.starts.clear();
        self.completed.clear();
        self.wanted.clear();
        self.wanted.extend(wanted);
    }

    /// How many statements were completed.
    pub fn statements(&self) -> usize {
        self.completed.len()
    }

    /// How many rows of a statement were kept.
    pub fn count(&self, statement: usize) -> usize {
        self.completed[statement].0 - self.first(statement)
    }

    /// How many rows a statement returned or changed, as the server says.
    pub fn affected(&self, statement: usize) -> u64 {
        self.completed[statement].1
    }

    /// `None`: NULL, or no such column.
    pub fn text(&self, statement: usize, row: usize, column: usize) -> Option<&[u8]> {
        assert!(row < self.count(statement), "a row that is there");
        let mut rest = &self.bytes[self.starts[self.first(statement) + row]..];
        let columns = u16::from_be_bytes([rest[0], rest[1]]);
        rest = &rest[2..];
        for number in 0..usize::from(columns) {
            let length = i32::from_be_bytes(rest[..4].try_into().expect("four bytes"));
            let length = usize::try_from(length).ok();
            let value = length.map(|length| &rest[4..4 + length]);
            if number == column {
                return value;
            }
            rest = &rest[4 + length.unwrap_or(0)..];
        }
        None
    }

    /// A whole number, or what else was there.
    pub fn integer(&self, statement: usize, row: usize, column: usize) -> Result<i64, String> {
        let text = self.text(statement, row, column).and_then(|text| std::str::from_utf8(text).ok());
        let number = text.and_then(|text| text.parse().ok());
        number.ok_or_else(|| format!("column {column} of row {row} is no whole number: {}", text.unwrap_or("NULL")))
    }

    fn first(&self, statement: usize) -> usize {
        if statement == 0 { 0 } else { self.completed[statement - 1].0 }
    }
}

impl Taker for Rows {
    #[inline]
    fn wants_row(&self) -> bool {
        self.wanted.get(self.completed.len()).copied().unwrap_or(false)
    }

    fn row(&mut self, message: &[u8]) -> Result<(), WireError> {
        if !self.wants_row() {
            return Ok(());
        }
        if self.bytes.len() + message.len() > ROWS_BYTES_MAX {
            return Err(WireError::Unexpected { name: "DataRow", what: "came with more bytes of rows than we hold" });
        }
        let body = &message[HEADER_BYTES..];
        check(body).ok_or_else(|| backend::malformed(backend::DATA_ROW_TAG, "its columns do not fill it"))?;
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(body);
        Ok(())
    }

    fn wants_end(&self) -> bool {
        true
    }

    /// `message` ends with a tag such as `INSERT 0 3`, and a zero byte.
    #[inline]
    fn completed(&mut self, message: &[u8]) {
        let tag = message.get(HEADER_BYTES..message.len().saturating_sub(1)).unwrap_or_default();
        let digits = tag.iter().rev().take_while(|byte| byte.is_ascii_digit()).count().min(18);
        let affected = tag[tag.len() - digits..].iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
        self.completed.push((self.starts.len(), affected));
    }
}

/// Whether the columns of a row are as long as the row.
pub(super) fn check(body: &[u8]) -> Option<()> {
    let columns = u16::from_be_bytes(body.get(..2)?.try_into().ok()?);
    let mut rest = &body[2..];
    for _ in 0..columns {
        let length = i32::from_be_bytes(rest.get(..4)?.try_into().ok()?);
        let length = if length == -1 { 0 } else { usize::try_from(length).ok()? };
        rest = rest.get(4 + length..)?;
    }
    rest.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use super::super::answer::Answer;
    use super::*;

    const ANSWER: &[u8] = b"2\0\0\0\x04D\0\0\0\x10\0\x02\0\0\0\x0242\xff\xff\xff\xffC\0\0\0\x0dSELECT 1\0\
        2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x01xC\0\0\0\x0dSELECT 1\0\
        2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x01yD\0\0\0\x0b\0\x01\0\0\0\x01zC\0\0\0\x0dSELECT 2\0\
        2\0\0\0\x04C\0\0\0\x0eUPDATE 12\0Z\0\0\0\x05T";

    fn fed(cut: usize) -> Answer<Rows> {
        let mut answer = Answer::<Rows>::default();
        answer.taker.expect([true, false, true, false].into_iter());
        assert_eq!(answer.feed(&ANSWER[..cut]), Ok(None));
        assert!(answer.feed(&ANSWER[cut..]).unwrap().is_some());
        answer
    }

    #[test]
    fn rows_that_were_asked_for_are_kept_however_they_are_cut() {
        for cut in 0..ANSWER.len() {
            let rows = &fed(cut).taker;
            assert_eq!((0..4).map(|statement| rows.count(statement)).collect::<Vec<_>>(), [1, 0, 2, 0]);
            assert_eq!((rows.integer(0, 0, 0), rows.text(0, 0, 1)), (Ok(42), None));
            assert_eq!((rows.text(2, 0, 0), rows.text(2, 1, 0)), (Some(&b"y"[..]), Some(&b"z"[..])));
            assert_eq!((rows.affected(0), rows.affected(3)), (1, 12));
        }
    }

    #[test]
    fn what_is_no_number_is_shown() {
        let answer = fed(3);
        assert_eq!(answer.taker.integer(2, 1, 0).unwrap_err(), "column 0 of row 1 is no whole number: z");
        assert_eq!(answer.taker.integer(0, 0, 1).unwrap_err(), "column 1 of row 0 is no whole number: NULL");
    }

    #[test]
    fn a_row_that_lies_about_its_columns_is_refused() {
        for row in [&b"D\0\0\0\x04"[..], b"D\0\0\0\x0b\0\x01\0\0\0\x02x", b"D\0\0\0\x0b\0\x01\xff\xff\xff\xfex"] {
            let mut answer = Answer::<Rows>::default();
            answer.taker.expect([true].into_iter());
            assert!(answer.feed(row).unwrap_err().to_string().starts_with("message DataRow is malformed"), "{row:?}");
        }
    }

    #[test]
    fn more_than_we_hold_is_refused() {
        let mut answer = Answer::<Rows>::default();
        answer.taker.expect([true].into_iter());
        let value = vec![b'x'; 1 << 19];
        let length = value.len() as u32;
        let row = [&b"D"[..], &(length + 10).to_be_bytes(), b"\0\x01", &length.to_be_bytes(), &value].concat();
        let error = (0..100).find_map(|_| answer.feed(&row).err()).unwrap();
        assert_eq!(error.to_string(), "message DataRow came with more bytes of rows than we hold");
    }
}
