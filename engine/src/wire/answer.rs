//! A server's answer to one statement, read as it arrives: from whatever comes first up to
//! ReadyForQuery. Rows and everything else nobody looks at are skipped by length and never held,
//! so an idle connection owns no buffer and a large result costs no memory.

use super::backend::{self, HEADER_BYTES, Header, Status};
use super::{ServerError, WireError};
use std::mem;

#[derive(Debug, Default)]
pub struct Answer {
    /// The begun message, when it is one that we look at or its header is incomplete.
    carry: Vec<u8>,
    /// How much of a message that nobody looks at is still to come.
    skip: usize,
    /// A command was completed, or an error was sent.
    ended: bool,
    /// ReadyForQuery has come.
    ready: Option<Status>,
    error: Option<Box<ServerError>>,
}

impl Answer {
    /// Takes what was read from the server. `Ok(None)`: the answer is not at its end yet.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Option<Status>, WireError> {
        if self.carry.is_empty() {
            self.scan(bytes)?;
        } else {
            let mut whole = mem::take(&mut self.carry);
            whole.extend_from_slice(bytes);
            self.scan(&whole)?;
        }
        let ready = self.ready.take();
        if ready.is_some() {
            self.ended = false;
        }
        Ok(ready)
    }

    /// The error in the answer just read, or the last words of a server that closed the connection.
    pub fn take_error(&mut self) -> Option<Box<ServerError>> {
        self.error.take()
    }

    #[inline]
    pub fn has_error(&self) -> bool {
        self.error.is_some()
    }

    #[inline]
    fn scan(&mut self, mut bytes: &[u8]) -> Result<(), WireError> {
        if self.skip > 0 {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = &bytes[skipped..];
        }
        while !bytes.is_empty() {
            let Some(header) = backend::header(bytes)? else {
                self.carry.extend_from_slice(bytes);
                return Ok(());
            };
            let end = HEADER_BYTES + header.body_bytes;
            if bytes.len() >= end {
                self.take(header, &bytes[HEADER_BYTES..end])?;
                bytes = &bytes[end..];
            } else if matches!(header.tag, backend::READY_FOR_QUERY | backend::ERROR_RESPONSE) {
                header.hold()?;
                self.carry.extend_from_slice(bytes);
                return Ok(());
            } else {
                self.take(header, &[])?;
                self.skip = end - bytes.len();
                return Ok(());
            }
        }
        Ok(())
    }

    /// One message. `body` is whole for those messages whose body is looked at, and only for them.
    #[inline]
    fn take(&mut self, header: Header, body: &[u8]) -> Result<(), WireError> {
        let unexpected = |what| Err(WireError::Unexpected { name: header.name, what });
        match header.tag {
            // These may come at any time.
            backend::NOTICE_RESPONSE | backend::NOTIFICATION_RESPONSE | backend::PARAMETER_STATUS => {}
            backend::ERROR_RESPONSE => {
                self.ended = true;
                self.error = Some(Box::new(backend::error(body)?));
            }
            _ if self.ready.is_some() => return unexpected("came after ReadyForQuery"),
            backend::BIND_COMPLETE | backend::DATA_ROW | backend::ROW_DESCRIPTION => {}
            backend::COMMAND_COMPLETE | backend::EMPTY_QUERY_RESPONSE => self.ended = true,
            backend::READY_FOR_QUERY if self.ended => self.ready = Some(backend::status(body)?),
            backend::READY_FOR_QUERY => return unexpected("came before the end of the answer"),
            backend::COPY_IN_RESPONSE | backend::COPY_OUT_RESPONSE | backend::COPY_BOTH_RESPONSE => {
                return unexpected("came: COPY cannot be part of a script");
            }
            _ => return unexpected("is no part of an answer to a statement"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SELECTED: &[u8] = b"2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x010C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";

    fn check(chunks: &[&[u8]], expect: Result<Option<Status>, &str>) {
        let mut answer = Answer::default();
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
        check(&[b"G\0\0\0\x04"], Err("message CopyInResponse came: COPY cannot be part of a script"));
    }

    #[test]
    fn an_error_is_kept_for_whoever_asks() {
        let mut answer = Answer::default();
        let bytes = b"E\0\0\0\x13C40001\0Magain\0\0Z\0\0\0\x05E";
        assert_eq!(answer.feed(bytes), Ok(Some(Status::InFailedTransaction)));
        assert_eq!(answer.take_error().unwrap().sqlstate, "40001");
        assert!(!answer.has_error());
    }
}
