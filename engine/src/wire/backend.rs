//! Messages from the server, decoded by `postgres-protocol`.
//!
//! What the crate leaves to its callers is done here. A message is refused before any of it is
//! waited for if its type is unknown or its length more than we hold: the crate would reserve the
//! length that a server claims, up to 4 GiB. And every error names the message that is wrong.

use super::{HELD_BYTES_MAX, ServerError, WireError};
use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
pub use postgres_protocol::message::backend::*;

/// The name of a message in the PostgreSQL documentation.
pub fn name_of(tag: u8) -> Result<&'static str, WireError> {
    Ok(match tag {
        AUTHENTICATION_TAG => "Authentication",
        BACKEND_KEY_DATA_TAG => "BackendKeyData",
        BIND_COMPLETE_TAG => "BindComplete",
        CLOSE_COMPLETE_TAG => "CloseComplete",
        COMMAND_COMPLETE_TAG => "CommandComplete",
        COPY_DATA_TAG => "CopyData",
        COPY_DONE_TAG => "CopyDone",
        COPY_IN_RESPONSE_TAG => "CopyInResponse",
        COPY_OUT_RESPONSE_TAG => "CopyOutResponse",
        COPY_BOTH_RESPONSE_TAG => "CopyBothResponse",
        DATA_ROW_TAG => "DataRow",
        EMPTY_QUERY_RESPONSE_TAG => "EmptyQueryResponse",
        ERROR_RESPONSE_TAG => "ErrorResponse",
        NO_DATA_TAG => "NoData",
        NOTICE_RESPONSE_TAG => "NoticeResponse",
        NOTIFICATION_RESPONSE_TAG => "NotificationResponse",
        PARAMETER_DESCRIPTION_TAG => "ParameterDescription",
        PARAMETER_STATUS_TAG => "ParameterStatus",
        PARSE_COMPLETE_TAG => "ParseComplete",
        PORTAL_SUSPENDED_TAG => "PortalSuspended",
        READY_FOR_QUERY_TAG => "ReadyForQuery",
        ROW_DESCRIPTION_TAG => "RowDescription",
        tag => return Err(WireError::Unknown { tag }),
    })
}

/// The answer to a COPY that goes both ways, which `postgres-protocol` does not name.
pub const COPY_BOTH_RESPONSE_TAG: u8 = b'W';

/// Type and length, the five bytes every message begins with.
pub const HEADER_BYTES: usize = 5;

/// The header at the start of `bytes`, or `None` while it is incomplete. Its type may be unknown.
#[inline]
pub fn header(bytes: &[u8]) -> Result<Option<Header>, WireError> {
    Header::parse(bytes).map_err(|error| malformed(bytes[0], error))
}

/// How long the whole message is.
#[inline]
pub fn message_bytes(header: Header) -> usize {
    // The length does not count the type.
    1 + header.len() as usize
}

/// Refuses a message that we would have to hold and that is too long for it.
pub fn refuse_too_long(header: Header, most: usize) -> Result<(), WireError> {
    let name = name_of(header.tag())?;
    match message_bytes(header) > HEADER_BYTES + most {
        true => Err(WireError::TooLong { name, length: header.len(), most }),
        false => Ok(()),
    }
}

/// Takes the first message out of `inbox`; `None`: more bytes are needed.
pub fn next(inbox: &mut BytesMut) -> Result<Option<Message>, WireError> {
    let Some(header) = header(inbox)? else { return Ok(None) };
    refuse_too_long(header, HELD_BYTES_MAX)?;
    parse(inbox, header)
}

/// A message that is there as a whole, however long it is.
pub fn whole(message: &[u8]) -> Result<Option<Message>, WireError> {
    header(message)?.map_or(Ok(None), |header| parse(&mut BytesMut::from(message), header))
}

fn parse(inbox: &mut BytesMut, header: Header) -> Result<Option<Message>, WireError> {
    let message = Message::parse(inbox).map_err(|error| malformed(header.tag(), error))?;
    if let Some(Message::ReadyForQuery(body)) = &message {
        Status::of(&[body.status()])?;
    }
    Ok(message)
}

/// What is wrong with a message of this type.
#[cold]
pub fn malformed(tag: u8, what: impl ToString) -> WireError {
    match name_of(tag) {
        Ok(name) => WireError::Malformed { name, what: what.to_string() },
        Err(unknown) => unknown,
    }
}

/// Whether a transaction block is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Idle,
    InTransaction,
    InFailedTransaction,
}

impl Status {
    /// From the body of ReadyForQuery.
    #[inline]
    pub fn of(body: &[u8]) -> Result<Self, WireError> {
        match body {
            b"I" => Ok(Status::Idle),
            b"T" => Ok(Status::InTransaction),
            b"E" => Ok(Status::InFailedTransaction),
            _ => Err(malformed(READY_FOR_QUERY_TAG, "no transaction status")),
        }
    }
}

impl ServerError {
    /// Text that is not UTF-8 (an error before the encoding is settled may come in the server's own)
    /// is shown as well as it can be.
    pub fn of(body: &ErrorResponseBody) -> Result<Self, WireError> {
        Self::from_fields(body.fields(), ERROR_RESPONSE_TAG)
    }

