//! The PostgreSQL protocol, version 3: bytes to messages and messages to bytes.
//!
//! No sockets and no clock live here: whoever reads hands the bytes in, whoever writes takes them
//! out. Encoding and decoding are those of `postgres-protocol`: [`frontend`] gives messages to send,
//! [`backend`] reads one message at a time and answers `Ok(None)` where more bytes are needed.
//! [`stream`] tells messages apart as they arrive, and skips what its listener does not want;
//! [`answer`] reads a whole answer to one statement and skips what nobody looks at, which is what
//! the hot path needs; [`rows`] keeps those that a program asks for, [`last_row`] the one that a script does. What is ours, and why, stands at the head of each.

pub mod answer;
pub mod backend;
pub mod frontend;
pub mod last_row;
pub mod parameter;
pub mod rows;
pub mod said;
pub mod stream;

/// A server may not make us hold more than this for one message. Rows are skipped, not held.
pub const HELD_BYTES_MAX: usize = 1 << 20;

/// Of a row that a script keeps: no server sends a longer one.
pub const KEPT_ROW_BYTES_MAX: usize = 1 << 30;

/// What a server did that the protocol does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    #[error("message {name} of {length} bytes is longer than the {most} we hold")]
    TooLong { name: &'static str, length: i32, most: usize },
    #[error("message {name} is malformed: {what}")]
    Malformed { name: &'static str, what: String },
    #[error("message of unknown type 0x{tag:02x}")]
    Unknown { tag: u8 },
    #[error("message {name} {what}")]
    Unexpected { name: &'static str, what: &'static str },
}

/// What a server said was wrong, as it said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    pub sqlstate: String,
    pub message: String,
    /// Everything else: by the letter of the field.
    pub fields: Vec<(u8, String)>,
}
