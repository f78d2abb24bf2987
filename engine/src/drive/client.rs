//! One client of one arm: a connection and what it does. [`script`] runs scripts, [`player`] what a
//! native program says; what they have in common is a [`Seat`].
//!
//! A client waits for exactly one answer at a time. Whoever hears of its socket tells it ([`Client::hear`]), and when the
//! answer is at its end lets it go on, as far as the next thing to send ([`Client::answered`]).

pub mod player;
pub mod script;

use super::clock;
use super::failure::Failure;
use super::slice::{Slice, Tally, Times};
use super::transport::{Heard, Transport};
use crate::measure::recorder::Recorder;
use crate::wire::answer::{Answer, Taker};
use crate::wire::backend::Status;
use crate::wire::{ServerError, WireError, frontend};
use std::io;

/// What the clients of one thread have in common while a slice runs.
pub struct Desk<'a, P> {
    /// What they do.
    pub part: &'a P,
    pub slice: &'a Slice,
    pub times: Times,
    pub recorder: &'a mut Recorder,
    /// Has the clients' sockets.
    pub transport: &'a mut Transport,
    /// Where messages are put together, kept from one to the next.
    pub outgoing: &'a mut Vec<u8>,
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

    /// Takes what is told of its socket; the end of the answer, if it came.
    fn hear(&mut self, heard: Heard<'_>) -> Result<Option<Status>, Failure>;

    /// Goes on after an answer.
    fn answered(&mut self, desk: &mut Desk<'_, Self::Part>, status: Status) -> Result<Turn, Failure>;

    /// After a pause.
    fn wake(&mut self, desk: &mut Desk<'_, Self::Part>) -> Result<Turn, Failure>;

    /// Fails if the server owes an answer for too long.
    fn check_limit(&self, desk: &Desk<'_, Self::Part>) -> Result<(), Failure>;

    fn tally(&self) -> &Tally;
}

/// A connection, its place among the clients, and the transaction under way.
#[derive(Debug)]
pub struct Seat<T> {
    arm: u32,
    number: usize,
    /// Of its socket in the transport.
    place: usize,
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
    pub fn new(arm: u32, number: usize, place: usize, read: &[u8]) -> Result<Self, WireError> {
        let mut answer = Answer::<T>::default();
        answer.feed(read)?;
        Ok(Self {
            arm,
            number,
            place,
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
    #[inline]
    fn hear(&mut self, heard: Heard<'_>) -> Result<Option<Status>, Failure> {
        match heard {
            Heard::Bytes(bytes) => self.answer.feed(bytes).map_err(|error| self.nonsense(&error)),
            Heard::Closed => Err(self.closed()),
            Heard::Unreadable(error) | Heard::Unsent(error) => Err(self.world(&error)),
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
                desk.recorder.transaction(now - self.begun_ns, desk.times.in_seconds(now));
            }
            Ending::Failed => self.tally.failed += 1,
        }
        true
    }

    /// Sends what was put together.
    #[inline]
    fn send<P>(&mut self, desk: &mut Desk<'_, P>) {
        desk.transport.send(self.place, desk.outgoing);
    }

    fn send_rollback<P>(&mut self, desk: &mut Desk<'_, P>) {
        desk.outgoing.clear();
        desk.outgoing.extend_from_slice(&frontend::query("ROLLBACK"));
        self.sent_ns = clock::now_ns();
        self.send(desk);
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
