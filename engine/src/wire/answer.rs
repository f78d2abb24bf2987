//! A server's answer to one statement, read as it arrives: from whatever comes first up to
//! ReadyForQuery. Rows and everything else nobody looks at are skipped by length and never held:
//! see [`super::stream`].
//!
//! Headers and errors are read by `postgres-protocol`, the one letter of ReadyForQuery here: the
//! crate's `Message::parse` wants to own the bytes of every message. It was measured to take 84 ns
//! for the answer to a select of one row and 2.8 us for one of 100 rows, where this takes 18 ns and
//! 0.36 us (AMD EPYC, median of 9 times 3 million and 100 thousand).

use super::backend::{self, HEADER_BYTES, Status};
use super::stream::{Listener, Stream};
use super::{HELD_BYTES_MAX, ServerError, WireError};

/// What becomes of rows.
pub trait Taker {
    /// Whether the next row is to be had whole.
    fn wants_row(&self) -> bool;

    /// How long such a row may be.
    fn row_bytes_max(&self) -> usize {
        HELD_BYTES_MAX
    }

    /// A row, header and body, if it was wanted.
    fn row(&mut self, message: &[u8]) -> Result<(), WireError>;

    /// Whether the end of each statement is to be had whole.
    fn wants_end(&self) -> bool;

    /// A statement of several that were sent together is completed.
    fn completed(&mut self, message: &[u8]);
}

/// Takes nothing: rows are skipped.
#[derive(Debug, Default)]
pub struct Skip;

impl Taker for Skip {
    #[inline]
    fn wants_row(&self) -> bool {
        false
    }

    #[inline]
    fn row(&mut self, _: &[u8]) -> Result<(), WireError> {
        Ok(())
    }

    #[inline]
    fn wants_end(&self) -> bool {
        false
    }

    #[inline]
    fn completed(&mut self, _: &[u8]) {}
}

#[derive(Debug, Default)]
pub struct Answer<T = Skip> {
    stream: Stream,
    heard: Heard,
    pub taker: T,
}

#[derive(Debug, Default)]
struct Heard {
    /// A command was completed, or an error was sent.
    ended: bool,
    /// ReadyForQuery has come.
    ready: Option<Status>,
    error: Option<Box<ServerError>>,
    /// It is the answer to several statements, of which the first error says why the others failed; and ReadyForQuery
    /// may come bare.
    piped: bool,
    /// How many ReadyForQuery come before the one that ends it.
    syncs: u32,
}

impl<T: Taker> Answer<T> {
    /// What is sent from here on is a pipeline, or, with `false`, single statements again.
    pub fn pipe(&mut self, piped: bool) {
        (self.heard.piped, self.heard.syncs) = (piped, 0);
    }

    /// The pipeline goes on behind a Sync.
    pub fn add_sync(&mut self) {
        self.heard.syncs += 1;
    }

    /// Takes what was read from the server. `Ok(None)`: the answer is not at its end yet.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Option<Status>, WireError> {
        self.stream.feed(bytes, &mut Ears { heard: &mut self.heard, taker: &mut self.taker })?;
        let ready = self.heard.ready.take();
        if ready.is_some() {
            (self.heard.ended, self.heard.piped) = (false, false);
        }
        Ok(ready)
    }

    /// The error in the answer just read, or the last words of a server that closed the connection.
    pub fn take_error(&mut self) -> Option<Box<ServerError>> {
        self.heard.error.take()
    }

    #[inline]
    pub fn has_error(&self) -> bool {
        self.heard.error.is_some()
    }
}

struct Ears<'a, T> {
    heard: &'a mut Heard,
    taker: &'a mut T,
}

