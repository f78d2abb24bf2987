//! What the clients of one thread share while they work.

use super::log::Log;
use super::settings::Settings;
use crate::drive::halt::Halt;
use crate::drive::transport::Transport;
use crate::measure::counts::{CommandCounts, Counts};
use crate::measure::distributions::Distributions;
use crate::script::program::Program;
use crate::script::random::Prng;
use crate::script::value::Scalar;
use crate::wire::frontend::Execution;
use crate::wire::parameter::Form;

/// What the clients of one thread have in common.
pub struct Desk<'a> {
    pub settings: &'a Settings,
    pub program: &'a Program,
    /// By the number of the statement; none in simple mode.
    pub executions: &'a [Execution],
    /// In a pipeline.
    pub executions_piped: &'a [Execution],
    /// Of statements whose parameters' types are known, where numbers are sent in binary form.
    pub binaries: Vec<Option<Binary>>,
    /// The time of the run is over.
    pub over: &'a Halt,
    /// When the run began; seconds are counted from there.
    pub origin_us: i64,
    /// No transaction that is to begin after this is waited for.
    pub end_us: Option<i64>,

    pub choice: Prng,
    pub throttle: Prng,
    /// Nothing that began before is counted.
    pub counted_from_us: i64,
    /// When the last scheduled transaction was to begin.
    pub trigger_us: i64,

    pub counts: Counts,
    pub late: u64,
    pub distributions: Option<Distributions>,
    pub script_counts: Vec<Counts>,
    pub command_counts: Vec<Vec<CommandCounts>>,
    pub connecting_us: i64,
    pub log: Option<Log>,

    /// Has the clients' sockets.
    pub transport: Transport,
    pub outgoing: Vec<u8>,
    pub shown: Vec<Scalar>,
}

/// The execution of a statement with numbers in binary form.
pub struct Binary {
    pub forms: Vec<Form>,
    pub alone: Execution,
    pub piped: Execution,
}

impl Desk<'_> {
    /// Transactions that had to begin and will not.
    pub fn leave_unsent(&mut self, count: u64) {
        if let Some(distributions) = &mut self.distributions {
            distributions.unsent += count;
        }
    }

    /// Draws when the next transaction of the schedule is to begin.
    pub fn draw_due(&mut self, mean_us: f64) {
        match &self.settings.rate_plan {
            None => self.trigger_us += self.throttle.poisson(mean_us),
            Some(plan) => {
                let expected = self.throttle.poisson(1e9) as f64 * 1e-9;
                let next_s = plan.next_s(1e-6 * (self.trigger_us - self.origin_us) as f64, expected);
                // One that never comes is behind every end.
                self.trigger_us = if next_s.is_finite() { self.origin_us + (1e6 * next_s) as i64 } else { i64::MAX };
            }
        }
    }

    /// Counts what was still to come before the end, and was not even looked at.
    pub fn leave_the_rest(&mut self) {
        let (Some(mean_us), Some(end_us)) = (self.settings.throttle_us, self.end_us) else { return };
        while self.trigger_us <= end_us {
            self.draw_due(mean_us);
            self.leave_unsent(u64::from(self.trigger_us <= end_us));
        }
    }
}
