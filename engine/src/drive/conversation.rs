//! A blocking exchange with a server, for everything that is not measured.

use super::clock;
use super::failure::Failure;
use super::halt::Halt;
use super::socket::{Socket, Wait};
use crate::wire::WireError;
use crate::wire::backend::{self, Message};
use std::io::ErrorKind;
use std::time::Duration;

#[derive(Debug)]
pub struct Conversation {
    socket: Socket,
    inbox: Vec<u8>,
    /// How much of the inbox was taken already.
    taken: usize,
    halt: Halt,
    /// How long to wait for the server; `None`: as long as it takes.
    pub patience: Option<Duration>,
    /// What we are about, for messages: "connecting client 3 to arm 0".
    pub doing: String,
}

impl Conversation {
    pub fn over(socket: Socket, halt: &Halt, patience: Option<Duration>, doing: String) -> Self {
        Self { socket, inbox: Vec::new(), taken: 0, halt: halt.clone(), patience, doing }
    }

    pub fn send(&self, mut bytes: &[u8]) -> Result<(), Failure> {
        let since = clock::now_ns();
        while !bytes.is_empty() {
            match self.socket.send(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.look_up(since)?,
                Err(error) => return Err(Failure::world(&self.doing, &error)),
            }
        }
        Ok(())
    }

    /// The next message. An error that the server sends is a failure: whoever talks this way has
    /// nothing to gain from going on.
    pub fn hear(&mut self) -> Result<Message<'_>, Failure> {
        let since = clock::now_ns();
        while !self.has_whole_message()? {
            if !self.read(Wait::Yes)? {
                self.look_up(since)?;
            }
        }
        self.take()
    }

    /// Reads up to ReadyForQuery, past everything else.
    pub fn finish(&mut self) -> Result<(), Failure> {
        loop {
            match self.hear()? {
                Message::ReadyForQuery(_) => return Ok(()),
                Message::CopyInResponse | Message::CopyOutResponse => {
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
        while self.has_whole_message()? {
            self.take()?;
        }
        Ok(())
    }

    pub fn failed(&self, what: &str) -> Failure {
        Failure::server(format!("{}: {what}", self.doing))
    }

    /// The socket and what was read beyond the last message taken.
    pub fn end(mut self) -> (Socket, Vec<u8>) {
        self.inbox.drain(..self.taken);
        (self.socket, self.inbox)
    }

    fn has_whole_message(&self) -> Result<bool, Failure> {
        backend::parse(&self.inbox[self.taken..]).map(|found| found.is_some()).map_err(|error| self.nonsense(error))
    }

    /// The message at the start of the inbox, which is known to be whole.
    fn take(&mut self) -> Result<Message<'_>, Failure> {
        let (message, bytes) =
            backend::parse(&self.inbox[self.taken..]).ok().flatten().expect("the message was found whole");
        self.taken += bytes;
        match message {
            Message::ErrorResponse(error) => {
                let what = format!("{}: the server refused", self.doing);
                Err(Failure::Server { what, said: Some(Box::new(error)) })
            }
            message => Ok(message),
        }
    }

    /// Whether there was something to read.
    fn read(&mut self, wait: Wait) -> Result<bool, Failure> {
        self.inbox.drain(..self.taken);
        self.taken = 0;
        let mut buffer = [0; 16 * 1024];
        match self.socket.receive(&mut buffer, wait) {
            Ok(0) => Err(self.failed("the server closed the connection")),
            Ok(bytes) => {
                self.inbox.extend_from_slice(&buffer[..bytes]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
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

    fn nonsense(&self, error: WireError) -> Failure {
        self.failed(&format!("the server spoke nonsense: {error}"))
    }
}