impl<T: Taker> Listener for Ears<'_, T> {
    #[inline]
    fn wants(&self, tag: u8) -> bool {
        match tag {
            backend::READY_FOR_QUERY_TAG | backend::ERROR_RESPONSE_TAG => true,
            backend::DATA_ROW_TAG => self.taker.wants_row(),
            backend::COMMAND_COMPLETE_TAG => self.taker.wants_end(),
            _ => false,
        }
    }

    fn held_bytes_max(&self, tag: u8) -> usize {
        if tag == backend::DATA_ROW_TAG { self.taker.row_bytes_max() } else { HELD_BYTES_MAX }
    }

    #[inline]
    fn hear(&mut self, tag: u8, message: &[u8]) -> Result<(), WireError> {
        match tag {
            // These may come at any time.
            backend::NOTICE_RESPONSE_TAG | backend::NOTIFICATION_RESPONSE_TAG | backend::PARAMETER_STATUS_TAG => {}
            backend::ERROR_RESPONSE_TAG => {
                self.heard.ended = true;
                let error = Box::new(ServerError::read(message)?);
                match &mut self.heard.error {
                    Some(_) if self.heard.piped => {}
                    said => *said = Some(error),
                }
            }
            tag if self.heard.ready.is_some() => return unexpected(tag, "came after ReadyForQuery"),
            backend::DATA_ROW_TAG => return self.taker.row(message),
            backend::PARSE_COMPLETE_TAG | backend::BIND_COMPLETE_TAG | backend::ROW_DESCRIPTION_TAG => {}
            backend::COMMAND_COMPLETE_TAG | backend::EMPTY_QUERY_RESPONSE_TAG => {
                self.heard.ended = true;
                self.taker.completed(message);
            }
            backend::READY_FOR_QUERY_TAG if self.heard.syncs > 0 => self.heard.syncs -= 1,
            backend::READY_FOR_QUERY_TAG if self.heard.ended || self.heard.piped => {
                self.heard.ready = Some(Status::of(&message[HEADER_BYTES..])?)
            }
            tag @ backend::READY_FOR_QUERY_TAG => return unexpected(tag, "came before the end of the answer"),
            tag @ (backend::COPY_IN_RESPONSE_TAG | backend::COPY_OUT_RESPONSE_TAG) => {
                return unexpected(tag, "came: COPY cannot be part of a script");
            }
            tag => return unexpected(tag, "is no part of an answer to a statement"),
        }
        Ok(())
    }
}

#[cold]
fn unexpected(tag: u8, what: &'static str) -> Result<(), WireError> {
    Err(WireError::Unexpected { name: backend::name_of(tag)?, what })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SELECTED: &[u8] = b"2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x010C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

    fn check(chunks: &[&[u8]], expect: Result<Option<Status>, &str>) {
        let mut answer = Answer::<Skip>::default();
        let mut last = Ok(None);
        for chunk in chunks {
            last = answer.feed(chunk);
        }
        assert_eq!(last.map_err(|error| error.to_string()), expect.map_err(str::to_owned));
    }

    #[test]
    fn an_answer_ends_with_ready_for_query_however_it_is_cut() {
        check(&[SELECTED], Ok(Some(Status::Idle)));
        for cut in 1..SELECTED.len() {
            check(&[&SELECTED[..cut], &SELECTED[cut..]], Ok(Some(Status::Idle)));
            check(&[&SELECTED[..cut]], Ok(None));
        }
    }

    #[test]
    fn notices_may_come_between_answers() {
        let notice: &[u8] = b"N\0\0\0\x09SLOG\0";
        let whole = [notice, SELECTED, notice, &notice[..3]].concat();
        check(&[&whole], Ok(Some(Status::Idle)));
        check(&[&whole, &notice[3..], SELECTED], Ok(Some(Status::Idle)));
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        check(&[b"Z\0\0\0\x05I"], Err("message ReadyForQuery came before the end of the answer"));
        check(
            &[SELECTED, b"R\0\0\0\x08\0\0\0\0"],
            Err("message Authentication is no part of an answer to a statement"),
        );
        check(&[&[SELECTED, SELECTED].concat()], Err("message BindComplete came after ReadyForQuery"));
        check(&[b"\x01garbage"], Err("message of unknown type 0x01"));
        check(
            &[b"E\x7f\xff\xff\xff"],
            Err("message ErrorResponse of 2147483647 bytes is longer than the 1048576 we hold"),
        );
        check(&[b"G\0\0\0\x04"], Err("message CopyInResponse came: COPY cannot be part of a script"));
    }

    #[test]
    fn a_pipeline_ends_with_the_last_of_its_syncs() {
        let error: &[u8] = b"E\0\0\0\x13C40001\0Magain\0\0";
        let later: &[u8] = b"E\0\0\0\x13C25P02\0Mfails\0\0";
        let ready: &[u8] = b"Z\0\0\0\x05E";
        let whole = [SELECTED, error, ready, ready, later, ready].concat();
        for cut in 0..whole.len() {
            let mut answer = Answer::<Skip>::default();
            answer.pipe(true);
            (0..3).for_each(|_| answer.add_sync());
            assert_eq!(answer.feed(&whole[..cut]), Ok(None));
            assert_eq!(answer.feed(&whole[cut..]), Ok(Some(Status::InFailedTransaction)));
            assert_eq!(answer.take_error().unwrap().sqlstate, "40001");
            assert_eq!(answer.feed(SELECTED), Ok(Some(Status::Idle)), "single statements again");
        }
    }

    #[test]
    fn an_error_is_kept_for_whoever_asks() {
        let mut answer = Answer::<Skip>::default();
        let bytes = b"E\0\0\0\x13C40001\0Magain\0\0Z\0\0\0\x05E";
        assert_eq!(answer.feed(bytes), Ok(Some(Status::InFailedTransaction)));
        assert_eq!(answer.take_error().unwrap().sqlstate, "40001");
        assert!(!answer.has_error());
    }
}
