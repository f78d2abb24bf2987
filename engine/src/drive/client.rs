//! One client of one arm: a connection and what it does. [`script`] runs scripts, [`player`] what a
//! native program says; what they have in common is a [`Seat`].
//!
//! A client waits for exactly one answer at a time. Whoever reads its socket calls
//! [`Client::receive`], which goes on as far as the next thing to send.

pub mod player;
pub mod script;

use super::clock;
use super::connect;
use super::failure::Failure;
use super::slice::{Slice, Tally, Times};
use super::socket::{Socket, Wait};
use crate::measure::recorder::Recorder;
use crate::wire::answer::{Answer, Taker};
use crate::wire::backend::Status;
use crate::wire::{ServerError, WireError, frontend};
use std::io::{self, ErrorKind};

/// What the clients of one thread have in common while a slice runs.
pub struct Desk<'a, P> {
    /// What they do.
    pub part: &'a P,
    pub slice: &'a Slice,
    pub times: Times,
    pub recorder: &'a mut Recorder,
    /// Where messages are put together and read to, kept from one to the next.
    pub outgoing: &'a mut Vec<u8>,
    pub incoming: &'a mut [u8],
    pub drain_ns_max: u64,
    /// The first error of a script. The slice winds down and ends with it.
    pub refusal: Option<Failure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// An answer is awaited.
    Waiting,
    /// Nothing is, until this reading of the clock, when [`Client::wake`] goes on.
    Pausing(u64),
    /// This slice has no more work for the client.
    Finished,
}

pub trait Client {
    /// What the clients of a thread share from slice to slice.
    type Part;

    /// Before a slice.
    fn reset(&mut self, part: &Self::Part, seed: u64);

