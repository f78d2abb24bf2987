//! What a run is asked to do.

use super::super::conversation::Conversation;
use super::rate_plan::RatePlan;
use crate::drive::transport::EventLoop;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Simple,
    Extended,
    Prepared,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Simple => "simple",
            Mode::Extended => "extended",
            Mode::Prepared => "prepared",
        }
    }
}

/// Opens a connection, or says why it cannot.
pub type Open = Box<dyn Fn() -> Option<Conversation> + Send + Sync>;

/// Times are microseconds.
pub struct Settings {
    pub clients: usize,
    pub threads: usize,
    pub mode: Mode,
    /// `None`: io_uring if it can be had, else epoll.
    pub event_loop: Option<EventLoop>,
    /// Numbers go as the server stores them, not as text. In prepared mode only.
    pub binary_parameters: bool,
    /// Of each client; 0: as many as fit into the duration.
    pub transactions: u64,
    pub duration_s: Option<u64>,
    /// A connection for every transaction.
    pub reconnects: bool,
    /// The mean time between transactions of one thread.
    pub throttle_us: Option<f64>,
    /// Instead of one rate for all the time; of one thread.
    pub rate_plan: Option<RatePlan>,
    /// Runs before anything is counted.
    pub warm_up_us: i64,
    /// The mean time that a client waits between transactions.
    pub think_us: Option<f64>,
    pub latency_limit_us: Option<i64>,
    /// 0: no limit.
    pub tries_max: u32,
    pub progress_s: Option<u64>,
    pub progress_timestamp: bool,
    pub per_script: bool,
    pub per_command: bool,
    pub failures_detailed: bool,
    pub verbose_errors: bool,
    pub exit_on_abort: bool,
    pub log: Option<LogSettings>,
    /// Whether to keep how long every transaction took.
    pub distributions: bool,
    /// And second by second.
    pub intervals: bool,
    /// What must be added to a reading of the clock for the time since 1970.
    pub epoch_shift_us: i64,
    pub open: Open,
}

#[derive(Debug, Clone)]
pub struct LogSettings {
    /// Before the number of the process.
    pub prefix: PathBuf,
    pub sampling_rate: Option<f64>,
    pub aggregate_s: Option<i64>,
}

impl Settings {
    /// When the run that begins now is over, its warm-up included; `None`: when all transactions are done.
    pub fn end_us(&self, begun_us: i64) -> Option<i64> {
        self.duration_s.map(|seconds| begun_us + self.warm_up_us + seconds as i64 * 1_000_000)
    }

    /// Whether the latency of every transaction is needed.
    pub fn is_detailed(&self) -> bool {
        let told = self.progress_s.is_some() || self.log.is_some() || self.per_script || self.distributions;
        told || self.throttle_us.is_some() || self.latency_limit_us.is_some()
    }
}
