//! What a client hears, and what becomes of it when the connection fails.

use super::{Client, Phase, Turn};
use crate::drive::pgbench::desk::Desk;
use crate::drive::pgbench::voice;
use crate::drive::transport::Heard;

/// What became of a connection that was heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    Open,
    Closed,
    /// It was said what.
    Nonsense,
    /// What was to be sent was not.
    Unsent,
}

impl Client {
    /// Takes what is told of its socket.
    #[inline]
    pub fn hear(&mut self, heard: Heard<'_>) -> Read {
        match heard {
            Heard::Bytes(bytes) => match self.stream.feed(bytes, &mut self.reply) {
                Ok(()) => Read::Open,
                Err(error) => {
                    self.command_failed("SQL", &format!("the server spoke nonsense: {error}"));
                    Read::Nonsense
                }
            },
            Heard::Closed | Heard::Unreadable(_) => Read::Closed,
            Heard::Unsent(_) => Read::Unsent,
        }
    }

    /// Goes on with what follows from what was heard.
    pub fn go_on(&mut self, desk: &mut Desk<'_>, read: Read) -> Turn {
        if voice::debugging() {
            voice::debug(format_args!("client {} receiving", self.number));
        }
        match read {
            Read::Open => {}
            Read::Closed if self.reply.is_complete() => {}
            Read::Closed => self.server_gone(),
            Read::Nonsense => self.phase = Phase::Aborted,
            Read::Unsent => {
                self.command_failed("SQL", "SQL command send failed");
                self.phase = Phase::Aborted;
            }
        }
        self.advance(desk)
    }

    fn server_gone(&mut self) {
        let number = self.number;
        match self.phase {
            Phase::RollingBack | Phase::Draining => voice::error(format_args!(
                "client {number} aborted while rolling back the transaction after an error; perhaps the backend died \
                 while processing"
            )),
            _ if self.reply.error.is_some() => {
                self.tell_error(None);
            }
            _ => self.command_failed("SQL", "perhaps the backend died while processing"),
        }
        self.phase = Phase::Aborted;
    }
}
