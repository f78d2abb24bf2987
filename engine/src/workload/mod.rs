//! Native programs: workloads whose transactions are code of the engine, because scripts cannot say
//! them or say them slowly. No sockets here and no clock: a [`Player`] is asked what to send next and
//! shown what was answered.
//!
//! A family of programs is a file with a function such as `ycsb::open`, listed in [`open`]; its rows
//! are in [`crate::generate`].

pub mod insert_benchmark;
pub mod request;
pub mod spread;
pub mod sysbench;
pub mod tpcc;
pub mod ycsb;

use crate::parameters::Parameters;
use crate::script::random::{self, Prng};
use crate::wire::parameter::Form;
use crate::wire::rows::Rows;
use request::Request;
use std::sync::Arc;
use std::time::Duration;

/// A statement that is prepared on every connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sql {
    pub text: String,
    /// How each of `$1`, `$2` ... is sent: as text, or in the binary form of the type that the server
    /// takes it for, which is checked when the statement is prepared.
    pub parameters: Vec<Form>,
    /// Whether the player reads the rows. Others are skipped by length.
    pub keeps_rows: bool,
}

impl Sql {
    pub fn new(text: impl Into<String>, parameters: &[Form]) -> Self {
        Self { text: text.into(), parameters: parameters.to_vec(), keeps_rows: false }
    }

    pub fn keeping_rows(self) -> Self {
        Self { keeps_rows: true, ..self }
    }
}

/// Made once per setup from its parameters.
pub trait Workload: Send + Sync {
    /// Numbered from 0.
    fn statements(&self) -> &[Sql];

    /// The names of the kinds of transactions, numbered from 0.
    fn kinds(&self) -> &[&'static str];

    /// Whether the players say when a slice is over, so that it needs no other bound.
    fn ends(&self) -> bool {
        false
    }

    /// What is asked of a server once, when an arm is connected, before there are players.
    fn opening(&self) -> Option<&str> {
        None
    }

    /// The players of an arm's clients, in their order: one for each connection, as long as it lives.
    /// What they have to share they share among themselves. `opening`: the first row of the answer to
    /// [`Workload::opening`], empty where nothing is asked.
    fn players(&self, clients: usize, opening: &[Option<String>]) -> Result<Vec<Box<dyn Player>>, String>;
}

/// One client's part. Everything random comes from the seed, so that arms get the same.
pub trait Player: Send {
    /// Before a slice. The players of an arm are all reseeded between two slices.
    fn reseed(&mut self, seed: u64);

    /// Whether the next transaction may begin. Asked before every one of a slice, again when its time has
    /// come, and never while one is under way. `now_ns` and [`Ready::At`] are readings of one clock.
    fn ready(&mut self, now_ns: u64) -> Ready {
        let _ = now_ns;
        Ready::Now
    }

    /// How long to rest before the next transaction, which then begins: keying and think time.
    fn pause(&mut self) -> Duration {
        Duration::ZERO
    }

    /// Draws the next transaction; its kind.
    fn begin(&mut self) -> usize;

    /// When the transaction that was begun was due, where it had a time of its own: its latency counts from there, so
    /// that waiting for its turn behind a server that stood still is in it.
    fn due_ns(&self) -> Option<u64> {
        None
    }

    /// What comes next in the transaction, given the answer to what was sent before (none, and not to be
    /// looked at, at its beginning). An error means that the server's data are not what they should be:
    /// it ends the slice.
    fn next(&mut self, answer: &Rows, request: &mut Request<'_>) -> Result<Next, String>;

    /// Whether an error of this code is a normal end of a transaction, as serialization failures and
    /// deadlocks always are.
    fn expects(&self, sqlstate: &str) -> bool {
        let _ = sqlstate;
        false
    }

    /// The transaction met a serialization failure or a deadlock and was rolled back: whether to try it
    /// again, from its beginning, with the next [`Player::next`]. `tries`: how often it was tried so far.
    fn tries_again(&mut self, tries: u32) -> bool {
        let _ = tries;
        false
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    Now,
    /// To be asked again at this time: it is early, or another player is to be waited for.
    At(u64),
    /// The slice has no more work for the player.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// What was put into the request.
    Send,
    /// Nothing: the transaction is over, and no block is open.
    Done,
    /// As [`Next::Done`]; the transaction was rolled back because it was meant to be.
    RolledBack,
}

/// What a client's player draws from in a slice, by the formula of PROTOCOL.md.
pub fn prng(seed: u64, client: usize) -> Prng {
    let mut state = seed;
    Prng::seeded(random::splitmix64(&mut state) ^ (2 * client as u64))
}

/// The program of that name; what is wrong with the name or the parameters.
pub fn open(name: &str, parameters: &Parameters) -> Result<Arc<dyn Workload>, String> {
    let families: [fn(&str, &Parameters) -> Opened; 4] =
        [insert_benchmark::open, sysbench::open, tpcc::open, ycsb::open];
    match families.iter().find_map(|open| open(name, parameters)) {
        Some(opened) => opened.map_err(|what| format!("workload `{name}`: {what}")),
        None => Err(format!("unknown workload `{name}`")),
    }
}

/// What a family says to a program's name: `None`, it is not one of the family's.
pub type Opened = Option<Result<Arc<dyn Workload>, String>>;
