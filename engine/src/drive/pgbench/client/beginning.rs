//! How transactions begin: which script, when, and what a client does before.

use super::{Client, Desk, Now, Phase, Trouble, now_us};
use crate::drive::pgbench::voice;

impl Client {
    pub(super) fn choose_script(&mut self, desk: &mut Desk<'_>) -> Phase {
        self.script = desk.program.choose(&mut desk.choice);
        (self.trouble, self.tries) = (Trouble::None, 1);
        if voice::debugging() {
            let name = &desk.program.scripts[self.script].name;
            voice::debug(format_args!("client {} executing script \"{name}\"", self.number));
        }
        match desk.settings.throttle_us {
            _ if desk.over.is_set() => Phase::Finished,
            Some(_) => Phase::Schedule,
            None => Phase::Begin,
        }
    }

    /// When the next transaction is to begin. `None`: that one was skipped, and another is drawn.
    pub(super) fn schedule(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Option<Phase> {
        let mean = desk.settings.throttle_us.expect("only throttled clients have a schedule");
        desk.draw_due(mean);
        self.scheduled_us = desk.trigger_us;
        if let Some(limit) = desk.settings.latency_limit_us
            && desk.trigger_us < now.us() - limit
        {
            self.count_transaction(desk, now, true);
            let all = desk.settings.transactions > 0 && self.count >= desk.settings.transactions;
            if desk.over.is_set() || all {
                return Some(Phase::Finished);
            }
            return None;
        }
        let beyond = desk.end_us.is_some_and(|end| self.scheduled_us > end);
        Some(if beyond { Phase::Finished } else { Phase::Throttled })
    }

    /// What a client does between its transactions: mostly nothing.
    pub(super) fn think(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        let Some(mean_us) = desk.settings.think_us else { return Phase::ChooseScript };
        // As the TPC's benchmarks draw it, exponential and at most ten times the mean.
        let thinks_us = desk.throttle.poisson(mean_us).min((10.0 * mean_us) as i64);
        let until_us = now.us() + thinks_us;
        if desk.end_us.is_some_and(|end_us| until_us > end_us) { Phase::Finished } else { Phase::Thinking { until_us } }
    }

    pub(super) fn begin(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        let mut begun = now.us();
        if !desk.transport.has(self.place) {
            let connected = self.connect(desk.settings);
            if connected.is_none_or(|socket| desk.transport.adopt(self.place, socket).is_err()) {
                voice::error(format_args!("client {} aborted while establishing connection", self.number));
                return Phase::Aborted;
            }
            let connected = now_us();
            desk.connecting_us += connected - begun;
            (now.0, begun) = (Some(connected), connected);
        }
        // A retry draws the same numbers.
        self.functions_before = self.functions.clone();
        self.begun_us = begun;
        if desk.settings.throttle_us.is_none() {
            self.scheduled_us = begun;
        }
        (self.command, self.jumped, self.skips) = (0, false, false);
        Phase::StartCommand
    }
}
