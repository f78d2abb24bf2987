//! A blocking exchange with a server, for everything that is not measured.

use super::clock;
use super::failure::Failure;
use super::gss::Service;
use super::halt::Halt;
use super::socket::{Socket, Wait};
use super::tls::TlsSettings;
use crate::wire::backend::{self, ErrorResponseBody, Message};
use crate::wire::{ServerError, WireError};
use bytes::BytesMut;
use std::io::ErrorKind;
use std::time::Duration;

#[derive(Debug)]
pub struct Conversation {
    socket: Socket,
    inbox: BytesMut,
    halt: Halt,
    /// How long to wait for the server; `None`: as long as it takes.
    pub patience: Option<Duration>,
    /// What we are about, for messages: "connecting client 3 to arm 0".
    pub doing: String,
    /// Who is told of the server's notices.
    pub notice: Option<fn(&ServerError)>,
}

impl Conversation {
    pub fn over(socket: Socket, halt: &Halt, patience: Option<Duration>, doing: String) -> Self {
        Self { socket, inbox: BytesMut::new(), halt: halt.clone(), patience, doing, notice: None }
    }

    pub fn send(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        let since = clock::now_ns();
        while !bytes.is_empty() || self.socket.holds() {
            match self.socket.send(bytes, Wait::Yes) {
                Ok(sent) => {
                    bytes = &bytes[sent..];
                    if self.socket.holds() {
                        self.look_up(since)?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.look_up(since)?,
                Err(error) => return Err(Failure::world(&self.doing, &error)),
            }
        }
        Ok(())
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Everything from here on is encrypted. Only before anything was said.
    pub fn start_tls(&mut self, host: &str, settings: &TlsSettings) -> Result<(), String> {
        self.socket.start_tls(host, settings)
    }

    /// The same by GSSAPI.
    pub fn start_gss(&mut self, service: &Service<'_>) -> Result<(), String> {
        self.socket.start_gss(service)
    }

    /// One byte that is no message: the answer to a request for encryption.
    pub fn hear_byte(&mut self) -> Result<u8, Failure> {
        let since = clock::now_ns();
        loop {
            let mut byte = [0];
            match self.socket.receive(&mut byte, Wait::Yes) {
                Ok(0) => return Err(self.failed("the server closed the connection")),
                Ok(_) => return Ok(byte[0]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.look_up(since)?,
                Err(error) => return Err(Failure::world(&self.doing, &error)),
            }
        }
    }

    /// The next message. An error that the server sends is a failure: whoever talks this way has
    /// nothing to gain from going on.
    pub fn hear(&mut self) -> Result<Message, Failure> {
        match self.listen()? {
            Message::ErrorResponse(body) => Err(self.refused(&body)),
            message => Ok(message),
        }
    }

    /// The next message, whatever it is.
    pub fn listen(&mut self) -> Result<Message, Failure> {
        let since = clock::now_ns();
        loop {
            if let Some(message) = self.take()? {
                return Ok(message);
            }
            // Also while something comes: a server could send a message a byte at a time for ever.
            self.look_up(since)?;
            self.read(Wait::Yes)?;
        }
    }

    /// Reads up to ReadyForQuery, past everything else.
    pub fn finish(&mut self) -> Result<(), Failure> {
        loop {
            match self.hear()? {
                Message::ReadyForQuery(_) => return Ok(()),
                Message::CopyInResponse(_) | Message::CopyOutResponse(_) => {
                    return Err(self.failed("the server began a COPY that nobody feeds"));
                }
                _ => {}
            }
        }
    }

    /// Fails if the server has already sent an error, or if it is time to stop; does not wait.
    pub fn glance(&mut self) -> Result<(), Failure> {
        if self.halt.is_set() {
            return Err(Failure::Halted);
        }
        self.read(Wait::No)?;
        while let Some(message) = self.take()? {
            if let Message::ErrorResponse(body) = message {
                return Err(self.refused(&body));
            }
        }
        Ok(())
    }

    pub fn failed(&self, what: &str) -> Failure {
        Failure::server(format!("{}: {what}", self.doing))
    }

    pub fn spoke_nonsense(&self, error: &WireError) -> Failure {
        self.failed(&format!("the server spoke nonsense: {error}"))
    }

    /// The socket and what was read beyond the last message taken.
    pub fn end(self) -> (Socket, BytesMut) {
        (self.socket, self.inbox)
    }

    fn refused(&self, body: &ErrorResponseBody) -> Failure {
        match ServerError::of(body) {
            Ok(said) => {
                Failure::Server { what: format!("{}: the server refused", self.doing), said: Some(Box::new(said)) }
            }
            Err(error) => self.spoke_nonsense(&error),
        }
    }

    /// The message at the start of the inbox, if it is whole.
    fn take(&mut self) -> Result<Option<Message>, Failure> {
        let message = backend::next(&mut self.inbox).map_err(|error| self.spoke_nonsense(&error))?;
        if let (Some(notice), Some(Message::NoticeResponse(body))) = (self.notice, &message) {
            let said = ServerError::from_fields(body.fields(), backend::NOTICE_RESPONSE_TAG);
            notice(&said.map_err(|error| self.spoke_nonsense(&error))?);
        }
        Ok(message)
    }

    /// Takes in what there is to read, or waits a little for it.
    fn read(&mut self, wait: Wait) -> Result<(), Failure> {
        let mut buffer = [0; 16 * 1024];
        match self.socket.receive(&mut buffer, wait) {
            Ok(0) => Err(self.failed("the server closed the connection")),
            Ok(bytes) => {
                self.inbox.extend_from_slice(&buffer[..bytes]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(Failure::world(&self.doing, &error)),
        }
    }

    fn look_up(&self, since_ns: u64) -> Result<(), Failure> {
        if self.halt.is_set() {
            return Err(Failure::Halted);
        }
        match self.patience {
            Some(patience) if u128::from(clock::now_ns() - since_ns) > patience.as_nanos() => {
                Err(self.failed(&format!("the server gave no answer for {} s", patience.as_secs_f64())))
            }
            _ => Ok(()),
        }
    }
}
