//! What a client reads and sends, and what becomes of it when the connection fails.

use super::{Client, Phase, Turn};
use crate::drive::pgbench::desk::Desk;
use crate::drive::pgbench::voice;
use crate::drive::socket::{Socket, Wait};
use std::io::ErrorKind;

/// What became of a connection that was read from.
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
    /// Reads once and goes on with what follows from it.
    pub fn receive(&mut self, desk: &mut Desk<'_>) -> Turn {
        let read = self.read(desk);
        self.go_on(desk, read)
    }

    /// Goes on with what follows from what was read.
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

    /// Takes what comes while nothing is waited for. `false`: the server has closed the connection.
    pub fn overhear(&mut self, desk: &mut Desk<'_>) -> bool {
        self.read(desk) == Read::Open
    }

    /// Takes what there is to read.
    fn read(&mut self, desk: &mut Desk<'_>) -> Read {
        loop {
            let Some(socket) = &mut self.socket else { return Read::Closed };
            match socket.receive(&mut desk.incoming, Wait::No) {
                Ok(0) => return Read::Closed,
                Ok(bytes) => {
                    // What TLS has decrypted no socket tells of.
                    let may_have_more = socket.tls().is_some();
                    let read = self.hear(&desk.incoming[..bytes]);
                    if read != Read::Open || !may_have_more {
                        return read;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Read::Open,
                Err(_) => return Read::Closed,
            }
        }
    }

    /// Takes what was read.
    #[inline]
    pub fn hear(&mut self, bytes: &[u8]) -> Read {
        match self.stream.feed(bytes, &mut self.reply) {
            Ok(()) => Read::Open,
            Err(error) => {
                self.command_failed("SQL", &format!("the server spoke nonsense: {error}"));
                Read::Nonsense
            }
        }
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

    /// Sends all of it. A server that does not read because its own answers are not read is helped
    /// by reading them.
    pub(super) fn send(&mut self, desk: &mut Desk<'_>, mut bytes: &[u8]) -> bool {
        if let Some(ring) = &mut desk.ring {
            ring.send(self.place, bytes);
            return true;
        }
        while !bytes.is_empty() {
            let Some(socket) = &mut self.socket else { return false };
            match socket.send_at_once(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => match self.read(desk) {
                    Read::Open => {
                        let _ = self.socket.as_ref().map(Socket::await_either);
                    }
                    Read::Closed => {
                        self.command_failed("SQL", "perhaps the backend died while processing");
                        return false;
                    }
                    Read::Nonsense | Read::Unsent => return false,
                },
                Err(_) => {
                    self.command_failed("SQL", "SQL command send failed");
                    return false;
                }
            }
        }
        true
    }
}
