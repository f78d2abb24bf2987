//! What is printed when a run is over, line by line as pgbench prints it.

use crate::drive::pgbench::run::Outcome;
use crate::drive::pgbench::settings::Settings;
use crate::generate::pgbench::PartitionMethod;
use crate::measure::counts::{Counts, Sums};
use crate::script::value::fixed;
use std::fmt::Write as _;

/// The tables of the built-in scripts.
#[derive(Debug, Clone, Copy)]
pub struct Tables {
    pub scale: i64,
    pub method: Option<PartitionMethod>,
    pub partitions: u64,
}

/// A report being written.
struct Report<'a> {
    settings: &'a Settings,
    text: String,
}

macro_rules! line {
    ($report:expr, $($argument:tt)*) => {
        writeln!($report.text, $($argument)*).expect("a String takes all")
    };
}

pub fn text(outcome: &Outcome, tables: &Tables) -> String {
    let mut report = Report { settings: &outcome.settings, text: String::new() };
    report.settings(outcome, tables);
    // What follows has no meaning where nothing was done.
    if outcome.counts.all() > 0 {
        report.totals(outcome);
        report.scripts(outcome);
    }
    report.text
}

fn percent(part: u64, whole: u64) -> String {
    fixed(100.0 * part as f64 / whole as f64, 3)
}

