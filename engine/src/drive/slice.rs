//! A slice: what is asked of the threads, what they share while it runs, what comes out.

use super::failure::Failure;
use super::gate::Gate;
use super::halt::Halt;
use crate::script::expression::Slot;
use crate::script::value::Value;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// From the slice's start.
    Duration(Duration),
    TransactionsPerClient(u64),
    /// Of a native program: until each of its players says that it is over.
    Program,
}

#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub arm: u32,
    pub seed: u64,
    pub bound: Amount,
    pub discard: Amount,
    /// How long a client may wait for an answer; see [`Times::waiting_since`].
    pub statement_limit: Duration,
}

/// A transaction that is asked for by name: which script it is, and values of variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub script: usize,
    pub variables: Vec<(Slot, Value)>,
}

/// Shared by the threads of one slice.
#[derive(Debug)]
pub struct Slice {
    pub plan: Plan,
    /// By client, its transactions in their order; `None`: each is drawn when it begins.
    pub tasks: Option<Vec<Vec<Task>>>,
    pub gate: Gate,
    pub halt: Halt,
    course: AtomicU8,
}

/// Whether the slice goes on. Later ones replace earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Course {
    GoOn,
    /// A script failed: transactions under way are completed, no new ones begun.
    WindDown,
    /// A server failed: its connections are dropped as they are.
    Abandon,
}

impl Slice {
    pub fn new(plan: Plan, tasks: Option<Vec<Vec<Task>>>, threads: usize, halt: &Halt) -> Self {
        let (gate, course) = (Gate::for_threads(threads), AtomicU8::new(Course::GoOn as u8));
        Self { plan, tasks, gate, halt: halt.clone(), course }
    }

    pub fn wind_down(&self) {
        self.course.fetch_max(Course::WindDown as u8, Ordering::Relaxed);
    }

    pub fn abandon(&self) {
        self.course.fetch_max(Course::Abandon as u8, Ordering::Relaxed);
    }

    #[inline]
    pub fn goes_on(&self) -> bool {
        self.course.load(Ordering::Relaxed) == Course::GoOn as u8 && !self.halt.is_set()
    }

    /// Fails where the connections are to be dropped at once.
    #[inline]
    pub fn check(&self) -> Result<(), Failure> {
        if self.halt.is_set() || self.course.load(Ordering::Relaxed) == Course::Abandon as u8 {
            return Err(Failure::Halted);
        }
        Ok(())
    }
}

/// The plan in readings of the clock, known when the slice has begun.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// No transaction begins from here on.
    pub end_ns: Option<u64>,
    /// What ends before is not counted.
    pub count_from_ns: u64,
    /// How many of each client's first transactions are not counted.
    pub discard: u64,
    /// How many each client counts at most.
    pub count_max: u64,
    /// From where seconds are counted; `None` where the slice is known to last no longer than one, as most are.
    seconds_from_ns: Option<u64>,
}

/// Slices that end by themselves within this time are one second, so to speak.
const SECOND: Duration = Duration::from_secs(1);

impl Times {
    pub fn of(plan: &Plan, begun_at_ns: u64) -> Self {
        let after = |duration: Duration| begun_at_ns.saturating_add(duration.as_nanos() as u64);
        let (end_ns, count_max) = match plan.bound {
            Amount::Duration(duration) => (Some(after(duration)), u64::MAX),
            Amount::TransactionsPerClient(count) => (None, count),
            Amount::Program => (None, u64::MAX),
        };
        let (count_from_ns, discard) = match plan.discard {
            Amount::Duration(duration) => (after(duration), 0),
            Amount::TransactionsPerClient(count) => (begun_at_ns, count),
            Amount::Program => (begun_at_ns, 0),
        };
        let short = matches!(plan.bound, Amount::Duration(duration) if duration <= SECOND);
        let seconds_from_ns = (!short).then_some(begun_at_ns);
        Self { end_ns, count_from_ns, discard, count_max, seconds_from_ns }
    }

    /// This reading of the clock after the slice's start, where its seconds are told.
    #[inline]
    pub fn in_seconds(&self, now: u64) -> Option<u64> {
        self.seconds_from_ns.map(|from_ns| now.saturating_sub(from_ns))
    }

    /// Since when an answer counts as waited for: in a slice with an end in time no answer need
    /// come before that end.
    pub fn waiting_since(&self, sent_ns: u64) -> u64 {
        self.end_ns.map_or(sent_ns, |end_ns| end_ns.max(sent_ns))
    }
}

/// What one client did in a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub transactions: u64,
    pub failed: u64,
    pub discarded: u64,
    pub first_begun_ns: u64,
    pub last_ended_ns: u64,
}

impl Tally {
    pub fn counted(&self) -> u64 {
        self.transactions + self.failed
    }

    pub fn executed(&self) -> u64 {
        self.counted() + self.discarded
    }

    pub fn busy_ns(&self) -> u64 {
        self.last_ended_ns - self.first_begun_ns
    }

    pub fn rate_hz(&self) -> f64 {
        match self.busy_ns() {
            0 => 0.0,
            busy_ns => self.transactions as f64 * 1e9 / busy_ns as f64,
        }
    }
}

/// What the clients of one thread, or of all, did in a slice. Their samples are in a recorder.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outcome {
    pub begun_at_ns: u64,
    pub ended_at_ns: u64,
    pub transactions: u64,
    pub failed: u64,
    pub discarded: u64,
    pub busy_ns: u64,
    pub rate_hz: f64,
    pub cpu_ns: u64,
    pub run_delay_ns: u64,
    pub begin_late_ns_max: u64,
    pub drain_ns_max: u64,
}

impl Outcome {
    pub fn add_client(&mut self, tally: &Tally) {
        self.transactions += tally.transactions;
        self.failed += tally.failed;
        self.discarded += tally.discarded;
        self.busy_ns += tally.busy_ns();
        self.rate_hz += tally.rate_hz();
    }

    /// Adds another thread's.
    pub fn add(&mut self, other: &Outcome) {
        self.begun_at_ns = other.begun_at_ns;
        self.ended_at_ns = self.ended_at_ns.max(other.ended_at_ns);
        self.transactions += other.transactions;
        self.failed += other.failed;
        self.discarded += other.discarded;
        self.busy_ns += other.busy_ns;
        self.rate_hz += other.rate_hz;
        self.cpu_ns += other.cpu_ns;
        self.run_delay_ns += other.run_delay_ns;
        self.begin_late_ns_max = self.begin_late_ns_max.max(other.begin_late_ns_max);
        self.drain_ns_max = self.drain_ns_max.max(other.drain_ns_max);
    }
}
