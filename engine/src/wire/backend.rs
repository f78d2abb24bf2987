//! Messages from the server, one at a time.

use super::{HELD_BYTES_MAX, ServerError, WireError};

pub const AUTHENTICATION: u8 = b'R';
pub const BACKEND_KEY_DATA: u8 = b'K';
pub const BIND_COMPLETE: u8 = b'2';
pub const CLOSE_COMPLETE: u8 = b'3';
pub const COMMAND_COMPLETE: u8 = b'C';
pub const COPY_BOTH_RESPONSE: u8 = b'W';
pub const COPY_DATA: u8 = b'd';
pub const COPY_DONE: u8 = b'c';
pub const COPY_IN_RESPONSE: u8 = b'G';
pub const COPY_OUT_RESPONSE: u8 = b'H';
pub const DATA_ROW: u8 = b'D';
pub const EMPTY_QUERY_RESPONSE: u8 = b'I';
pub const ERROR_RESPONSE: u8 = b'E';
pub const NEGOTIATE_PROTOCOL_VERSION: u8 = b'v';
pub const NO_DATA: u8 = b'n';
pub const NOTICE_RESPONSE: u8 = b'N';
pub const NOTIFICATION_RESPONSE: u8 = b'A';
pub const PARAMETER_DESCRIPTION: u8 = b't';
pub const PARAMETER_STATUS: u8 = b'S';
pub const PARSE_COMPLETE: u8 = b'1';
pub const PORTAL_SUSPENDED: u8 = b's';
pub const READY_FOR_QUERY: u8 = b'Z';
pub const ROW_DESCRIPTION: u8 = b'T';

/// The name of a message in the PostgreSQL documentation.
pub fn name_of(tag: u8) -> Option<&'static str> {
    Some(match tag {
        AUTHENTICATION => "Authentication",
        BACKEND_KEY_DATA => "BackendKeyData",
        BIND_COMPLETE => "BindComplete",
        CLOSE_COMPLETE => "CloseComplete",
        COMMAND_COMPLETE => "CommandComplete",
        COPY_BOTH_RESPONSE => "CopyBothResponse",
        COPY_DATA => "CopyData",
        COPY_DONE => "CopyDone",
        COPY_IN_RESPONSE => "CopyInResponse",
        COPY_OUT_RESPONSE => "CopyOutResponse",
        DATA_ROW => "DataRow",
        EMPTY_QUERY_RESPONSE => "EmptyQueryResponse",
        ERROR_RESPONSE => "ErrorResponse",
        NEGOTIATE_PROTOCOL_VERSION => "NegotiateProtocolVersion",
        NO_DATA => "NoData",
        NOTICE_RESPONSE => "NoticeResponse",
        NOTIFICATION_RESPONSE => "NotificationResponse",
        PARAMETER_DESCRIPTION => "ParameterDescription",
        PARAMETER_STATUS => "ParameterStatus",
        PARSE_COMPLETE => "ParseComplete",
        PORTAL_SUSPENDED => "PortalSuspended",
        READY_FOR_QUERY => "ReadyForQuery",
        ROW_DESCRIPTION => "RowDescription",
        _ => return None,
    })
}

/// Type and length, the five bytes every message begins with.
pub const HEADER_BYTES: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub tag: u8,
    pub name: &'static str,
    pub body_bytes: usize,
}

/// The header at the start of `bytes`, or `None` while it is incomplete.
#[inline]
pub fn header(bytes: &[u8]) -> Result<Option<Header>, WireError> {
    let Some(first) = bytes.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
    let tag = first[0];
    let name = name_of(tag).ok_or(WireError::Unknown { tag })?;
    let length = i32::from_be_bytes([first[1], first[2], first[3], first[4]]);
    if length < 4 {
        return Err(WireError::TooShort { name, length });
    }
    Ok(Some(Header { tag, name, body_bytes: length as usize - 4 }))
}

impl Header {
    /// Refuses a message that we would have to hold and that is too long for it.
    pub fn hold(self) -> Result<Self, WireError> {
        if self.body_bytes > HELD_BYTES_MAX {
            return Err(WireError::TooLong { name: self.name, length: self.body_bytes as i32 + 4 });
        }
        Ok(self)
    }
}

/// Whether a transaction block is open, as ReadyForQuery says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Idle,
    InTransaction,
    InFailedTransaction,
}

/// A message of the conversation outside the hot path. What nobody looks at is `Other`.
#[derive(Debug, PartialEq, Eq)]
pub enum Message<'a> {
    AuthenticationOk,
    /// The server wants a password, a certificate or worse; the number is that of the protocol.
    AuthenticationWanted(i32),
    ParameterStatus {
        name: &'a str,
        value: &'a str,
    },
    BackendKeyData {
        pid: i32,
    },
    ReadyForQuery(Status),
    ErrorResponse(ServerError),
    CopyInResponse,
    CopyOutResponse,
    ParseComplete,
    ParameterDescription {
        parameters: u16,
    },
    Other {
        tag: u8,
    },
}

/// The first message in `bytes` and how many bytes it takes; `None`: more bytes are needed.
pub fn parse(bytes: &[u8]) -> Result<Option<(Message<'_>, usize)>, WireError> {
    let Some(header) = header(bytes)? else { return Ok(None) };
    let header = header.hold()?;
    let end = HEADER_BYTES + header.body_bytes;
    if bytes.len() < end {
        return Ok(None);
    }
    Ok(Some((decode(header, &bytes[HEADER_BYTES..end])?, end)))
}

