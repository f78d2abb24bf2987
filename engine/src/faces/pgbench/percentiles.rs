//! What pgbench does not report: the whole distribution of times, and what was never begun.

use crate::drive::pgbench::run::Outcome;
use crate::measure::distributions::Times;
use crate::measure::histogram::Histogram;

pub const QUANTILES: [(&str, f64); 5] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// Lines behind pgbench's own.
pub fn text(outcome: &Outcome) -> String {
    let Some(distributions) = &outcome.distributions else { return String::new() };
    let mut text = lines("", &distributions.total());
    if outcome.settings.throttle_us.is_some() {
        if outcome.settings.latency_limit_us.is_some() {
            text += &line("", "response time, or how late it was skipped,", &distributions.arrivals());
        }
        text += &format!("number of transactions that were due and not begun: {}\n", distributions.unsent);
    }
    if distributions.wakes.count() > 0 {
        text += &line("", "how late clients began that waited for their time only,", &distributions.wakes);
    }
    text += &efforts(outcome);
    for (number, (_, times)) in distributions.phases.iter().enumerate() {
        text += &format!("phase {} of the rate plan: {} transactions\n", number + 1, times.response.count());
        text += &lines(" - ", times);
    }
    for (number, times) in distributions.scripts.iter().enumerate() {
        let several = distributions.scripts.len() > 1;
        let script = &outcome.program.scripts[number];
        if several {
            text += &format!("SQL script {}: {}\n{}", number + 1, script.name, lines(" - ", times));
        }
        let commands = script.commands.iter().zip(&distributions.commands[number]);
        let told: Vec<_> = commands.filter_map(|(command, times)| Some((command, times.as_ref()?))).collect();
        if !told.is_empty() {
            let prefix = if several { " - " } else { "" };
            text += &format!("{prefix}command times in milliseconds, {}, max:\n", names());
        }
        for (command, times) in told {
            let quantiles = QUANTILES.iter().map(|(_, q)| times.quantile_ns(*q)).chain([times.max_ns()]);
            let columns: String = quantiles.map(|ns| format!(" {:10.3}", ms(ns))).collect();
            text += &format!("{columns}  {}\n", command.first_line);
        }
    }
    text
}

/// Whether more could have been asked of us; what that hides is the server's.
fn efforts(outcome: &Outcome) -> String {
    let (busy, delayed) = outcome.effort_shares();
    if outcome.efforts.is_empty() {
        return String::new();
    }
    format!("busiest client thread: {:.0}% of a core, and {:.0}% waiting for one\n", 100.0 * busy, 100.0 * delayed)
}

fn names() -> String {
    QUANTILES.map(|(name, _)| name).join(", ")
}

fn lines(prefix: &str, times: &Times) -> String {
    line(prefix, "response time (from when it was due)", &times.response)
        + &line(prefix, "service time (from its beginning)", &times.service)
}

fn line(prefix: &str, name: &str, histogram: &Histogram) -> String {
    let parts = QUANTILES.iter().map(|(quantile, q)| format!("{quantile} = {:.3}", ms(histogram.quantile_ns(*q))));
    let parts: Vec<String> = parts.collect();
    format!("{prefix}{name} in milliseconds: {}, max = {:.3}\n", parts.join(", "), ms(histogram.max_ns()))
}

fn ms(ns: u64) -> f64 {
    ns as f64 * 1e-6
}
