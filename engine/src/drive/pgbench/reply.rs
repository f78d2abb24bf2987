//! What a server answers to one command, or to a pipeline of them.

use super::voice;
use crate::script::encoding;
use crate::script::program::Store;
use crate::wire::backend::{self, HEADER_BYTES, Message, Status};
use crate::wire::stream::Listener;
use crate::wire::{HELD_BYTES_MAX, KEPT_ROW_BYTES_MAX, ServerError, WireError};
use fallible_iterator::FallibleIterator;

/// The names of a row's columns and their texts, these held as scripts are (`encoding`).
pub type Row = Vec<(String, String)>;

#[derive(Debug)]
pub struct Reply {
    /// How many ReadyForQuery are still to come.
    pub awaited: usize,
    /// As the last of them said.
    pub status: Status,
    pub error: Option<Box<ServerError>>,
    /// The server wants or sends rows of a COPY.
    pub copies: bool,
    /// How many results are complete.
    pub results: usize,
    keep: Keep,
    columns: Vec<String>,
    /// Of the result under way.
    rows: usize,
    row: Vec<String>,
    /// What is to be stored, with the number of the result, and how many rows the last result had.
    pub stored: Vec<(usize, Row)>,
    pub rows_last: usize,
    /// Whether the types of parameters are looked at, and those of every statement that was prepared.
    pub describes: bool,
    pub described: Vec<Vec<u32>>,
    /// A description came since the last ReadyForQuery.
    is_described: bool,
    /// Who is told of the server's notices.
    notice: fn(&ServerError),
}

/// Which rows are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    None,
    Last,
    All,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            awaited: 0,
            status: Status::Idle,
            error: None,
            copies: false,
            results: 0,
            keep: Keep::None,
            columns: Vec::new(),
            rows: 0,
            row: Vec::new(),
            stored: Vec::new(),
            rows_last: 0,
            describes: false,
            described: Vec::new(),
            is_described: false,
            notice: voice::notice,
        }
    }
}

impl Reply {
    /// Tells nobody of notices.
    pub fn silent() -> Self {
        Self { notice: |_| {}, ..Self::default() }
    }

    /// Before something is sent that is answered by so many ReadyForQuery.
    #[inline]
    pub fn expect(&mut self, readies: usize, store: Option<&Store>) {
        self.awaited += readies;
        self.results = 0;
        self.rows = 0;
        self.rows_last = 0;
        self.keep = match store {
            None => Keep::None,
            Some(Store { all: true, .. }) => Keep::All,
            Some(Store { all: false, .. }) => Keep::Last,
        };
        if self.keep != Keep::None {
            self.stored.clear();
            self.columns.clear();
        }
    }

    #[inline]
    pub fn is_complete(&self) -> bool {
        self.awaited == 0 || self.copies
    }

    fn end_result(&mut self) {
        self.results += 1;
        self.rows_last = self.rows;
        self.rows = 0;
        if self.keep == Keep::Last {
            self.stored.clear();
        }
        if self.keep != Keep::None && self.rows_last > 0 {
            let row = self.columns.iter().cloned().zip(self.row.drain(..)).collect();
            self.stored.push((self.results - 1, row));
        }
    }

