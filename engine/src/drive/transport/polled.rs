//! Sockets that are read and written one by one, when epoll says that they can be.

use super::epoll::{Epoll, Events};
use super::{Heard, Polite};
use crate::drive::socket::{Socket, Wait};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// Answers are small; a large one takes several reads, all into the same place. It is more than TLS decrypts in one
/// turn (a record of 16 KiB, and what else its read brought), since no socket tells of what would be left.
const INCOMING_BYTES: usize = 64 * 1024;

pub struct Polled {
    epoll: Epoll,
    lines: Vec<Option<Line>>,
    /// What the last wait found: so many, of which those before `next` were looked at.
    events: Events,
    found: usize,
    next: usize,
    /// Of sockets that could not be sent to.
    troubles: VecDeque<(usize, Trouble)>,
    incoming: Vec<u8>,
}

#[derive(Debug)]
struct Line {
    socket: Polite,
    /// What there was no room for, less what the socket holds.
    unsent: Vec<u8>,
    /// Nothing is heard of it any more.
    is_over: bool,
}

#[derive(Debug)]
enum Trouble {
    Closed,
    Unsent(io::Error),
}

impl Polled {
    pub fn with_places(places: usize) -> io::Result<Self> {
        Ok(Self {
            epoll: Epoll::new()?,
            lines: (0..places).map(|_| None).collect(),
            events: Events::new(),
            found: 0,
            next: 0,
            troubles: VecDeque::new(),
            incoming: vec![0; INCOMING_BYTES],
        })
    }

    pub fn adopt(&mut self, place: usize, socket: Socket) -> io::Result<()> {
        assert!(self.lines[place].is_none(), "a place is for one socket");
        self.epoll.watch(&socket, place)?;
        self.lines[place] = Some(Line { socket: Polite(socket), unsent: Vec::new(), is_over: false });
        Ok(())
    }

    pub fn has(&self, place: usize) -> bool {
        self.lines[place].is_some()
    }

    #[inline]
    pub fn send(&mut self, place: usize, bytes: &[u8]) {
        let line = self.lines[place].as_mut().expect("whoever sends has a socket");
        if line.is_over {
            return self.troubles.push_back((place, Trouble::Closed));
        }
        if !line.unsent.is_empty() {
            return line.unsent.extend_from_slice(bytes);
        }
        match line.socket.0.send(bytes, Wait::No) {
            Ok(sent) if sent == bytes.len() && !line.socket.0.holds() => {}
            Ok(sent) => self.send_later(place, &bytes[sent..]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.send_later(place, bytes),
            Err(error) => self.troubles.push_back((place, Trouble::Unsent(error))),
        }
    }

    #[cold]
    fn send_later(&mut self, place: usize, bytes: &[u8]) {
        let Some(line) = &mut self.lines[place] else { return };
        line.unsent.extend_from_slice(bytes);
        if let Err(error) = self.epoll.await_room(&line.socket.0, place, true) {
            self.troubles.push_back((place, Trouble::Unsent(error)));
        }
    }

    /// Sends of what waits for room as much as there is room for.
    #[cold]
    fn send_on(&mut self, place: usize) -> io::Result<()> {
        let Some(Line { socket: Polite(socket), unsent, .. }) = &mut self.lines[place] else { return Ok(()) };
        match socket.send(unsent, Wait::No) {
            Ok(sent) => drop(unsent.drain(..sent)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => {
                unsent.clear();
                self.epoll.await_room(socket, place, false)?;
                return Err(error);
            }
        }
        if unsent.is_empty() && !socket.holds() { self.epoll.await_room(socket, place, false) } else { Ok(()) }
    }

    #[inline]
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<()> {
        let limit = if self.troubles.is_empty() { limit } else { Some(Duration::ZERO) };
        (self.next, self.found) = (0, 0);
        self.found = self.epoll.wait(&mut self.events, limit)?;
        Ok(())
    }

    #[inline]
    pub fn next<T>(&mut self, hear: impl FnOnce(usize, Heard<'_>) -> T) -> Option<T> {
        while self.next < self.found {
            let place = self.events.token(self.next);
            self.next += 1;
            // Closed since it was found.
            let Some(line) = &mut self.lines[place] else { continue };
            if (!line.unsent.is_empty() || line.socket.0.holds())
                && let Err(error) = self.send_on(place)
            {
                return Some(hear(place, Heard::Unsent(error)));
            }
            let Some(line) = self.lines[place].as_mut().filter(|line| !line.is_over) else { continue };
            match line.socket.0.receive(&mut self.incoming, Wait::No) {
                Ok(0) => {
                    self.end(place);
                    return Some(hear(place, Heard::Closed));
                }
                Ok(bytes) => return Some(hear(place, Heard::Bytes(&self.incoming[..bytes]))),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => {
                    self.end(place);
                    return Some(hear(place, Heard::Unreadable(error)));
                }
            }
        }
        let (place, trouble) = self.troubles.pop_front()?;
        Some(match trouble {
            Trouble::Closed => hear(place, Heard::Closed),
            Trouble::Unsent(error) => hear(place, Heard::Unsent(error)),
        })
    }

    #[cold]
    fn end(&mut self, place: usize) {
        // What is not watched any more cannot be found, whatever this says.
        let _ = self.ignore(place);
    }

    pub fn ignore(&mut self, place: usize) -> io::Result<()> {
        match &mut self.lines[place] {
            Some(line) if !line.is_over => {
                line.is_over = true;
                line.unsent.clear();
                self.epoll.forget(&line.socket.0)
            }
            _ => Ok(()),
        }
    }

    /// What is not sent yet is not sent.
    pub fn close(&mut self, place: usize) {
        self.end(place);
        self.troubles.retain(|(of, _)| *of != place);
        self.lines[place] = None;
    }
}
