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
        text += &format!("number of transactions that were due and not begun: {}\n", distributions.unsent);
    }
    if distributions.scripts.len() > 1 {
        for (number, times) in distributions.scripts.iter().enumerate() {
            text += &format!("SQL script {}: {}\n", number + 1, outcome.program.scripts[number].name);
            text += &lines(" - ", times);
        }
    }
    text
}

fn lines(prefix: &str, times: &Times) -> String {
    let line = |name: &str, histogram: &Histogram| {
        let parts = QUANTILES.iter().map(|(quantile, q)| format!("{quantile} = {:.3}", ms(histogram.quantile_ns(*q))));
        let parts: Vec<String> = parts.collect();
        format!("{prefix}{name} in milliseconds: {}, max = {:.3}\n", parts.join(", "), ms(histogram.max_ns()))
    };
    line("response time (from when it was due)", &times.response)
        + &line("service time (from its beginning)", &times.service)
}

fn ms(ns: u64) -> f64 {
    ns as f64 * 1e-6
}
