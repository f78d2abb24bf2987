//! A whole run: threads, the time it may take, what it adds up to.

use super::client::{self, Client};
use super::effort::Effort;
use super::progress::Board;
use super::rate_plan::RatePlan;
use super::settings::Settings;
use super::worker::{self, Beginning, Done};
use crate::drive::halt::Halt;
use crate::drive::transport::EventLoop;
use crate::measure::counts::{CommandCounts, Counts};
use crate::measure::distributions::{Detail, Distributions};
use crate::script::program::Program;
use crate::script::random::Prng;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

/// What the threads of a run share.
pub struct Shared {
    pub settings: Settings,
    pub program: Program,
    pub barrier: Barrier,
    pub over: Halt,
    pub board: Board,
    pub begun_us: i64,
}

/// Why a run ends without results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing was done.
    Fatal(String),
    /// A client of this thread was aborted, and nobody wants to go on then.
    Aborted(usize),
}

/// What all threads did.
pub struct Outcome {
    pub settings: Settings,
    pub program: Program,
    pub counts: Counts,
    pub late: u64,
    pub distributions: Option<Distributions>,
    pub script_counts: Vec<Counts>,
    pub command_counts: Vec<Vec<CommandCounts>>,
    /// Spent with connecting, by all clients.
    pub connecting_us: i64,
    /// From the start of the threads to the start of the first transaction.
    pub before_us: i64,
    /// When the threads started; seconds are counted from there.
    pub begun_us: i64,
    /// From there to the end.
    pub duration_us: i64,
    /// Of every thread of which it is known.
    pub efforts: Vec<Effort>,
    /// Of the first thread; the others chose by the same rule.
    pub event_loop: EventLoop,
    /// Whether every client came to its end.
    pub finished: bool,
}

impl Outcome {
    /// Of the busiest thread: the share of the time it was on a core; and of the one that waited longest, waiting
    /// for one. The warm-up is in it.
    pub fn effort_shares(&self) -> (f64, f64) {
        let whole_us = self.duration_us + self.settings.warm_up_us;
        let shares: Vec<_> = self.efforts.iter().map(|effort| effort.shares(whole_us)).collect();
        let most = |pick: fn(&(f64, f64)) -> f64| shares.iter().map(pick).fold(0.0, f64::max);
        (most(|shares| shares.0), most(|shares| shares.1))
    }
}

/// `seeds`: what every source of random numbers is seeded from, in pgbench's order.
pub fn run(
    settings: Settings,
    program: Program,
    clients: Vec<Client>,
    seeds: &mut Prng,
    ended: fn(Trouble) -> !,
) -> Outcome {
    let threads = settings.threads;
    let beginnings = deal(&settings, clients, seeds);
    let begun_us = client::now_us();
    let over = Halt::default();
    end_after(&settings, &over);
    let shared = Arc::new(Shared {
        settings,
        program,
        barrier: Barrier::new(threads),
        over,
        board: Board::for_threads(threads),
        begun_us,
    });
    let mut beginnings = beginnings.into_iter();
    let first = beginnings.next().expect("there is at least one thread");
    let handles: Vec<_> = beginnings
        .map(|beginning| {
            let shared = Arc::clone(&shared);
            let name = format!("clients {}", beginning.number);
            // A thread in trouble ends the process at once: the others may wait for it.
            let work = move || worker::work(&shared, beginning).unwrap_or_else(|trouble| ended(trouble));
            thread::Builder::new()
                .name(name)
                .spawn(work)
                .unwrap_or_else(|error| ended(Trouble::Fatal(format!("could not create thread: {error}"))))
        })
        .collect();
    let mut done = vec![worker::work(&shared, first).unwrap_or_else(|trouble| ended(trouble))];
    for handle in handles {
        // A thread that panicked has said so already, and aborted where release builds do.
        done.push(handle.join().unwrap_or_else(|_| ended(Trouble::Fatal("a thread failed".to_owned()))));
    }
    let ended_us = client::now_us();
    let Ok(Shared { settings, program, begun_us, .. }) = Arc::try_unwrap(shared).map_err(|_| ()) else {
        unreachable!("all threads have ended");
    };
    add_up(settings, program, begun_us, ended_us, done)
}

/// Gives every thread its clients and its seeds.
fn deal(settings: &Settings, clients: Vec<Client>, seeds: &mut Prng) -> Vec<Beginning> {
    let mut clients = clients.into_iter();
    let mut dealt = 0;
    let mut seeded = || Prng::seeded(seeds.draw());
    let threads = 0..settings.threads;
    let beginnings = threads.map(|number| {
        let count = worker::clients_of(settings, number, dealt);
        dealt += count;
        let (choice, throttle, sampling) = (seeded(), seeded(), seeded());
        Beginning { number, clients: clients.by_ref().take(count).collect(), choice, throttle, sampling }
    });
    beginnings.collect()
}

fn end_after(settings: &Settings, over: &Halt) {
    let Some(after_us) = settings.end_us(0) else { return };
    let over = over.clone();
    let sleep = move || {
        thread::sleep(Duration::from_micros(after_us as u64));
        over.set();
    };
    thread::Builder::new().name("timer".to_owned()).spawn(sleep).expect("one more thread can be started");
}

/// Where times are to be kept, as the settings want them.
pub fn distributions(settings: &Settings, program: &Program) -> Distributions {
    let commands: Vec<usize> = program.scripts.iter().map(|script| script.commands.len()).collect();
    let phase_ends_us = settings.rate_plan.as_ref().map(RatePlan::ends_us).unwrap_or_default();
    let detail = Detail { commands: settings.per_command, intervals: settings.intervals, phase_ends_us };
    Distributions::new(&commands, detail)
}

fn add_up(settings: Settings, program: Program, begun_us: i64, ended_us: i64, done: Vec<Done>) -> Outcome {
    let warm_up_us = settings.warm_up_us;
    let first_us = done.iter().map(|done| done.begun_us).min().unwrap_or(ended_us);
    let mut outcome = Outcome {
        counts: Counts::default(),
        late: 0,
        distributions: settings.distributions.then(|| distributions(&settings, &program)),
        script_counts: vec![Counts::default(); program.scripts.len()],
        command_counts: program
            .scripts
            .iter()
            .map(|script| vec![CommandCounts::default(); script.commands.len()])
            .collect(),
        settings,
        program,
        connecting_us: 0,
        before_us: first_us - begun_us,
        begun_us,
        duration_us: ended_us - first_us - warm_up_us,
        efforts: Vec::new(),
        event_loop: done.first().map_or(EventLoop::Epoll, |part| part.event_loop),
        finished: true,
    };
    for part in done {
        outcome.counts.add(&part.counts);
        outcome.late += part.late;
        if let (Some(sum), Some(part)) = (&mut outcome.distributions, part.distributions) {
            sum.add(part);
        }
        outcome.connecting_us += part.connecting_us;
        outcome.efforts.extend(part.effort);
        outcome.finished &= part.finished;
        outcome.script_counts.iter_mut().zip(&part.script_counts).for_each(|(sum, part)| sum.add(part));
        for (sums, parts) in outcome.command_counts.iter_mut().zip(&part.command_counts) {
            sums.iter_mut().zip(parts).for_each(|(sum, part)| sum.add(part));
        }
    }
    outcome
}
