//! A connection's socket. Unix only for now; TCP is another way to open one.

use super::halt::LOOK_UP;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// `sun_path` less its closing zero byte.
const PATH_BYTES_MAX: usize = 107;

/// Blocking, but no read or write blocks longer than [`LOOK_UP`]: then it fails as `WouldBlock`.
#[derive(Debug)]
pub struct Socket(OwnedFd);

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
        Ok(Self(stream.into()))
    }

    /// 0: the other side has closed. A reset is the same: it closed without reading all we sent.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8], wait: Wait) -> io::Result<usize> {
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

    /// How many of the bytes were taken. A connection that the other side has closed takes them all:
    /// its last words can still be received, and say more than a broken pipe.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the pointer and the length are those of a live buffer.
        let result = unsafe { libc::send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
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

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
