//! Waiting for many sockets at once.

use super::halt::LOOK_UP;
use super::socket::Socket;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// How many ready sockets one call reports at most; the others are reported by the next.
const EVENTS_MAX: usize = 256;

#[derive(Debug)]
pub struct Epoll(OwnedFd);

pub struct Events {
    events: [libc::epoll_event; EVENTS_MAX],
}

impl Events {
    pub fn new() -> Self {
        Self { events: [libc::epoll_event { events: 0, u64: 0 }; EVENTS_MAX] }
    }

    #[inline]
    pub fn token(&self, index: usize) -> usize {
        self.events[index].u64 as usize
    }
}

impl Default for Events {
    fn default() -> Self {
        Self::new()
    }
}

impl Epoll {
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call takes no pointer.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and nobody else's.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Reports `token` while the socket has something to read.
    pub fn watch(&self, socket: &Socket, token: usize) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: token as u64 };
        // SAFETY: both descriptors are open and the pointer is to a live event.
        let result =
            unsafe { libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_ADD, socket.as_raw_fd(), &mut event) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// How many of `events` are filled; 0 after [`LOOK_UP`] without any.
    #[inline]
    pub fn wait(&self, events: &mut Events) -> io::Result<usize> {
        // SAFETY: the pointer and the length are those of a live, writable array.
        let result = unsafe {
            let events = &mut events.events;
            libc::epoll_wait(
                self.0.as_raw_fd(),
                events.as_mut_ptr(),
                events.len() as libc::c_int,
                LOOK_UP.as_millis() as libc::c_int,
            )
        };
        match usize::try_from(result) {
            Ok(count) => Ok(count),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == ErrorKind::Interrupted => Ok(0),
                error => Err(error),
            },
        }
    }
}
