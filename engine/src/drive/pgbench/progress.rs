//! What happened since the last look, told every few seconds while clients work.

use super::settings::Settings;
use super::voice;
use crate::measure::counts::Counts;
use crate::script::value::fixed;
use std::fmt::Write as _;
use std::sync::Mutex;

/// The counts of every thread as they last told them.
#[derive(Debug)]
pub struct Board(Vec<Mutex<Counts>>);

impl Board {
    pub fn for_threads(threads: usize) -> Self {
        Self((0..threads).map(|_| Mutex::default()).collect())
    }

    /// Each thread has a lock of its own, which only the one that tells progress ever looks at too.
    pub fn put(&self, thread: usize, counts: &Counts) {
        *self.0[thread].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = *counts;
    }

    fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        for counts in &self.0 {
            sum.add(&counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        }
        sum
    }
}

#[derive(Debug)]
pub struct Progress {
    begun_us: i64,
    every_us: i64,
    last_us: i64,
    pub next_us: i64,
    last: Counts,
}

impl Progress {
    pub fn begin(every_s: u64, now_us: i64) -> Self {
        let every_us = every_s as i64 * 1_000_000;
        Self { begun_us: now_us, every_us, last_us: now_us, next_us: now_us + every_us, last: Counts::default() }
    }

    pub fn tell(&mut self, board: &Board, settings: &Settings, now_us: i64) {
        if now_us < self.next_us {
            return;
        }
        let counts = board.sum();
        voice::raw(&self.line(&counts, settings, now_us));
        (self.last, self.last_us) = (counts, now_us);
        // What was missed while everything stood still is not made up for.
        while self.next_us <= now_us {
            self.next_us += self.every_us;
        }
    }

    fn line(&self, counts: &Counts, settings: &Settings, now_us: i64) -> String {
        let done = counts.done - self.last.done;
        let (mut latency, mut deviation, mut lag) = (0.0, 0.0, 0.0);
        if done > 0 {
            let per = |now: f64, last: f64| (now - last) / done as f64;
            latency = 0.001 * per(counts.latency.sum, self.last.latency.sum);
            let squares = per(counts.latency.squares, self.last.latency.squares);
            deviation = 0.001 * (squares - 1_000_000.0 * latency * latency).sqrt();
            lag = 0.001 * per(counts.lag.sum, self.last.lag.sum);
        }
        let tps = 1_000_000.0 * done as f64 / (now_us - self.last_us) as f64;
        let time = match settings.progress_timestamp {
            true => format!("{:.3} s", 0.000_001 * (now_us + settings.epoch_shift_us) as f64),
            false => format!("{:.1} s", (now_us - self.begun_us) as f64 / 1_000_000.0),
        };
        let failed = counts.failures() - self.last.failures();
        // Squares of doubles may add up to less than nothing.
        let deviation = fixed(deviation, 3);
        let mut line =
            format!("progress: {time}, {tps:.1} tps, lat {latency:.3} ms stddev {deviation}, {failed} failed");
        let mut add = |text: String| line.write_str(&text).expect("a String takes all");
        if settings.throttle_us.is_some() {
            add(format!(", lag {lag:.3} ms"));
            if settings.latency_limit_us.is_some() {
                add(format!(", {} skipped", counts.skipped - self.last.skipped));
            }
        }
        if settings.tries_max != 1 {
            let (retried, retries) = (counts.retried - self.last.retried, counts.retries - self.last.retries);
            add(format!(", {retried} retried, {retries} retries"));
        }
        line
    }
}
