//! A connection's socket: Unix or TCP, plain or encrypted, by TLS or GSSAPI.

use super::gss::Service;
use super::gss::encryption::Encryption;
use super::halt::LOOK_UP;
use super::tls::{Tls, TlsSettings};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// `sun_path` less its closing zero byte.
const PATH_BYTES_MAX: usize = 107;

/// Blocking, but no read or write blocks longer than [`LOOK_UP`]: then it fails as `WouldBlock`.
#[derive(Debug)]
pub struct Socket {
    plain: Plain,
    cover: Cover,
}

/// What is around the bytes.
#[derive(Debug)]
enum Cover {
    None,
    Tls(Box<Tls>),
    Gss(Box<Encryption>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Up to [`LOOK_UP`].
    Yes,
    No,
}

impl Socket {
    pub fn connect_unix(path: &Path) -> io::Result<Self> {
        if path.as_os_str().len() > PATH_BYTES_MAX {
            let what = format!("the path is longer than {PATH_BYTES_MAX} bytes");
            return Err(io::Error::new(ErrorKind::InvalidInput, what));
        }
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(LOOK_UP))?;
        stream.set_write_timeout(Some(LOOK_UP))?;
        Ok(Self { plain: Plain(stream.into()), cover: Cover::None })
    }

    /// Without delays to fill packets, and noticing a peer that is gone, as libpq sets it up.
    pub fn connect_tcp(address: SocketAddr, limit: Option<Duration>, watch: &PeerWatch) -> io::Result<Self> {
        let stream = match limit {
            Some(limit) => TcpStream::connect_timeout(&address, limit)?,
            None => TcpStream::connect(address)?,
        };
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LOOK_UP))?;
        stream.set_write_timeout(Some(LOOK_UP))?;
        watch.set(&stream)?;
        Ok(Self { plain: Plain(stream.into()), cover: Cover::None })
    }

    /// Of a Unix socket: the number of the user whose process listens at the other end.
    pub fn peer_user_id(&self) -> io::Result<u32> {
        // SAFETY: a struct of plain numbers, for which zeros are values.
        let mut credentials: libc::ucred = unsafe { std::mem::zeroed() };
        let mut size = size_of::<libc::ucred>() as libc::socklen_t;
        // SAFETY: the descriptor is open, and the pointers are to a live struct and its size.
        let result = unsafe {
            let into = (&raw mut credentials).cast();
            libc::getsockopt(self.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, into, &raw mut size)
        };
        if result == 0 { Ok(credentials.uid) } else { Err(io::Error::last_os_error()) }
    }

    /// Everything from here on is encrypted.
    pub fn start_tls(&mut self, host: &str, settings: &TlsSettings) -> Result<(), String> {
        let tls = Tls::over(&mut Patient(&self.plain), host, settings)?;
        self.cover = Cover::Tls(Box::new(tls));
        Ok(())
    }

    /// The same by GSSAPI.
    pub fn start_gss(&mut self, service: &Service<'_>) -> Result<(), String> {
        self.cover = Cover::Gss(Box::new(Encryption::over(&mut Patient(&self.plain), service)?));
        Ok(())
    }

    pub fn tls(&self) -> Option<&Tls> {
        match &self.cover {
            Cover::Tls(tls) => Some(tls),
            Cover::None | Cover::Gss(_) => None,
        }
    }

    pub fn is_under_gss(&self) -> bool {
        matches!(self.cover, Cover::Gss(_))
    }

    /// Whether what the kernel has are the bytes themselves.
    pub fn is_plain(&self) -> bool {
        matches!(self.cover, Cover::None)
    }

    /// 0: the other side has closed. A reset is the same: it closed without reading all we sent.
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8], wait: Wait) -> io::Result<usize> {
        match &mut self.cover {
            Cover::None => self.plain.receive(buffer, wait),
            Cover::Tls(tls) => tls.receive(&mut Raw(&self.plain, wait), buffer),
            Cover::Gss(gss) => gss.receive(&mut Raw(&self.plain, wait), buffer),
        }
    }

    /// How many of the bytes were taken. A connection that the other side has closed takes them all:
    /// its last words can still be received, and say more than a broken pipe. So does one that encrypts,
    /// and may then hold some ([`Socket::holds`]).
    #[inline]
    pub fn send(&mut self, bytes: &[u8], wait: Wait) -> io::Result<usize> {
        match &mut self.cover {
            Cover::None => self.plain.send(bytes, wait),
            Cover::Tls(tls) => tls.send(&mut Raw(&self.plain, wait), bytes),
            Cover::Gss(gss) => gss.send(&mut Raw(&self.plain, wait), bytes),
        }
    }

    /// Whether something that was encrypted had no room yet. It goes with what is sent next, nothing perhaps.
    #[inline]
    pub fn holds(&self) -> bool {
        match &self.cover {
            Cover::None => false,
            Cover::Tls(tls) => tls.holds(),
            Cover::Gss(gss) => gss.holds(),
        }
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.plain.0.as_raw_fd()
    }
}