    /// The client's first transaction of a slice.
    fn begin(&mut self, desk: &mut Desk<'_, Self::Part>) -> Result<Turn, Failure>;

    /// Reads once and does what follows from it.
    fn receive(&mut self, desk: &mut Desk<'_, Self::Part>) -> Result<Turn, Failure>;

    /// After a pause.
    fn wake(&mut self, desk: &mut Desk<'_, Self::Part>) -> Result<Turn, Failure>;

    /// Fails if the server owes an answer for too long.
    fn check_limit(&self, desk: &Desk<'_, Self::Part>) -> Result<(), Failure>;

    fn tally(&self) -> &Tally;

    fn socket(&self) -> &Socket;
}

/// A connection, its place among the clients, and the transaction under way.
#[derive(Debug)]
pub struct Seat<T> {
    arm: u32,
    number: usize,
    socket: Socket,
    answer: Answer<T>,
    /// As the last answer left it.
    block: Status,
    begun_ns: u64,
    sent_ns: u64,
    /// Whether the transaction under way is beyond the number to discard.
    counts: bool,
    tally: Tally,
}

impl<T: Taker + Default> Seat<T> {
    /// Over a connection that has prepared its statements; `read` is what came after that.
    pub fn new(arm: u32, number: usize, socket: Socket, read: &[u8]) -> Result<Self, WireError> {
        let mut answer = Answer::<T>::default();
        answer.feed(read)?;
        Ok(Self {
            arm,
            number,
            socket,
            answer,
            block: Status::Idle,
            begun_ns: 0,
            sent_ns: 0,
            counts: false,
            tally: Tally::default(),
        })
    }
}

impl<T: Taker> Seat<T> {
    /// Reads once; the end of the answer, if it came.
    #[inline]
    fn receive<P>(&mut self, desk: &mut Desk<'_, P>) -> Result<Option<Status>, Failure> {
        match self.socket.receive(desk.incoming, Wait::No) {
            Ok(0) => Err(self.closed()),
            Ok(bytes) => match self.answer.feed(&desk.incoming[..bytes]) {
                Ok(Some(status)) => Ok(Some(status)),
                Ok(None) => {
                    // A server could send an answer a byte at a time for ever.
                    self.check_limit(desk)?;
                    Ok(None)
                }
                Err(error) => Err(self.nonsense(&error)),
            },
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(self.world(&error)),
        }
    }

    /// For a client that awaits an answer.
    fn check_limit<P>(&self, desk: &Desk<'_, P>) -> Result<(), Failure> {
        let limit = desk.slice.plan.statement_limit;
        let waited = clock::now_ns().saturating_sub(desk.times.waiting_since(self.sent_ns));
        if u128::from(waited) <= limit.as_nanos() {
            return Ok(());
        }
        let (arm, number, seconds) = (self.arm, self.number, limit.as_secs_f64());
        Err(Failure::server(format!("arm {arm} gave client {number} no answer for {seconds} s in a slice")))
    }

    /// Whether the slice has room for another transaction.
    #[inline]
    fn may_start<P>(&self, desk: &Desk<'_, P>, now: u64) -> bool {
        let times = &desk.times;
        let in_time = times.end_ns.is_none_or(|end_ns| now < end_ns);
        in_time && self.tally.counted() < times.count_max && desk.slice.goes_on()
    }

    /// Begins a transaction. As in pgbench its time starts here: what is computed before the first
    /// statement is part of it.
    #[inline]
    fn start<P>(&mut self, desk: &Desk<'_, P>, now: u64) {
        self.counts = self.tally.discarded >= desk.times.discard;
        self.begun_ns = now;
    }

    /// Whether what ends now is counted. Asked at the end and not at the beginning: a stall that
    /// begins in the discarded time and outlasts it must be seen.
    #[inline]
    fn counts_at<P>(&self, desk: &Desk<'_, P>, now: u64) -> bool {
        self.counts && now >= desk.times.count_from_ns
    }

    /// Ends the transaction; whether it counts.
    #[inline]
    fn end<P>(&mut self, desk: &mut Desk<'_, P>, now: u64, ending: Ending) -> bool {
        if let Some(end_ns) = desk.times.end_ns {
            desk.drain_ns_max = desk.drain_ns_max.max(now.saturating_sub(end_ns));
        }
        if !self.counts_at(desk, now) {
            self.tally.discarded += 1;
            return false;
        }
        if self.tally.counted() == 0 {
            self.tally.first_begun_ns = self.begun_ns;
        }
        self.tally.last_ended_ns = now;
        match ending {
            Ending::Done => {
                self.tally.transactions += 1;
                desk.recorder.transaction(now - self.begun_ns);
            }
            Ending::Failed => self.tally.failed += 1,
        }
        true
    }

    /// A statement is far smaller than a socket's buffer, which is empty here: once is enough but
    /// for giant ones.
    #[inline]
    fn send<P>(&mut self, desk: &Desk<'_, P>) -> Result<(), Failure> {
        let mut bytes: &[u8] = desk.outgoing;
        while !bytes.is_empty() {
            match self.socket.send(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    desk.slice.check()?;
                    self.check_limit(desk)?;
                }
                Err(error) => return Err(self.world(&error)),
            }
        }
        Ok(())
    }

    fn send_rollback<P>(&mut self, desk: &mut Desk<'_, P>) -> Result<(), Failure> {
        desk.outgoing.clear();
        desk.outgoing.extend_from_slice(&frontend::query("ROLLBACK"));
        self.sent_ns = clock::now_ns();
        self.send(desk)
    }

    /// After a rollback: fails if it was refused.
    fn check_rollback(&mut self) -> Result<(), Failure> {
        if self.answer.has_error() || self.block != Status::Idle {
            let said = self.answer.take_error();
            return Err(self.refused("a rollback", said));
        }
        Ok(())
    }

    fn unasked(&self) -> Failure {
        Failure::server(format!("arm {} sent client {} an answer that nobody asked for", self.arm, self.number))
    }

    fn refused(&self, what: &str, said: Option<Box<ServerError>>) -> Failure {
        let what = format!("arm {} refused {what} of client {} in a slice", self.arm, self.number);
        Failure::Server { what, said }
    }

    fn closed(&mut self) -> Failure {
        let what = format!("arm {} closed the connection of client {} in a slice", self.arm, self.number);
        Failure::Server { what, said: self.answer.take_error() }
    }

    fn nonsense(&self, error: &WireError) -> Failure {
        Failure::server(format!("arm {} spoke nonsense to client {} in a slice: {error}", self.arm, self.number))
    }

    fn world(&self, error: &io::Error) -> Failure {
        Failure::world(&format!("the connection of client {} to arm {}", self.number, self.arm), error)
    }
}

impl<T> Drop for Seat<T> {
    fn drop(&mut self) {
        // Polite only: the server notices a closed socket too.
        let _ = connect::close(&mut self.socket);
    }
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Done,
    Failed,
}

/// A serialization failure or a deadlock is a normal end of a transaction; nothing else is.
fn is_conflict(error: &ServerError) -> bool {
    matches!(error.sqlstate.as_str(), "40001" | "40P01")
}
