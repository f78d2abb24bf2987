//! Waiting for many sockets at once.

use crate::drive::socket::Socket;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// How many ready sockets one call reports at most; the others are reported by the next.
const EVENTS_MAX: usize = 256;

#[derive(Debug)]
pub struct Epoll(OwnedFd);

pub struct Events {
    events: Box<[libc::epoll_event; EVENTS_MAX]>,
}

impl Events {
    pub fn new() -> Self {
        Self { events: Box::new([libc::epoll_event { events: 0, u64: 0 }; EVENTS_MAX]) }
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
        self.control(libc::EPOLL_CTL_ADD, socket, libc::EPOLLIN, token)
    }

    /// Of a socket that is watched: reports it while it can be sent to, too, or no longer so.
    pub fn await_room(&self, socket: &Socket, token: usize, awaits: bool) -> io::Result<()> {
        let room = if awaits { libc::EPOLLOUT } else { 0 };
        self.control(libc::EPOLL_CTL_MOD, socket, libc::EPOLLIN | room, token)
    }

    /// Ends what [`Epoll::watch`] began.
    pub fn forget(&self, socket: &Socket) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, socket, 0, 0)
    }

    fn control(&self, what: libc::c_int, socket: &Socket, wanted: libc::c_int, token: usize) -> io::Result<()> {
        let mut event = libc::epoll_event { events: wanted as u32, u64: token as u64 };
        // SAFETY: both descriptors are open and the pointer is to a live event.
        let result = unsafe { libc::epoll_ctl(self.0.as_raw_fd(), what, socket.as_raw_fd(), &mut event) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// How many of `events` are filled; 0 after `limit` without any, to the nanosecond where the
    /// kernel can (Linux 5.11), else to the millisecond. `None`: waits as long as it takes.
    #[inline]
    pub fn wait(&self, events: &mut Events, limit: Option<Duration>) -> io::Result<usize> {
        match limit {
            Some(limit) if !limit.subsec_nanos().is_multiple_of(1_000_000) => self.wait_precisely(events, limit),
            Some(limit) => self.wait_for(events, limit.as_millis().min(i32::MAX as u128) as libc::c_int),
            None => self.wait_for(events, -1),
        }
    }

    #[inline]
    fn wait_for(&self, events: &mut Events, milliseconds: libc::c_int) -> io::Result<usize> {
        let (events, count) = (&mut events.events, EVENTS_MAX as libc::c_int);
        // SAFETY: the pointer and the length are those of a live, writable array.
        let result = unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), count, milliseconds) };
        found(result.into())
    }

    fn wait_precisely(&self, events: &mut Events, limit: Duration) -> io::Result<usize> {
        let time = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(limit.subsec_nanos()),
        };
        let (array, count) = (events.events.as_mut_ptr(), EVENTS_MAX as libc::c_int);
        // SAFETY: the pointer and the length are those of a live, writable array; the time is live, and no mask of signals
        // is given.
        let result = unsafe {
            let mask = std::ptr::null::<libc::sigset_t>();
            libc::syscall(libc::SYS_epoll_pwait2, self.0.as_raw_fd(), array, count, &raw const time, mask, 0usize)
        };
        match found(result) {
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                self.wait_for(events, limit.as_nanos().div_ceil(1_000_000).min(60_000) as libc::c_int)
            }
            found => found,
        }
    }
}

/// What a call says that waits.
#[inline]
fn found(result: libc::c_long) -> io::Result<usize> {
    match usize::try_from(result) {
        Ok(count) => Ok(count),
        Err(_) => match io::Error::last_os_error() {
            error if error.kind() == ErrorKind::Interrupted => Ok(0),
            error => Err(error),
        },
    }
}
