//! The last row of an answer, for `\gset` and `\aset`, in one buffer that is used again for the next answer.

use super::answer::Taker;
use super::backend::{self, HEADER_BYTES};
use super::{KEPT_ROW_BYTES_MAX, WireError, rows};

#[derive(Debug, Default)]
pub struct LastRow {
    wanted: bool,
    /// The body of its message.
    body: Vec<u8>,
    /// How many rows came.
    pub count: u64,
}

impl LastRow {
    /// Forgets the last answer. `wanted`: whether rows of the next one are kept.
    #[inline]
    pub fn expect(&mut self, wanted: bool) {
        (self.wanted, self.count) = (wanted, 0);
    }

    /// Its columns as text, `None` for NULL; none if there was no row.
    pub fn columns(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut rest = if self.count == 0 { &[][..] } else { &self.body[2..] };
        std::iter::from_fn(move || {
            let (length, behind) = rest.split_first_chunk::<4>()?;
            let value = usize::try_from(i32::from_be_bytes(*length)).ok().map(|length| &behind[..length]);
            rest = &behind[value.map_or(0, <[u8]>::len)..];
            Some(value)
        })
    }
}

impl Taker for LastRow {
    #[inline]
    fn wants_row(&self) -> bool {
        self.wanted
    }

    fn row_bytes_max(&self) -> usize {
        KEPT_ROW_BYTES_MAX
    }

    #[inline]
    fn row(&mut self, message: &[u8]) -> Result<(), WireError> {
        if !self.wanted {
            return Ok(());
        }
        let body = &message[HEADER_BYTES..];
        rows::check(body).ok_or_else(|| backend::malformed(backend::DATA_ROW_TAG, "its columns do not fill it"))?;
        self.body.clear();
        self.body.extend_from_slice(body);
        self.count += 1;
        Ok(())
    }

    #[inline]
    fn wants_end(&self) -> bool {
        false
    }

    #[inline]
    fn completed(&mut self, _: &[u8]) {}
}

#[cfg(test)]
mod tests {
    use super::super::HELD_BYTES_MAX;
    use super::super::answer::Answer;
    use super::*;

    const ANSWER: &[u8] = b"2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x01xD\0\0\0\x10\0\x02\0\0\0\x0242\xff\xff\xff\xff\
        C\0\0\0\x0dSELECT 2\0Z\0\0\0\x05I";

    #[test]
    fn the_last_row_is_kept_however_the_answer_is_cut() {
        for cut in 0..ANSWER.len() {
            let mut answer = Answer::<LastRow>::default();
            answer.taker.expect(true);
            assert_eq!(answer.feed(&ANSWER[..cut]), Ok(None));
            assert!(answer.feed(&ANSWER[cut..]).unwrap().is_some());
            assert_eq!(answer.taker.count, 2);
            assert_eq!(answer.taker.columns().collect::<Vec<_>>(), [Some(&b"42"[..]), None]);
            answer.taker.expect(false);
            answer.feed(ANSWER).unwrap();
            assert_eq!((answer.taker.count, answer.taker.columns().count()), (0, 0));
        }
    }

    #[test]
    fn a_row_may_be_longer_than_anything_else_that_is_held() {
        let value = vec![b'x'; 3 * HELD_BYTES_MAX];
        let length = value.len() as u32;
        let row = [&b"D"[..], &(length + 10).to_be_bytes(), b"\0\x01", &length.to_be_bytes(), &value].concat();
        let mut answer = Answer::<LastRow>::default();
        answer.taker.expect(true);
        row.chunks(60_000).for_each(|chunk| assert_eq!(answer.feed(chunk), Ok(None)));
        assert_eq!(answer.taker.columns().collect::<Vec<_>>(), [Some(&value[..])]);
    }

    #[test]
    fn a_row_that_lies_about_its_columns_is_refused() {
        let mut answer = Answer::<LastRow>::default();
        answer.taker.expect(true);
        let error = answer.feed(b"D\0\0\0\x0b\0\x01\0\0\0\x02x").unwrap_err();
        assert_eq!(error.to_string(), "message DataRow is malformed: its columns do not fill it");
    }
}
