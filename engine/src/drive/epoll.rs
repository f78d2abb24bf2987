//! Waiting for many sockets at once.

use super::halt::LOOK_UP;
use super::socket::Socket;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

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

    /// Ends what [`Epoll::watch`] began.
    pub fn forget(&self, socket: &Socket) -> io::Result<()> {
        let null = std::ptr::null_mut();
        // SAFETY: both descriptors are open; the kernel reads no event for this.
        let result = unsafe { libc::epoll_ctl(self.0.as_raw_fd(), libc::EPOLL_CTL_DEL, socket.as_raw_fd(), null) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// How many of `events` are filled; 0 after `limit` without any, to the nanosecond where the
    /// kernel can (Linux 5.11), else to the millisecond. `None`: waits as long as it takes.
    pub fn wait_for(&self, events: &mut Events, limit: Option<Duration>) -> io::Result<usize> {
        let time = limit.map(|limit| libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(limit.subsec_nanos()),
        });
        let time = time.as_ref().map_or(std::ptr::null(), |time| &raw const *time);
        let (descriptor, events) = (self.0.as_raw_fd(), &mut events.events);
        let count = events.len() as libc::c_int;
        // SAFETY: the array is live and writable and its length is right; the time is null or live,
        // and no mask of signals is given.
        let result = unsafe {
            let mask = std::ptr::null::<libc::sigset_t>();
            libc::syscall(libc::SYS_epoll_pwait2, descriptor, events.as_mut_ptr(), count, time, mask, 0usize)
        };
        match usize::try_from(result) {
            Ok(count) => Ok(count),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == ErrorKind::Interrupted => Ok(0),
                error if error.raw_os_error() == Some(libc::ENOSYS) => {
                    let milliseconds =
                        limit.map_or(-1, |limit| limit.as_nanos().div_ceil(1_000_000).min(60_000) as i32);
                    // SAFETY: as above.
                    let result = unsafe { libc::epoll_wait(descriptor, events.as_mut_ptr(), count, milliseconds) };
                    Ok(usize::try_from(result).unwrap_or(0))
                }
                error => Err(error),
            },
        }
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
