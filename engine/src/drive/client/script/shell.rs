//! Shell commands of scripts, where a campaign allows them. While one runs, its thread does nothing else, as in pgbench.

use crate::drive::failure::Failure;
use crate::drive::halt::LOOK_UP;
use crate::drive::process;
use crate::drive::slice::Slice;
use crate::script::outside::RESULT_BYTES_MAX;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

/// Runs a line; what it printed first, if that was `asked` for. The inner error is what to say of the command.
///
/// It has no standard input and prints to nobody: ours are the seam.
pub(super) fn run(line: &str, asked: bool, slice: &Slice) -> Result<Result<Vec<u8>, String>, Failure> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line).stdin(Stdio::null()).process_group(0);
    command.stdout(if asked { Stdio::piped() } else { Stdio::null() });
    // SAFETY: between fork and exec only one system call is made, which touches no memory.
    unsafe { command.pre_exec(process::die_with_parent) };
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Err(format!("cannot be started: {error}"))),
    };
    match attend(&mut child, slice) {
        Ok(printed) => {
            let ended = child.wait().map_err(|error| Failure::world("waiting for a shell command", &error))?;
            Ok(match (asked, ended.success()) {
                (false, false) => Err(format!("ended with {ended}")),
                (true, _) if printed.is_empty() => Err("printed nothing".to_owned()),
                _ => Ok(printed),
            })
        }
        Err(trouble) => {
            // SAFETY: the call takes two numbers; the group is that of a child we have not waited for, so it is there.
            unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
            let _ = child.wait();
            match trouble {
                Trouble::Failure(failure) => Err(failure),
                Trouble::TooLong => {
                    let limit = slice.plan.statement_limit.as_secs_f64();
                    Ok(Err(format!("took longer than the {limit} s that a client waits for anything")))
                }
            }
        }
    }
}

enum Trouble {
    Failure(Failure),
    TooLong,
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::Failure(Failure::world("waiting for a shell command", &error))
    }
}

/// Waits for its end; the first line that it prints. What it prints behind that finds nobody to read it.
fn attend(child: &mut Child, slice: &Slice) -> Result<Vec<u8>, Trouble> {
    let (begun, end) = (Instant::now(), end_of(child)?);
    let (mut output, mut printed) = (child.stdout.take(), Vec::new());
    loop {
        slice.check().map_err(Trouble::Failure)?;
        if begun.elapsed() > slice.plan.statement_limit {
            return Err(Trouble::TooLong);
        }
        // What was printed is read before the end is believed.
        let [speaks, ended] = wait(output.as_ref().map_or(-1, AsRawFd::as_raw_fd), end.as_raw_fd())?;
        if speaks && !hear(output.as_mut(), &mut printed)? {
            output = None;
        } else if ended {
            return Ok(printed);
        }
    }
}

/// A descriptor that is readable when the child has ended.
fn end_of(child: &Child) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two numbers.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id() as libc::pid_t, 0) };
    match RawFd::try_from(result) {
        // SAFETY: the descriptor is new and nobody else's.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Which of two descriptors has something, after [`LOOK_UP`] at the latest. -1: none.
fn wait(first: RawFd, second: RawFd) -> io::Result<[bool; 2]> {
    let mut wanted = [first, second].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: the pointer and the number are those of a live array.
    match unsafe { libc::poll(wanted.as_mut_ptr(), 2, LOOK_UP.as_millis() as libc::c_int) } {
        0.. => Ok(wanted.map(|one| one.revents != 0)),
        _ => match io::Error::last_os_error() {
            error if error.kind() == ErrorKind::Interrupted => Ok([false; 2]),
            error => Err(error),
        },
    }
}

/// Reads once; whether there is more to hear.
fn hear(output: Option<&mut ChildStdout>, printed: &mut Vec<u8>) -> io::Result<bool> {
    let Some(output) = output else { return Ok(false) };
    let mut buffer = [0; RESULT_BYTES_MAX as usize];
    let room = buffer.len() - printed.len();
    let bytes = output.read(&mut buffer[..room])?;
    printed.extend_from_slice(&buffer[..bytes]);
    if let Some(newline) = printed.iter().position(|&byte| byte == b'\n') {
        printed.truncate(newline + 1);
        return Ok(false);
    }
    Ok(bytes > 0 && printed.len() < buffer.len())
}
