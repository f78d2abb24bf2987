//! What was really done, in a file that the server's processes share and pgverdict reads.
//!
//! A page of 64 lines of 64 bytes, native numbers of 8 bytes each. The first line: [`MAGIC`], then the nanoseconds that
//! were asked for. Each other line: messages received, nanoseconds spun. A process notes in the line of its process id,
//! so that backends on several cores do not wait for each other; the sums over all lines are what counts.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::Release};

/// "handicap", so that an empty file is told from one that a server has.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"handicap");

pub const LINES: usize = 64;

/// One cache line.
#[repr(C, align(64))]
struct Line {
    first: AtomicU64,
    second: AtomicU64,
}

pub struct Counts(NonNull<[Line; LINES]>);

// SAFETY: all access to the page is atomic.
unsafe impl Send for Counts {}
// SAFETY: as above.
unsafe impl Sync for Counts {}

impl Counts {
    /// Map the file, which must be there and have its length.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() != size_of::<[Line; LINES]>() as u64 {
            return Err(io::Error::other("it has another length"));
        }
        // SAFETY: the kernel chooses the address; the file is as long as the mapping.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<[Line; LINES]>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(address.cast()).map(Self).ok_or_else(|| io::Error::other("mapped at address 0"))
    }

    fn lines(&self) -> &[Line; LINES] {
        // SAFETY: mapped for ever, zero or written by us, and a mapping begins at a page, so it is aligned.
        unsafe { self.0.as_ref() }
    }

    /// Say that the library is loaded, and with which handicap.
    pub fn announce(&self, ns: u64) {
        self.lines()[0].second.store(ns, Relaxed);
        self.lines()[0].first.store(MAGIC, Relaxed);
    }

    /// A message was received, and so long was spun for it.
    #[inline]
    pub fn note(&self, line: usize, spun_ns: u64) {
        if let Some(line) = self.lines().get(line) {
            // In this order: whoever reads the line from its beginning meets no message without its time.
            line.second.fetch_add(spun_ns, Relaxed);
            line.first.fetch_add(1, Release);
        }
    }
}

/// The line a process notes in. Two processes that meet in one lose nothing but time.
pub fn line_of(process: u32) -> usize {
    1 + process as usize % (LINES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str, bytes: usize) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("pgverdict-handicap-{}-{name}", std::process::id()));
        std::fs::write(&path, vec![0; bytes]).expect("the file can be written");
        path
    }

    fn numbers(path: &Path) -> Vec<u64> {
        let content = std::fs::read(path).expect("the file is there");
        content.chunks_exact(8).map(|eight| u64::from_ne_bytes(eight.try_into().expect("eight bytes"))).collect()
    }

    #[test]
    fn what_is_noted_stands_in_the_file() {
        let path = page("noted", 4096);
        let counts = Counts::open(&path).expect("the file can be mapped");

        counts.announce(500);
        counts.note(line_of(62), 510);
        counts.note(line_of(125), 530);

        let found = numbers(&path);
        std::fs::remove_file(&path).expect("it is ours");
        assert_eq!(found[..2], [MAGIC, 500]);
        assert_eq!(found[8 * 63..8 * 63 + 2], [2, 1040], "process ids 63 apart share a line");
        assert_eq!(found.iter().skip(2).sum::<u64>(), 1042, "nothing else was written");
    }

    #[test]
    fn a_file_of_another_length_is_refused() {
        let path = page("short", 100);
        let refused = Counts::open(&path).map(|_| ()).expect_err("it is too short").to_string();
        std::fs::remove_file(&path).expect("it is ours");
        assert_eq!(refused, "it has another length");
    }

    #[test]
    fn a_file_that_is_not_there_is_not_made() {
        let path = std::env::temp_dir().join("pgverdict-handicap-not-there");
        assert!(Counts::open(&path).is_err());
        assert!(!path.exists());
    }
}
