//! How transactions end: done, tried again, failed; and how they are counted.

use super::{Client, Desk, Now, Phase, Trouble, now_us};
use crate::drive::pgbench::log::Entry;
use crate::drive::pgbench::voice;
use crate::measure::counts::{Counts, End};
use crate::wire::backend::Status;
use crate::wire::frontend;

impl Client {
    /// After a serialization failure or a deadlock.
    pub(super) fn failed(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        (self.jumped, self.skips) = (false, false);
        if !self.piping {
            return self.after_error(desk, now);
        }
        // Everything up to this Sync is dropped by the server or already answered.
        self.sync();
        self.send_pipe(desk);
        Phase::Draining
    }

    pub(super) fn after_error(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        self.reply.error = None;
        if self.reply.status == Status::Idle {
            return self.retry_or_fail(desk, now);
        }
        self.reply.expect(1, None);
        desk.transport.send(self.place, &frontend::query("ROLLBACK"));
        Phase::RollingBack
    }

    pub(super) fn rolled_back(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        match self.reply.error.take() {
            None => self.retry_or_fail(desk, now),
            Some(error) => {
                let text = error.shown(Some("ROLLBACK"), true);
                voice::error(format_args!(
                    "client {} aborted while rolling back the transaction after an error; {text}",
                    self.number
                ));
                Phase::Aborted
            }
        }
    }

    pub(super) fn retry_or_fail(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        let settings = desk.settings;
        if desk.over.is_set() {
            return Phase::Finished;
        }
        let tried_enough = settings.tries_max > 0 && self.tries >= settings.tries_max;
        let too_late = settings.latency_limit_us.is_some_and(|limit| now.us() - self.scheduled_us > limit);
        if tried_enough || too_late { Phase::Failure } else { Phase::Retry }
    }

    pub(super) fn retry(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        if desk.settings.verbose_errors {
            self.tell_try(desk, now, "repeats the transaction after the error");
        }
        self.tries += 1;
        if self.begun_us >= desk.counted_from_us {
            desk.command_counts[self.script][self.command].retries += 1;
        }
        self.functions = self.functions_before.clone();
        (self.command, self.trouble) = (0, Trouble::None);
        Phase::StartCommand
    }

    pub(super) fn tell_try(&self, desk: &Desk<'_>, now: &mut Now, what: &str) {
        let mut text = format!("client {} {what} (try {}", self.number, self.tries);
        if desk.settings.tries_max > 0 {
            text += &format!("/{}", desk.settings.tries_max);
        }
        if let Some(limit) = desk.settings.latency_limit_us {
            let used = 100.0 * (now.us() - self.scheduled_us) as f64 / limit as f64;
            text += &format!(", {used:.3}% of the maximum time of tries was used");
        }
        voice::info(text + ")");
    }

    pub(super) fn end_transaction(&mut self, desk: &mut Desk<'_>, now: &mut Now) -> Phase {
        self.count_transaction(desk, now, false);
        if self.reply.status != Status::Idle {
            voice::error(format_args!(
                "client {} aborted: end of script reached without completing the last transaction",
                self.number
            ));
            return Phase::Aborted;
        }
        let settings = desk.settings;
        if settings.reconnects {
            let begun = now.us();
            desk.transport.close(self.place);
            let closed = now_us();
            now.0 = Some(closed);
            desk.connecting_us += closed - begun;
        }
        let all = settings.duration_s.is_none() && self.count >= settings.transactions;
        if all || desk.over.is_set() { Phase::Finished } else { Phase::ChooseScript }
    }

    pub(super) fn count_transaction(&mut self, desk: &mut Desk<'_>, now: &mut Now, skipped: bool) {
        let settings = desk.settings;
        let began_us = if skipped { self.scheduled_us } else { self.begun_us };
        if began_us < desk.counted_from_us {
            self.count += 1;
            return;
        }
        let end = match self.trouble {
            _ if skipped => None,
            Trouble::Serialization => Some(End::Serialization),
            Trouble::Deadlock => Some(End::Deadlock),
            Trouble::None | Trouble::Other => Some(End::Done),
        };
        let (mut latency, mut lag) = (0.0, 0.0);
        if end == Some(End::Done) && settings.is_detailed() {
            latency = (now.us() - self.scheduled_us) as f64;
            lag = (self.begun_us - self.scheduled_us) as f64;
        }
        let told_lag = settings.throttle_us.map(|_| lag);
        let count = |counts: &mut Counts| match end {
            None => counts.skip(),
            Some(end) => counts.end(end, latency, told_lag, self.tries),
        };
        count(&mut desk.counts);
        if settings.per_script {
            count(&mut desk.script_counts[self.script]);
        }
        if let Some(distributions) = &mut desk.distributions {
            let now_us = now.us();
            let since_due_us = now_us - self.scheduled_us;
            match end {
                Some(End::Done) => {
                    let service_us = now_us - self.begun_us;
                    distributions.record(self.script, since_due_us, service_us, now_us - desk.origin_us);
                }
                Some(_) => {}
                None => distributions.skip(since_due_us),
            }
        }
        if settings.latency_limit_us.is_some_and(|limit| latency > limit as f64) {
            desk.late += 1;
        }
        self.count += 1;
        if let Some(log) = &mut desk.log {
            let (client, script, count, tries) = (self.number, self.script, self.count, self.tries);
            let entry = Entry { client, count, end, latency_us: latency, lag_us: lag, script, tries };
            log.write(&entry, now_us() + settings.epoch_shift_us);
        }
    }
}
