//! A known slow-down, preloaded into a server (`LD_PRELOAD`).
//!
//! PostgreSQL receives what its clients send by `recv` (9.6 to 18, with or without TLS). This library stands before
//! it: after each `recv` that gave bytes of a client, it spins for a number of nanoseconds and notes how long that
//! really took. The environment says how much (`PGVERDICT_HANDICAP_NS`, 0 counts and does not spin) and where the
//! notes go (`PGVERDICT_HANDICAP_COUNTS`, a file that exists and is mapped into every process of the server).
//!
//! A handicap is never assumed: a library that cannot do its work ends the server before it starts.
//!
//! - [`counts`]: the file of notes
//! - [`spin`]: the clock and the delay

mod counts;
mod spin;

use counts::Counts;
use libc::{c_char, c_int, c_void, size_t, ssize_t};
use spin::Spin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

type Recv = unsafe extern "C" fn(c_int, *mut c_void, size_t, c_int) -> ssize_t;

struct Handicap {
    counts: Counts,
    spin: Spin,
    recv: Recv,
}

/// Made when the library is loaded, that is in the postmaster; its children inherit it.
static HANDICAP: OnceLock<Handicap> = OnceLock::new();

/// No socket was seen yet.
const NONE: c_int = -1;

/// The socket of this process's client: the first stream socket it receives from. The postmaster receives from none,
/// and the statistics collector of releases before 15 from a datagram socket.
static CLIENT: AtomicI32 = AtomicI32::new(NONE);

/// Where this process notes; asking for one's process id each time would be a system call.
static LINE: AtomicUsize = AtomicUsize::new(0);

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = load;

#[cfg_attr(test, allow(dead_code))]
extern "C" fn load() {
    match prepare() {
        Ok(handicap) => drop(HANDICAP.set(handicap)),
        Err(problem) => refuse(&problem),
    }
}

fn prepare() -> Result<Handicap, String> {
    let text = std::env::var("PGVERDICT_HANDICAP_NS").map_err(|error| format!("PGVERDICT_HANDICAP_NS: {error}"))?;
    let ns = text.parse().map_err(|_| format!("PGVERDICT_HANDICAP_NS is not a number: {text}"))?;
    let path = std::env::var_os("PGVERDICT_HANDICAP_COUNTS").ok_or("PGVERDICT_HANDICAP_COUNTS is not set")?;
    let counts = Counts::open(path.as_ref()).map_err(|error| format!("cannot map {}: {error}", path.display()))?;
    let recv = next_recv().ok_or("there is no recv to stand before")?;
    counts.announce(ns);
    Ok(Handicap { counts, spin: Spin::new(ns), recv })
}

/// The function that the server would have called without us.
fn next_recv() -> Option<Recv> {
    const NAME: &[u8] = b"recv\0";
    // SAFETY: the name ends with a zero byte, and the symbol of this name in the C library has this type.
    unsafe {
        let found = libc::dlsym(libc::RTLD_NEXT, NAME.as_ptr().cast::<c_char>());
        if found.is_null() { None } else { Some(std::mem::transmute::<*mut c_void, Recv>(found)) }
    }
}

/// End the process before the server's `main`; its log says why.
fn refuse(problem: &str) -> ! {
    let line = format!("pgverdict-handicap: {problem}\n");
    // SAFETY: the pointer and the length are of one live string; _exit takes no pointer.
    unsafe {
        libc::write(2, line.as_ptr().cast(), line.len());
        libc::_exit(1)
    }
}

/// In place of the C library's.
///
/// # Safety
///
/// As for `recv(2)`: `buffer` must have room for `length` bytes.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn recv(socket: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    let Some(handicap) = HANDICAP.get() else {
        // A library that was loaded before us receives before we are ready. It is no backend.
        // SAFETY: the caller's promise, passed on; null asks for no address.
        return unsafe { libc::recvfrom(socket, buffer, length, flags, std::ptr::null_mut(), std::ptr::null_mut()) };
    };
    // SAFETY: the caller's promise, passed on.
    let received = unsafe { (handicap.recv)(socket, buffer, length, flags) };
    if received > 0 && is_client(socket) {
        handicap.counts.note(LINE.load(Relaxed), handicap.spin.run());
    }
    received
}

fn is_client(socket: c_int) -> bool {
    let client = CLIENT.load(Relaxed);
    client == socket
        || (client == NONE && is_stream(socket) && {
            CLIENT.store(socket, Relaxed);
            LINE.store(counts::line_of(std::process::id()), Relaxed);
            true
        })
}

fn is_stream(socket: c_int) -> bool {
    let mut kind: c_int = 0;
    let mut length = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: both pointers are to live variables, and the length is that of the first.
    let answer =
        unsafe { libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut kind).cast(), &raw mut length) };
    answer == 0 && kind == libc::SOCK_STREAM
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::{UnixDatagram, UnixStream};

    #[test]
    fn only_stream_sockets_are_clients() {
        let (datagram, _other) = UnixDatagram::pair().expect("a pair of sockets");
        let (first, second) = UnixStream::pair().expect("a pair of sockets");

        assert!(!is_client(datagram.as_raw_fd()));
        assert!(is_client(first.as_raw_fd()));
        assert!(!is_client(second.as_raw_fd()), "the first one is the client");
        assert!(is_client(first.as_raw_fd()));
    }

    #[test]
    fn the_next_recv_receives() {
        let (here, there) = UnixStream::pair().expect("a pair of sockets");
        std::io::Write::write_all(&mut &there, b"abc").expect("the socket takes three bytes");
        let mut buffer = [0_u8; 8];
        let recv = next_recv().expect("the C library has one");

        // SAFETY: the buffer has the length that is said.
        let received = unsafe { recv(here.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };

        assert_eq!((received, &buffer[..3]), (3, &b"abc"[..]));
    }
}