/// How the kernel notices that the peer of a TCP connection is gone; 0: as the system has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerWatch {
    pub keep_alive: bool,
    pub idle_s: i32,
    pub interval_s: i32,
    pub count: i32,
    /// How long what was sent may stay unacknowledged.
    pub user_timeout_ms: i32,
}

impl Default for PeerWatch {
    fn default() -> Self {
        Self { keep_alive: true, idle_s: 0, interval_s: 0, count: 0, user_timeout_ms: 0 }
    }
}

impl PeerWatch {
    fn set(&self, stream: &TcpStream) -> io::Result<()> {
        set_option(stream, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, self.user_timeout_ms)?;
        if !self.keep_alive {
            return Ok(());
        }
        set_option(stream, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
        let limits = [
            (libc::TCP_KEEPIDLE, self.idle_s),
            (libc::TCP_KEEPINTVL, self.interval_s),
            (libc::TCP_KEEPCNT, self.count),
        ];
        limits
            .into_iter()
            .filter(|&(_, value)| value > 0)
            .try_for_each(|(name, value)| set_option(stream, libc::IPPROTO_TCP, name, value))
    }
}

fn set_option(stream: &TcpStream, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open, and the pointer and the size are those of a live integer.
    let result = unsafe {
        let size = size_of::<libc::c_int>() as libc::socklen_t;
        libc::setsockopt(stream.as_raw_fd(), level, name, (&raw const value).cast(), size)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[derive(Debug)]
struct Plain(OwnedFd);

impl Plain {
    #[inline]
    fn receive(&self, buffer: &mut [u8], wait: Wait) -> io::Result<usize> {
        let flags = if wait == Wait::Yes { 0 } else { libc::MSG_DONTWAIT };
        // SAFETY: the pointer and the length are those of a live, writable buffer.
        let result = unsafe { libc::recv(self.0.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), flags) };
        match usize::try_from(result) {
            Ok(bytes) => Ok(bytes),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == ErrorKind::ConnectionReset => Ok(0),
                error if error.kind() == ErrorKind::Interrupted => Err(ErrorKind::WouldBlock.into()),
                error => Err(error),
            },
        }
    }

    #[inline]
    fn send(&self, bytes: &[u8], wait: Wait) -> io::Result<usize> {
        let flags = libc::MSG_NOSIGNAL | if wait == Wait::Yes { 0 } else { libc::MSG_DONTWAIT };
        // SAFETY: the pointer and the length are those of a live buffer.
        let result = unsafe { libc::send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
        match usize::try_from(result) {
            Ok(sent) => Ok(sent),
            Err(_) => match io::Error::last_os_error() {
                error if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(bytes.len()),
                error if error.kind() == ErrorKind::Interrupted => Err(ErrorKind::WouldBlock.into()),
                error => Err(error),
            },
        }
    }
}

/// The socket as those who encrypt read and write it.
struct Raw<'a>(&'a Plain, Wait);

impl Read for Raw<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.receive(buffer, self.1)
    }
}

impl Write for Raw<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes, self.1)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The same for a handshake, which waits for its peer up to [`HANDSHAKE_TURNS`] times [`LOOK_UP`].
struct Patient<'a>(&'a Plain);

/// A minute.
const HANDSHAKE_TURNS: usize = 1200;

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for _ in 0..HANDSHAKE_TURNS {
            match self.0.receive(buffer, Wait::Yes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
        Err(ErrorKind::TimedOut.into())
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for _ in 0..HANDSHAKE_TURNS {
            match self.0.send(bytes, Wait::Yes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return written,
            }
        }
        Err(ErrorKind::TimedOut.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