impl Report<'_> {
    fn settings(&mut self, outcome: &Outcome, tables: &Tables) {
        let (settings, scripts) = (self.settings, &outcome.program.scripts);
        let kind = if let [only] = &scripts[..] { only.name.as_str() } else { "multiple scripts" };
        line!(self, "transaction type: {kind}");
        line!(self, "scaling factor: {}", tables.scale);
        if let Some(method) = tables.method {
            line!(self, "partition method: {}", method.name());
            line!(self, "partitions: {}", tables.partitions);
        }
        line!(self, "query mode: {}", settings.mode.name());
        line!(self, "number of clients: {}", settings.clients);
        line!(self, "number of threads: {}", settings.threads);
        if settings.tries_max > 0 {
            line!(self, "maximum number of tries: {}", settings.tries_max);
        }
        let done = outcome.counts.done;
        match settings.duration_s {
            Some(seconds) => {
                line!(self, "duration: {seconds} s");
                line!(self, "number of transactions actually processed: {done}");
            }
            None => {
                line!(self, "number of transactions per client: {}", settings.transactions);
                let wanted = settings.transactions * settings.clients as u64;
                line!(self, "number of transactions actually processed: {done}/{wanted}");
            }
        }
    }

    fn totals(&mut self, outcome: &Outcome) {
        let (settings, counts) = (self.settings, &outcome.counts);
        let (all, failures) = (counts.all(), counts.failures());
        self.ends("", counts);
        let limit_us = settings.latency_limit_us;
        if let Some(limit_us) = limit_us {
            let share = if counts.done > 0 { percent(outcome.late, counts.done) } else { "0.000".to_owned() };
            let limit_ms = limit_us as f64 / 1000.0;
            line!(
                self,
                "number of transactions above the {limit_ms:.1} ms latency limit: {}/{} ({share}%)",
                outcome.late,
                counts.done
            );
        }
        if settings.throttle_us.is_some() || settings.progress_s.is_some() || limit_us.is_some() {
            self.sums("latency", &counts.latency);
        } else {
            // Nothing was timed: from the time of the whole run.
            let average_ms = 0.001 * outcome.duration_us as f64 * settings.clients as f64 / all as f64;
            let including = if failures > 0 { " (including failures)" } else { "" };
            line!(self, "latency average = {} ms{including}", fixed(average_ms, 3));
        }
        if settings.throttle_us.is_some() {
            let average_ms = 0.001 * counts.lag.sum / counts.done as f64;
            let (average, max) = (fixed(average_ms, 3), fixed(0.001 * counts.lag.max, 3));
            line!(self, "rate limit schedule lag: avg {average} (max {max}) ms");
        }
        let tps = fixed(counts.done as f64 / seconds(outcome), 6);
        if settings.reconnects {
            let average_ms = 0.001 * outcome.connecting_us as f64 / (counts.done + failures) as f64;
            line!(self, "average connection time = {} ms", fixed(average_ms, 3));
            line!(self, "tps = {tps} (including reconnection times)");
        } else {
            line!(self, "initial connection time = {} ms", fixed(0.001 * outcome.before_us as f64, 3));
            line!(self, "tps = {tps} (without initial connection time)");
        }
    }

    /// How transactions ended, as shares of all of them.
    fn ends(&mut self, prefix: &str, counts: &Counts) {
        let (settings, all, failures) = (self.settings, counts.all(), counts.failures());
        line!(self, "{prefix}number of failed transactions: {failures} ({}%)", percent(failures, all));
        if settings.failures_detailed {
            let (serialization, deadlock) = (counts.serialization_failures, counts.deadlock_failures);
            let share = percent(serialization, all);
            line!(self, "{prefix}number of serialization failures: {serialization} ({share}%)");
            line!(self, "{prefix}number of deadlock failures: {deadlock} ({}%)", percent(deadlock, all));
        }
        if settings.tries_max != 1 {
            let retried = counts.retried;
            line!(self, "{prefix}number of transactions retried: {retried} ({}%)", percent(retried, all));
            line!(self, "{prefix}total number of retries: {}", counts.retries);
        }
        if settings.throttle_us.is_some() && settings.latency_limit_us.is_some() {
            let skipped = counts.skipped;
            line!(self, "{prefix}number of transactions skipped: {skipped} ({}%)", percent(skipped, all));
        }
    }

    fn sums(&mut self, prefix: &str, sums: &Sums) {
        if sums.count == 0 {
            return;
        }
        let average = sums.sum / sums.count as f64;
        let deviation = (sums.squares / sums.count as f64 - average * average).sqrt();
        line!(self, "{prefix} average = {} ms", fixed(0.001 * average, 3));
        line!(self, "{prefix} stddev = {} ms", fixed(0.001 * deviation, 3));
    }

    fn scripts(&mut self, outcome: &Outcome) {
        let settings = self.settings;
        let program = &outcome.program;
        for (number, script) in program.scripts.iter().enumerate() {
            if settings.per_script {
                let counts = &outcome.script_counts[number];
                line!(self, "SQL script {}: {}", number + 1, script.name);
                let target = 100.0 * script.weight as f64 / program.weight() as f64;
                line!(self, " - weight: {} (targets {target:.1}% of total)", script.weight);
                let share = 100.0 * counts.all() as f64 / outcome.counts.all() as f64;
                line!(self, " - {} transactions ({share:.1}% of total)", counts.all());
                if counts.all() > 0 {
                    let tps = fixed(counts.done as f64 / seconds(outcome), 6);
                    line!(self, " - number of transactions actually processed: {} (tps = {tps})", counts.done);
                    self.ends(" - ", counts);
                }
                self.sums(" - latency", &counts.latency);
            }
            if settings.per_command {
                self.commands(outcome, number);
            }
        }
    }

    fn commands(&mut self, outcome: &Outcome, script: usize) {
        let (settings, commands) = (self.settings, &outcome.program.scripts[script].commands);
        let prefix = if settings.per_script { " - " } else { "" };
        let counted = if settings.tries_max == 1 { " and failures" } else { ", failures and retries" };
        line!(self, "{prefix}statement latencies in milliseconds{counted}:");
        for (command, counts) in commands.iter().zip(&outcome.command_counts[script]) {
            let average_ms = match counts.times.count {
                0 => 0.0,
                count => 1000.0 * counts.times.sum / count as f64,
            };
            let (average, failures, retries) = (fixed(average_ms, 3), counts.failures, counts.retries);
            match settings.tries_max {
                1 => line!(self, "   {average:>11}  {failures:>10} {}", command.first_line),
                _ => line!(self, "   {average:>11}  {failures:>10} {retries:>10} {}", command.first_line),
            }
        }
    }
}

fn seconds(outcome: &Outcome) -> f64 {
    0.000_001 * outcome.duration_us as f64
}
