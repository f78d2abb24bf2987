//! Waiting for many sockets at once by io_uring, where epoll needs three calls for every answer: one call sends
//! what is to be sent to all servers, and waits for what any of them has to say.
//!
//! The kernel puts what it receives into [`buffers`] shared by all sockets, and sends from memory that each socket has
//! here. What fits into the socket is gone when the call returns, and no word is said of it; of what does not the kernel
//! says so, and it is sent once more by a request that waits. Nobody else reads or writes a socket meanwhile.

mod buffers;
#[cfg(test)]
mod tests;

use crate::drive::socket::Socket;
pub use buffers::Taken;

use buffers::Buffers;
use io_uring::types::{CancelBuilder, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::mem;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// A thread with more sockets has to take epoll: each may have two requests under way, and a ring holds 32768.
const LINES_MAX: usize = 16_384;

/// Beyond the last number of a line.
const SENDS: u64 = 1 << 32;

/// What became of a socket. `token`: what [`Ring::watch`] gave it.
#[derive(Debug)]
pub enum Event {
    /// To be looked at by [`Ring::bytes`], and given back.
    Received { token: usize, taken: Taken },
    /// By the other side. Nothing else comes of this socket.
    Closed { token: usize },
    /// Nothing else comes of this one either.
    Unreadable { token: usize, error: io::Error },
    /// What was to be sent was not.
    Unsent { token: usize, error: io::Error },
}

pub struct Ring {
    ring: IoUring,
    buffers: Buffers,
    /// By their tokens.
    lines: Vec<Line>,
    /// Lines that the kernel no longer listens to and is to again.
    unarmed: Vec<usize>,
    /// Lines that have more to send than is on its way.
    queueing: Vec<usize>,
    /// How often [`Ring::wait`] has told the kernel what is asked of it.
    turn: u64,
    events: VecDeque<Event>,
    completions: Vec<cqueue::Entry>,
}

/// One socket.
#[derive(Debug, Default)]
struct Line {
    was_watched: bool,
    /// The kernel listens to it.
    is_armed: bool,
    /// What is being sent. The kernel reads it in its turn, and as long as the line `is_stuck`.
    outgoing: Vec<u8>,
    sent: usize,
    /// In which it was asked to send.
    turn: u64,
    /// The socket is full, and a request waits for room.
    is_stuck: bool,
    /// What is to be sent after that.
    queued: Vec<u8>,
    is_closed: bool,
}

impl Line {
    fn is_sending(&self, turn: u64) -> bool {
        self.is_stuck || self.turn == turn
    }
}

impl Ring {
    /// For at most so many sockets. Belongs to the thread that makes it. An error where the kernel is too old (before
    /// 6.1) or does not allow it.
    pub fn for_sockets(count: usize) -> io::Result<Self> {
        if count > LINES_MAX {
            let what = format!("{count} sockets are more than {LINES_MAX}");
            return Err(io::Error::new(ErrorKind::InvalidInput, what));
        }
        let entries = (2 * count.max(1)).next_power_of_two() as u32;
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag().setup_submit_all();
        let ring = builder.build(entries)?;
        // What the kernel knows by number it need not look up in the table of the process, which its threads share.
        ring.submitter().register_files_sparse(count.max(1) as u32)?;
        let buffers = Buffers::shared_by(count);
        buffers.register(&ring.submitter())?;
        Ok(Self {
            ring,
            buffers,
            lines: (0..count).map(|_| Line { is_closed: true, ..Line::default() }).collect(),
            unarmed: Vec::new(),
            queueing: Vec::new(),
            turn: 1,
            events: VecDeque::new(),
            completions: Vec::new(),
        })
    }

    /// From the next [`Ring::wait`] on; nobody else may read or write the socket, or close it before
    /// [`Ring::forget`]. A token is for one socket only: of one before there may still be answers to come. What is encrypted
    /// cannot be watched.
    pub fn watch(&mut self, token: usize, socket: &Socket) -> io::Result<()> {
        assert!(socket.is_plain(), "the kernel cannot decrypt");
        let line = &mut self.lines[token];
        assert!(!mem::replace(&mut line.was_watched, true), "a token is for one socket");
        self.ring.submitter().register_files_update(token as u32, &[socket.as_raw_fd()])?;
        line.is_closed = false;
        self.unarmed.push(token);
        Ok(())
    }

    /// Before the socket is closed: what is still to be sent goes, and the kernel lets go of it.
    pub fn forget(&mut self, token: usize) -> io::Result<()> {
        let line = &mut self.lines[token];
        let was_open = !mem::replace(&mut line.is_closed, true);
        if was_open && line.is_sending(self.turn) {
            self.ring.submit()?;
        }
        self.ring.submitter().register_files_update(token as u32, &[-1]).map(drop)
    }

    /// Sends it with the next [`Ring::wait`], after what was given before.
    #[inline]
    pub fn send(&mut self, token: usize, bytes: &[u8]) {
        let line = &mut self.lines[token];
        if line.is_closed {
            self.events.push_back(Event::Closed { token });
        } else if line.is_sending(self.turn) {
            if line.queued.is_empty() {
                self.queueing.push(token);
            }
            line.queued.extend_from_slice(bytes);
        } else {
            line.outgoing.clear();
            line.outgoing.extend_from_slice(bytes);
            line.sent = 0;
            self.ask_to_send(token);
        }
    }

    /// Sends what had to wait until what came before it was gone.
    fn send_queued(&mut self) {
        for token in mem::take(&mut self.queueing) {
            let line = &mut self.lines[token];
            if line.is_closed {
                line.queued.clear();
            } else if line.is_sending(self.turn) {
                self.queueing.push(token);
            } else if !line.queued.is_empty() {
                mem::swap(&mut line.outgoing, &mut line.queued);
                line.queued.clear();
                line.sent = 0;
                self.ask_to_send(token);
            }
        }
    }

    /// Returns when there is an event, or after `limit`. `None`: waits as long as it takes.
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<()> {
        while let Some(token) = self.unarmed.pop() {
            self.ask_to_receive(token);
        }
        let wanted = usize::from(self.events.is_empty());
        let asked = match limit {
            _ if wanted == 0 => self.ring.submit_and_wait(0),
            None => self.ring.submit_and_wait(1),
            Some(Duration::ZERO) => self.ring.submit_and_wait(0),
            Some(limit) => {
                let time = Timespec::from(limit);
                self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
        };
        match asked {
            Ok(_) => {}
            // Nothing came; or there are answers to be taken before more may be asked for.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY)) => {}
            Err(error) => return Err(error),
        }
        // As long as something is not taken, the kernel has yet to read what is to be sent.
        if self.ring.submission().is_empty() {
            self.turn += 1;
        }
        let mut completions = mem::take(&mut self.completions);
        completions.extend(self.ring.completion());
        for completion in completions.drain(..) {
            let (token, result) = ((completion.user_data() % SENDS) as usize, completion.result());
            if completion.user_data() >= SENDS {
                self.sent(token, result);
            } else {
                self.received(token, result, completion.flags());
            }
        }
        self.completions = completions;
        if !self.queueing.is_empty() {
            self.send_queued();
        }
        Ok(())
    }

    /// Of those that the last [`Ring::wait`] found.
    #[inline]
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    #[inline]
    pub fn bytes(&self, taken: &Taken) -> &[u8] {
        self.buffers.bytes(taken)
    }

    /// The kernel may put something else there.
    #[inline]
    pub fn give_back(&mut self, taken: Taken) {
        self.buffers.give_back(taken);
    }

    #[inline]
    fn received(&mut self, token: usize, result: i32, flags: u32) {
        let line = &mut self.lines[token];
        line.is_armed = cqueue::more(flags);
        let taken = cqueue::buffer_select(flags).map(|number| Taken::new(number, result.max(0) as u32));
        match (result, taken) {
            (1.., Some(taken)) if !line.is_closed => self.events.push_back(Event::Received { token, taken }),
            (_, Some(taken)) => self.buffers.give_back(taken),
            (_, None) => {}
        }
        let passes = result > 0 || matches!(-result, libc::ENOBUFS | libc::EAGAIN | libc::EINTR);
        if passes {
            if !line.is_armed && !line.is_closed {
                self.unarmed.push(token);
            }
        } else if !mem::replace(&mut line.is_closed, true) {
            self.events.push_back(match -result {
                // A reset is the same: it closed without reading all we sent.
                0 | libc::ECONNRESET => Event::Closed { token },
                error => Event::Unreadable { token, error: io::Error::from_raw_os_error(error) },
            });
        }
    }

    /// The kernel tells of what did not fit, of what was waited for, and of what failed.
    fn sent(&mut self, token: usize, result: i32) {
        let line = &mut self.lines[token];
        line.is_stuck = false;
        match (usize::try_from(result), -result) {
            (Ok(bytes), _) => line.sent += bytes,
            (Err(_), libc::EAGAIN | libc::EINTR) => {}
            // It takes all, as a socket does: its last words are still to be received, and say more.
            (Err(_), libc::EPIPE | libc::ECONNRESET) => {
                line.sent = line.outgoing.len();
                line.queued.clear();
            }
            (Err(_), error) => {
                line.queued.clear();
                self.events.push_back(Event::Unsent { token, error: io::Error::from_raw_os_error(error) });
                return;
            }
        }
        if line.sent < line.outgoing.len() && !line.is_closed {
            line.is_stuck = true;
            self.ask_to_send(token);
        }
    }

    #[inline]
    fn ask_to_send(&mut self, token: usize) {
        let line = &mut self.lines[token];
        line.turn = self.turn;
        let rest = &line.outgoing[line.sent..];
        let length = rest.len().min(i32::MAX as usize) as u32;
        // With both flags at once all of it is sent, or the request fails: it never waits.
        let at_once = if line.is_stuck { 0 } else { libc::MSG_DONTWAIT };
        let request = opcode::Send::new(Fixed(token as u32), rest.as_ptr(), length);
        let request = request.flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL | at_once).build();
        let quietly = if line.is_stuck { squeue::Flags::empty() } else { squeue::Flags::SKIP_SUCCESS };
        let request = request.flags(quietly).user_data(SENDS + token as u64);
        // SAFETY: while it `is_sending` nobody touches `outgoing`: a request that does not wait is done with it when this
        // turn ends, and this ring is not dropped before the others are cancelled.
        unsafe { self.ask(&request) }
    }

    fn ask_to_receive(&mut self, token: usize) {
        let line = &mut self.lines[token];
        if !line.is_closed {
            line.is_armed = true;
            let request = opcode::RecvMulti::new(Fixed(token as u32), buffers::GROUP).build();
            // SAFETY: the buffers of the group live as long as this ring.
            unsafe { self.ask(&request.user_data(token as u64)) }
        }
    }

    /// # Safety
    ///
    /// What the request points to must stay as it is until it is answered.
    #[inline]
    unsafe fn ask(&mut self, request: &squeue::Entry) {
        // SAFETY: as above.
        let pushed = unsafe { self.ring.submission().push(request) };
        pushed.expect("there is room for two requests of every line, and none has more");
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let _ = self.ring.submit();
        // One by one, each found by its number: of a request to cancel all of them the kernel looks, for every one, at all
        // those before, which took longer than all else for 10 000 sockets.
        let submitter = self.ring.submitter();
        let cancel =
            |request| submitter.register_sync_cancel(Some(Timespec::new().sec(1)), CancelBuilder::user_data(request));
        let requests = (0..).zip(&self.lines).flat_map(|(token, line)| {
            [line.is_armed.then_some(token), line.is_stuck.then_some(SENDS + token)].into_iter().flatten()
        });
        let failed = requests.map(cancel).any(|done| done.is_err_and(|error| error.kind() != ErrorKind::NotFound));
        // The kernel may still read and write there, so that nobody else may have it.
        if failed {
            mem::forget(mem::take(&mut self.lines));
            self.buffers.leak();
        }
    }
}
