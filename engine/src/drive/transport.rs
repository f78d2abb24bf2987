//! The sockets of one thread's clients: whoever has something to send or waits for an answer does not know
//! whether it goes by epoll or by io_uring.
//!
//! Nothing here waits but [`Transport::wait`]: what a socket does not take at once is sent when there is room. What
//! becomes of a socket is told by [`Transport::next`], also that it could not be sent to.

mod epoll;
mod polled;
mod ring;

use super::connect;
use super::socket::Socket;
use polled::Polled;
use ring::{Event, Ring};
use std::io::{self, ErrorKind};
use std::time::Duration;

/// How a thread waits for its sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventLoop {
    Epoll,
    IoUring,
}

impl EventLoop {
    pub fn name(self) -> &'static str {
        match self {
            EventLoop::Epoll => "epoll",
            EventLoop::IoUring => "io_uring",
        }
    }

    /// Whether a thread with so many sockets can wait for them in this way. Of io_uring: not where the kernel is too old
    /// (before 6.1) or does not allow it.
    pub fn check(self, sockets: usize) -> io::Result<()> {
        Transport::new(self, sockets).map(drop)
    }
}

/// What is told of a socket.
#[derive(Debug)]
pub enum Heard<'a> {
    Bytes(&'a [u8]),
    /// By the other side. Told once, and again to whoever sends.
    Closed,
    /// Nothing can be received any more.
    Unreadable(io::Error),
    /// What was to be sent was not.
    Unsent(io::Error),
}

/// Sockets by their places, from 0. Belongs to the thread that makes it.
pub struct Transport(Kind);

enum Kind {
    Polled(Polled),
    /// The ring goes first: the kernel lets go of sockets before they are closed.
    Ring {
        ring: Box<Ring>,
        sockets: Vec<Option<Polite>>,
    },
}

impl Transport {
    /// With places for so many sockets.
    pub fn new(event_loop: EventLoop, places: usize) -> io::Result<Self> {
        Ok(Self(match event_loop {
            EventLoop::Epoll => Kind::Polled(Polled::with_places(places)?),
            EventLoop::IoUring => {
                Kind::Ring { ring: Box::new(Ring::for_sockets(places)?), sockets: (0..places).map(|_| None).collect() }
            }
        }))
    }

    pub fn event_loop(&self) -> EventLoop {
        match &self.0 {
            Kind::Polled(_) => EventLoop::Epoll,
            Kind::Ring { .. } => EventLoop::IoUring,
        }
    }

    /// Takes a socket over, at a place where there is none. io_uring takes none that is encrypted, and none where there was another
    /// before.
    pub fn adopt(&mut self, place: usize, socket: Socket) -> io::Result<()> {
        match &mut self.0 {
            Kind::Polled(polled) => polled.adopt(place, socket),
            Kind::Ring { .. } if !socket.is_plain() => {
                Err(io::Error::new(ErrorKind::Unsupported, "encrypted connections are not for io_uring"))
            }
            Kind::Ring { ring, sockets } => {
                ring.watch(place, &socket)?;
                sockets[place] = Some(Polite(socket));
                Ok(())
            }
        }
    }

    pub fn has(&self, place: usize) -> bool {
        match &self.0 {
            Kind::Polled(polled) => polled.has(place),
            Kind::Ring { sockets, .. } => sockets[place].is_some(),
        }
    }

    /// Sends it, after what was given before: at once, with the next [`Transport::wait`], or when there is room.
    #[inline]
    pub fn send(&mut self, place: usize, bytes: &[u8]) {
        match &mut self.0 {
            Kind::Polled(polled) => polled.send(place, bytes),
            Kind::Ring { ring, .. } => ring.send(place, bytes),
        }
    }

    /// Returns when there is something to be told, or after `limit`, and sometimes before. `None`: waits as long as it
    /// takes.
    #[inline]
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<()> {
        match &mut self.0 {
            Kind::Polled(polled) => polled.wait(limit),
            Kind::Ring { ring, .. } => ring.wait(limit),
        }
    }

    /// Tells `hear` of the next socket that the last [`Transport::wait`] found; what it makes of it.
    #[inline]
    pub fn next<T>(&mut self, hear: impl FnOnce(usize, Heard<'_>) -> T) -> Option<T> {
        match &mut self.0 {
            Kind::Polled(polled) => polled.next(hear),
            Kind::Ring { ring, .. } => Some(match ring.next_event()? {
                Event::Received { token, taken } => {
                    let told = hear(token, Heard::Bytes(ring.bytes(&taken)));
                    ring.give_back(taken);
                    told
                }
                Event::Closed { token } => hear(token, Heard::Closed),
                Event::Unreadable { token, error } => hear(token, Heard::Unreadable(error)),
                Event::Unsent { token, error } => hear(token, Heard::Unsent(error)),
            }),
        }
    }

    /// Nothing more is told of the socket but to whoever sends, who hears that it is closed.
    pub fn ignore(&mut self, place: usize) -> io::Result<()> {
        match &mut self.0 {
            Kind::Polled(polled) => polled.ignore(place),
            Kind::Ring { ring, .. } => ring.forget(place),
        }
    }

    /// Says good-bye to the server, where there is a socket at this place, and closes it.
    pub fn close(&mut self, place: usize) {
        match &mut self.0 {
            Kind::Polled(polled) => polled.close(place),
            Kind::Ring { ring, sockets } => {
                if let Some(socket) = sockets[place].take() {
                    // Fails where nothing can be sent any more.
                    let _ = ring.forget(place);
                    drop(socket);
                }
            }
        }
    }
}

/// A socket that says good-bye to its server before it is closed.
#[derive(Debug)]
struct Polite(Socket);

impl Drop for Polite {
    fn drop(&mut self) {
        // Whether the server listens no longer matters: it notices a closed socket too.
        let _ = connect::close(&mut self.0);
    }
}