    /// From the fields of an ErrorResponse or a NoticeResponse.
    pub fn from_fields(mut fields: ErrorFields<'_>, tag: u8) -> Result<Self, WireError> {
        let (mut sqlstate, mut message, mut others) = (None, None, Vec::new());
        while let Some(field) = fields.next().map_err(|error| malformed(tag, error))? {
            let value = || String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                b'C' => sqlstate = Some(value()),
                b'M' => message = Some(value()),
                other => others.push((other, value())),
            }
        }
        Ok(Self {
            sqlstate: sqlstate.ok_or_else(|| malformed(tag, "no SQLSTATE"))?,
            message: message.ok_or_else(|| malformed(tag, "no message"))?,
            fields: others,
        })
    }

    /// From a whole ErrorResponse or NoticeResponse.
    #[cold]
    pub fn read(message: &[u8]) -> Result<Self, WireError> {
        match next(&mut BytesMut::from(message))? {
            Some(Message::ErrorResponse(body)) => Self::of(&body),
            Some(Message::NoticeResponse(body)) => Self::from_fields(body.fields(), NOTICE_RESPONSE_TAG),
            _ => Err(malformed(ERROR_RESPONSE_TAG, "it is incomplete")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads one message; what is in it is told by `tell`.
    fn check(bytes: &[u8], expect: Result<Option<&str>, &str>) {
        let found = next(&mut BytesMut::from(bytes)).and_then(|found| found.as_ref().map(tell).transpose());
        let expect = expect.map(|told| told.map(str::to_owned)).map_err(str::to_owned);
        assert_eq!(found.map_err(|error| error.to_string()), expect);
    }

    fn tell(message: &Message) -> Result<String, WireError> {
        Ok(match message {
            Message::AuthenticationOk => "authenticated".to_owned(),
            Message::AuthenticationSasl(_) => "SASL".to_owned(),
            Message::ParameterStatus(body) => format!("{} = {}", body.name().unwrap(), body.value().unwrap()),
            Message::BackendKeyData(body) => format!("process {}", body.process_id()),
            Message::ReadyForQuery(body) => format!("ready {}", char::from(body.status())),
            Message::ErrorResponse(body) => ServerError::of(body).map(|error| error.sqlstate + " " + &error.message)?,
            _ => "other".to_owned(),
        })
    }

    #[test]
    fn messages_are_read_and_incomplete_ones_waited_for() {
        check(b"Z\0\0\0\x05T", Ok(Some("ready T")));
        check(b"Z\0\0\0\x05", Ok(None));
        check(b"Z\0\0", Ok(None));
        check(b"", Ok(None));
        check(b"R\0\0\0\x08\0\0\0\0", Ok(Some("authenticated")));
        check(b"R\0\0\0\x08\0\0\0\x0a", Ok(Some("SASL")));
        check(b"S\0\0\0\x08a\0b\0", Ok(Some("a = b")));
        check(b"K\0\0\0\x0c\0\0\0\x07\0\0\0\0", Ok(Some("process 7")));
        check(b"C\0\0\0\x0aBEGIN\0", Ok(Some("other")));
        check(b"E\0\0\0\x1eSERROR\0C40001\0Mtry again\0\0", Ok(Some("40001 try again")));
        check(b"E\0\0\0\x0fC40001\0M\xff\0\0", Ok(Some("40001 \u{fffd}")));
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        check(b"Z\0\0\0\x03", Err("message ReadyForQuery is malformed: invalid message length: header length < 4"));
        check(
            b"Z\xff\xff\xff\xff",
            Err("message ReadyForQuery is malformed: invalid message length: header length < 4"),
        );
        check(b"Z\0\0\0\x05x", Err("message ReadyForQuery is malformed: no transaction status"));
        check(b"Z\0\0\0\x04", Err("message ReadyForQuery is malformed: failed to fill whole buffer"));
        check(
            b"Z\0\0\0\x06II",
            Err("message ReadyForQuery is malformed: invalid message length: expected buffer to be empty"),
        );
        check(b"E\0\0\0\x05C", Err("message ErrorResponse is malformed: unexpected EOF"));
        check(b"E\0\0\0\x05\0", Err("message ErrorResponse is malformed: no SQLSTATE"));
        check(b"E\0\0\0\x0cC40001\0\0", Err("message ErrorResponse is malformed: no message"));
        check(b"K\0\0\0\x04", Err("message BackendKeyData is malformed: failed to fill whole buffer"));
        check(b"S\0\0\0\x06a\0", Err("message ParameterStatus is malformed: unexpected EOF"));
        check(b"R\0\0\0\x08\0\0\0\x63", Err("message Authentication is malformed: unknown authentication tag `99`"));
        check(b"HTTP/1.1", Err("message CopyOutResponse of 1414811695 bytes is longer than the 1048576 we hold"));
        check(b"\x15\x03\x03\0\0", Err("message of unknown type 0x15"));
        check(b"\x15\xff\xff\xff\xff", Err("message of unknown type 0x15"));
    }

    #[test]
    fn no_room_is_made_for_a_message_that_is_too_long() {
        for length in [HELD_BYTES_MAX as i32 + 5, i32::MAX] {
            let mut inbox = BytesMut::from(&[&b"D"[..], &length.to_be_bytes()].concat()[..]);
            assert!(matches!(next(&mut inbox), Err(WireError::TooLong { name: "DataRow", .. })));
            assert!(inbox.capacity() < 1000, "{}", inbox.capacity());
        }
    }
}