    fn read(&mut self, message: &[u8]) -> Result<(), WireError> {
        match backend::whole(message)? {
            Some(Message::RowDescription(body)) => {
                let names = body.fields().map(|field| Ok(field.name().to_owned())).collect();
                self.columns = names.map_err(|error| backend::malformed(backend::ROW_DESCRIPTION_TAG, error))?;
            }
            Some(Message::ParameterDescription(body)) => {
                let types = body.parameters().collect();
                let tag = backend::PARAMETER_DESCRIPTION_TAG;
                self.described.push(types.map_err(|error| backend::malformed(tag, error))?);
                self.is_described = true;
            }
            Some(Message::DataRow(body)) => {
                let buffer = body.buffer();
                // PQgetvalue gives an empty text for NULL.
                let text = |range: Option<std::ops::Range<usize>>| {
                    Ok(range.map_or_else(String::new, |range| encoding::text(&buffer[range])))
                };
                let values = body.ranges().map(text).collect();
                self.row = values.map_err(|error| backend::malformed(backend::DATA_ROW_TAG, error))?;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Listener for Reply {
    #[inline]
    fn wants(&self, tag: u8) -> bool {
        match tag {
            backend::READY_FOR_QUERY_TAG | backend::ERROR_RESPONSE_TAG | backend::NOTICE_RESPONSE_TAG => true,
            backend::ROW_DESCRIPTION_TAG | backend::DATA_ROW_TAG => self.keep != Keep::None,
            backend::PARAMETER_DESCRIPTION_TAG => self.describes,
            _ => false,
        }
    }

    fn held_bytes_max(&self, tag: u8) -> usize {
        if tag == backend::DATA_ROW_TAG { KEPT_ROW_BYTES_MAX } else { HELD_BYTES_MAX }
    }

    #[inline]
    fn hear(&mut self, tag: u8, message: &[u8]) -> Result<(), WireError> {
        match tag {
            backend::BIND_COMPLETE_TAG | backend::PARSE_COMPLETE_TAG | backend::NO_DATA_TAG => {}
            backend::ROW_DESCRIPTION_TAG if self.keep != Keep::None => self.read(message)?,
            backend::ROW_DESCRIPTION_TAG => {}
            backend::DATA_ROW_TAG => {
                self.rows += 1;
                if self.keep != Keep::None {
                    self.read(message)?;
                }
            }
            backend::COMMAND_COMPLETE_TAG | backend::EMPTY_QUERY_RESPONSE_TAG => self.end_result(),
            backend::PARAMETER_DESCRIPTION_TAG if self.describes => self.read(message)?,
            backend::READY_FOR_QUERY_TAG => {
                // One that was refused has no description, and its place all the same.
                if self.describes && !std::mem::take(&mut self.is_described) {
                    self.described.push(Vec::new());
                }
                self.status = Status::of(&message[HEADER_BYTES..])?;
                let Some(awaited) = self.awaited.checked_sub(1) else {
                    return Err(WireError::Unexpected { name: "ReadyForQuery", what: "came and nothing was asked" });
                };
                self.awaited = awaited;
            }
            // The first one says why; what follows it in a pipeline was not executed.
            backend::ERROR_RESPONSE_TAG if self.error.is_none() => {
                self.error = Some(Box::new(ServerError::read(message)?));
            }
            backend::ERROR_RESPONSE_TAG => {}
            backend::NOTICE_RESPONSE_TAG => (self.notice)(&ServerError::read(message)?),
            backend::COPY_IN_RESPONSE_TAG | backend::COPY_OUT_RESPONSE_TAG | backend::COPY_BOTH_RESPONSE_TAG => {
                self.copies = true;
            }
            backend::NOTIFICATION_RESPONSE_TAG
            | backend::PARAMETER_STATUS_TAG
            | backend::COPY_DATA_TAG
            | backend::COPY_DONE_TAG
            | backend::CLOSE_COMPLETE_TAG
            | backend::PORTAL_SUSPENDED_TAG => {}
            tag => {
                let name = backend::name_of(tag)?;
                return Err(WireError::Unexpected { name, what: "is no part of an answer to a command" });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::stream::Stream;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        [&[tag][..], &(body.len() as i32 + 4).to_be_bytes(), body].concat()
    }

    fn result(name: &str, values: &[&str]) -> Vec<u8> {
        let described = [&[0, 1][..], name.as_bytes(), &[0; 19]].concat();
        let mut bytes = message(b'T', &described);
        for value in values {
            bytes.extend(message(b'D', &[&[0, 1, 0, 0, 0, value.len() as u8][..], value.as_bytes()].concat()));
        }
        bytes.extend(message(b'C', b"SELECT 1\0"));
        bytes
    }

    #[test]
    fn rows_are_kept_as_they_are_to_be_stored() {
        let bytes = [result("a", &["1", "2"]), result("b", &[]), result("c", &["3"]), message(b'Z', b"I")].concat();
        for (all, expect) in [(true, vec![("a", "2"), ("c", "3")]), (false, vec![("c", "3")])] {
            for cut in 0..bytes.len() {
                let (mut stream, mut reply) = (Stream::default(), Reply::default());
                reply.expect(1, Some(&Store { all, prefix: String::new() }));
                stream.feed(&bytes[..cut], &mut reply).unwrap();
                assert!(!reply.is_complete());
                stream.feed(&bytes[cut..], &mut reply).unwrap();
                assert!(reply.is_complete());
                let columns = reply.stored.iter().flat_map(|(_, row)| row);
                let found: Vec<(&str, &str)> = columns.map(|(name, value)| (name.as_str(), value.as_str())).collect();
                assert_eq!((found, reply.results, reply.rows_last), (expect.clone(), 3, 1));
            }
        }
    }

    #[test]
    fn an_answer_that_nobody_asked_for_is_refused() {
        let mut reply = Reply::default();
        let heard = Stream::default().feed(&message(b'Z', b"I"), &mut reply);
        assert_eq!(heard.unwrap_err().to_string(), "message ReadyForQuery came and nothing was asked");
    }
}
