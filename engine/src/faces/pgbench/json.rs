//! The results of a run for programs to read.

use super::PGBENCH_VERSION;
use super::percentiles::QUANTILES;
use super::report::Tables;
use crate::drive::pgbench::rate_plan::Phase;
use crate::drive::pgbench::run::Outcome;
use crate::measure::counts::{CommandCounts, Counts};
use crate::measure::distributions::Times;
use crate::measure::histogram::Histogram;
use serde_json::{Map, Value, json};

pub fn text(outcome: &Outcome, tables: &Tables) -> String {
    let settings = &outcome.settings;
    let mut value = json!({
        "pgbench": PGBENCH_VERSION,
        "pgverdict": env!("CARGO_PKG_VERSION"),
        "finished": outcome.finished,
        "scale": tables.scale,
        "partition_method": tables.method.map(|method| method.name()),
        "partitions": tables.partitions,
        "mode": settings.mode.name(),
        "clients": settings.clients,
        "threads": settings.threads,
        "event_loop": outcome.event_loop.name(),
        "tries_max": settings.tries_max,
        "duration_us": outcome.duration_us,
        "connecting_us": if settings.reconnects { outcome.connecting_us } else { outcome.before_us },
        "reconnects": settings.reconnects,
        "warm_up_us": settings.warm_up_us,
        "think_us": settings.think_us,
        "tps": rate_hz(outcome, outcome.counts.done),
        "scripts": (0..outcome.program.scripts.len()).map(|number| script(outcome, number)).collect::<Vec<_>>(),
    });
    let total = value.as_object_mut().expect("made as one");
    total.extend(counts(&outcome.counts));
    if settings.latency_limit_us.is_some() {
        total.insert("above_latency_limit".to_owned(), json!(outcome.late));
    }
    if let Some(distributions) = &outcome.distributions {
        total.extend(times(&distributions.total()));
        let (busy, delayed) = outcome.effort_shares();
        total.insert("client_busy".to_owned(), json!(busy));
        total.insert("client_delayed".to_owned(), json!(delayed));
        total.insert("begun_late_us".to_owned(), summary(&distributions.wakes));
        total.insert("phases".to_owned(), json!(phases(outcome)));
        if settings.throttle_us.is_some() {
            total.insert("due_and_not_begun".to_owned(), json!(distributions.unsent));
            total.insert("arrivals_us".to_owned(), summary(&distributions.arrivals()));
        }
    }
    serde_json::to_string_pretty(&value).expect("texts and numbers") + "\n"
}

/// Rates are those of all threads.
fn phases(outcome: &Outcome) -> Vec<Value> {
    let (Some(plan), Some(all)) = (&outcome.settings.rate_plan, &outcome.distributions) else { return Vec::new() };
    let threads = outcome.settings.threads as f64;
    let told = |(phase, (_, taken)): (&Phase, &(i64, Times))| {
        let rates = json!({
            "seconds": phase.seconds, "from_hz": phase.from_hz * threads, "to_hz": phase.to_hz * threads,
        });
        let Value::Object(mut object) = rates else { unreachable!("made as an object") };
        object.extend(times(taken));
        Value::Object(object)
    };
    plan.0.iter().zip(&all.phases).map(told).collect()
}

fn rate_hz(outcome: &Outcome, done: u64) -> f64 {
    done as f64 / (0.000_001 * outcome.duration_us as f64)
}

fn counts(counts: &Counts) -> Map<String, Value> {
    let value = json!({
        "transactions": counts.done,
        "skipped": counts.skipped,
        "retried": counts.retried,
        "retries": counts.retries,
        "serialization_failures": counts.serialization_failures,
        "deadlock_failures": counts.deadlock_failures,
    });
    let Value::Object(map) = value else { unreachable!("made as an object") };
    map
}

fn script(outcome: &Outcome, number: usize) -> Value {
    let script = &outcome.program.scripts[number];
    let mut value = json!({"name": script.name, "weight": script.weight});
    let object = value.as_object_mut().expect("made as one");
    // Of a single script pgbench keeps no counts of its own: they are the total's.
    let own = if outcome.settings.per_script { &outcome.script_counts[number] } else { &outcome.counts };
    object.insert("tps".to_owned(), json!(rate_hz(outcome, own.done)));
    object.extend(counts(own));
    if let Some(distributions) = &outcome.distributions {
        object.extend(times(&distributions.scripts[number]));
    }
    if outcome.settings.per_command {
        let commands = script.commands.iter().zip(&outcome.command_counts[number]).enumerate();
        let times = |at: usize| outcome.distributions.as_ref().and_then(|all| all.commands[number][at].as_ref());
        let commands: Vec<Value> =
            commands.map(|(at, (command, counts))| self::command(&command.first_line, counts, times(at))).collect();
        object.insert("commands".to_owned(), json!(commands));
    }
    value
}

fn command(text: &str, counts: &CommandCounts, taken: Option<&Histogram>) -> Value {
    let CommandCounts { times, retries, failures } = counts;
    let mean_us = (times.count > 0).then(|| 1e6 * times.sum / times.count as f64);
    json!({
        "text": text,
        "count": times.count,
        "mean_us": mean_us,
        "time_us": taken.map_or(Value::Null, summary),
        "retries": retries,
        "failures": failures,
    })
}

fn times(times: &Times) -> Map<String, Value> {
    let value = json!({"response_us": summary(&times.response), "service_us": summary(&times.service)});
    let Value::Object(map) = value else { unreachable!("made as an object") };
    map
}

/// In microseconds, and the whole histogram in nanoseconds.
fn summary(histogram: &Histogram) -> Value {
    if histogram.count() == 0 {
        return Value::Null;
    }
    let mut value = json!({
        "count": histogram.count(),
        "mean": histogram.mean_ns() * 1e-3,
        "max": histogram.max_ns() as f64 * 1e-3,
        "histogram": histogram.text(),
    });
    let object = value.as_object_mut().expect("made as one");
    object
        .extend(QUANTILES.iter().map(|(name, q)| ((*name).to_owned(), json!(histogram.quantile_ns(*q) as f64 * 1e-3))));
    value
}