fn decode(header: Header, body: &[u8]) -> Result<Message<'_>, WireError> {
    let malformed = |what| WireError::Malformed { name: header.name, what };
    Ok(match header.tag {
        AUTHENTICATION => match int32(body).ok_or_else(|| malformed("no type of authentication"))? {
            0 => Message::AuthenticationOk,
            wanted => Message::AuthenticationWanted(wanted),
        },
        PARAMETER_STATUS => {
            let mut strings = body.split(|&byte| byte == 0).map(std::str::from_utf8);
            match (strings.next(), strings.next(), strings.next()) {
                (Some(Ok(name)), Some(Ok(value)), Some(_)) => Message::ParameterStatus { name, value },
                _ => return Err(malformed("no name and value in UTF-8")),
            }
        }
        BACKEND_KEY_DATA => {
            let pid = int32(body).ok_or_else(|| malformed("no process id"))?;
            Message::BackendKeyData { pid }
        }
        READY_FOR_QUERY => Message::ReadyForQuery(status(body)?),
        ERROR_RESPONSE => Message::ErrorResponse(error(body)?),
        COPY_IN_RESPONSE => Message::CopyInResponse,
        COPY_OUT_RESPONSE | COPY_BOTH_RESPONSE => Message::CopyOutResponse,
        PARSE_COMPLETE => Message::ParseComplete,
        PARAMETER_DESCRIPTION => {
            let first = body.first_chunk::<2>().ok_or_else(|| malformed("no number of parameters"))?;
            Message::ParameterDescription { parameters: u16::from_be_bytes(*first) }
        }
        tag => Message::Other { tag },
    })
}

fn int32(body: &[u8]) -> Option<i32> {
    body.first_chunk::<4>().map(|bytes| i32::from_be_bytes(*bytes))
}

/// The body of ReadyForQuery.
#[inline]
pub fn status(body: &[u8]) -> Result<Status, WireError> {
    match body {
        b"I" => Ok(Status::Idle),
        b"T" => Ok(Status::InTransaction),
        b"E" => Ok(Status::InFailedTransaction),
        _ => Err(WireError::Malformed { name: "ReadyForQuery", what: "no transaction status" }),
    }
}

/// The body of ErrorResponse. Text that is not UTF-8 (an error before the encoding is settled may
/// come in the server's own) is shown as well as it can be.
pub fn error(body: &[u8]) -> Result<ServerError, WireError> {
    let malformed = |what| WireError::Malformed { name: "ErrorResponse", what };
    let (mut sqlstate, mut message) = (None, None);
    let mut rest = body;
    loop {
        let (&field, after) = rest.split_first().ok_or_else(|| malformed("no end of the fields"))?;
        if field == 0 {
            break;
        }
        let end = after.iter().position(|&byte| byte == 0).ok_or_else(|| malformed("no end of a field"))?;
        let value = || Some(String::from_utf8_lossy(&after[..end]).into_owned());
        match field {
            b'C' => sqlstate = value(),
            b'M' => message = value(),
            _ => {}
        }
        rest = &after[end + 1..];
    }
    Ok(ServerError {
        sqlstate: sqlstate.ok_or_else(|| malformed("no SQLSTATE"))?,
        message: message.ok_or_else(|| malformed("no message"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: Result<Option<Message<'_>>, &str>) {
        match (parse(bytes), expect) {
            (Ok(found), Ok(expect)) => assert_eq!(found.map(|(message, _)| message), expect),
            (Err(error), Err(text)) => assert_eq!(error.to_string(), text),
            (found, expect) => panic!("{found:?} is not {expect:?}"),
        }
    }

    #[test]
    fn messages_are_read_and_incomplete_ones_waited_for() {
        check(b"Z\0\0\0\x05T", Ok(Some(Message::ReadyForQuery(Status::InTransaction))));
        check(b"Z\0\0\0\x05", Ok(None));
        check(b"Z\0\0", Ok(None));
        check(b"R\0\0\0\x08\0\0\0\0", Ok(Some(Message::AuthenticationOk)));
        check(b"R\0\0\0\x08\0\0\0\x0a", Ok(Some(Message::AuthenticationWanted(10))));
        check(b"S\0\0\0\x08a\0b\0", Ok(Some(Message::ParameterStatus { name: "a", value: "b" })));
        check(b"K\0\0\0\x0c\0\0\0\x07\0\0\0\0", Ok(Some(Message::BackendKeyData { pid: 7 })));
        check(b"C\0\0\0\x0aBEGIN\0", Ok(Some(Message::Other { tag: b'C' })));
    }

    #[test]
    fn errors_keep_sqlstate_and_message() {
        let error = ServerError { sqlstate: "40001".into(), message: "try again".into() };
        let body = b"SERROR\0C40001\0Mtry again\0\0";
        let mut bytes = vec![b'E', 0, 0, 0, 4 + body.len() as u8];
        bytes.extend(body);
        check(&bytes, Ok(Some(Message::ErrorResponse(error))));
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        check(b"Z\0\0\0\x03", Err("message ReadyForQuery says it is 3 bytes long, less than its own length field"));
        check(b"Z\0\0\0\x05x", Err("message ReadyForQuery is malformed: no transaction status"));
        check(b"E\0\0\0\x05C", Err("message ErrorResponse is malformed: no end of a field"));
        check(b"E\0\0\0\x05\0", Err("message ErrorResponse is malformed: no SQLSTATE"));
        check(b"K\0\0\0\x04", Err("message BackendKeyData is malformed: no process id"));
        check(b"S\0\0\0\x06a\0", Err("message ParameterStatus is malformed: no name and value in UTF-8"));
        check(b"HTTP/1.1", Err("message CopyOutResponse of 1414811695 bytes is longer than the 1048576 we hold"));
        check(b"\x15\x03\x03\0\0", Err("message of unknown type 0x15"));
    }
}
