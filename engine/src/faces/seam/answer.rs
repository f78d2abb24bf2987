//! From what the engine measured to what the contract promises.

use super::message::{self, Engine, Kind, Latency, LoadedTable, SliceDone, StatementOfSlice, StatementOfTotals};
use super::request;
use crate::drive::failure::Failure;
use crate::drive::load::Loaded;
use crate::drive::slice::{Amount, Outcome};
use crate::generate::pgbench::Table;
use crate::measure::moments::Moments;
use crate::measure::recorder::Recorder;
use crate::measure::summary::{Summary, percentiles};
use crate::measure::totals::Totals;
use crate::script::name_length;
use crate::script::value::{Scalar, Value};
use std::time::Duration;

pub fn amount(amount: request::Amount) -> Amount {
    match amount {
        request::Amount::DurationUs(us) => Amount::Duration(Duration::from_micros(us)),
        request::Amount::TransactionsPerClient(count) => Amount::TransactionsPerClient(count),
    }
}

pub fn table_name(table: Table) -> &'static str {
    match table {
        Table::Accounts => "pgbench_accounts",
        Table::Branches => "pgbench_branches",
        Table::Tellers => "pgbench_tellers",
    }
}

/// A variable of `setup`.
pub fn value(name: &str, value: &serde_json::Value) -> Result<Value, Failure> {
    if name.is_empty() || name_length(name.as_bytes()) != name.len() {
        return Err(Failure::Request(format!("invalid variable name: \"{name}\"")));
    }
    let refuse = |what| Err(Failure::Request(format!("variable \"{name}\" {what}")));
    match value {
        serde_json::Value::Null => Ok(Scalar::Null.into()),
        serde_json::Value::Bool(value) => Ok(Scalar::Boolean(*value).into()),
        serde_json::Value::String(text) if text.contains('\0') => refuse("contains a zero byte"),
        serde_json::Value::String(text) => Ok(Value::Text(text.as_str().into())),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Ok(Scalar::Integer(integer).into()),
            (None, Some(double)) if !number.is_u64() => Ok(Scalar::Double(double).into()),
            _ => refuse("is out of range for a bigint"),
        },
        serde_json::Value::Array(_) | serde_json::Value::Object(_) => refuse("is neither a number nor a text"),
    }
}

/// Reorders the samples.
pub fn slice_done(arm: u32, outcome: &Outcome, samples: &mut Recorder) -> SliceDone {
    let statements = samples.statements.iter_mut().enumerate().map(|(statement, samples)| {
        let moments = Moments::of(samples);
        StatementOfSlice {
            statement,
            count: moments.count,
            mean_ns: (moments.count > 0).then_some(moments.mean),
            p50_ns: (moments.count > 0).then(|| percentiles(samples, [0.5])[0]),
        }
    });
    SliceDone {
        arm,
        begun_at_ns: outcome.begun_at_ns,
        ended_at_ns: outcome.ended_at_ns,
        transactions: outcome.transactions,
        failed: outcome.failed,
        discarded: outcome.discarded,
        busy_ns: outcome.busy_ns,
        rate_hz: outcome.rate_hz,
        statements: statements.collect(),
        latency_ns: latency(&mut samples.transactions),
        engine: Engine {
            cpu_ns: outcome.cpu_ns,
            run_delay_ns: outcome.run_delay_ns,
            begin_late_ns_max: outcome.begin_late_ns_max,
            drain_ns_max: outcome.drain_ns_max,
        },
    }
}

/// Reorders the samples.
pub fn totals(arm: u32, totals: &mut Totals) -> message::Totals {
    let statements = totals.statements.iter().enumerate().map(|(statement, totals)| {
        let moments = &totals.moments;
        StatementOfTotals {
            statement,
            count: moments.count,
            mean_ns: (moments.count > 0).then_some(moments.mean),
            sd_ns: (moments.count > 0).then(|| moments.sd()),
            histogram: totals.histogram.text(),
        }
    });
    message::Totals {
        arm,
        slices: totals.slices,
        transactions: totals.transactions,
        failed: totals.failed,
        busy_ns: totals.busy_ns,
        statements: statements.collect(),
        latency_ns: latency(&mut totals.latencies),
        histogram: totals.histogram.text(),
    }
}

fn latency(samples: &mut [u64]) -> Option<Latency> {
    let Summary { min, mean, sd, p50, p95, p99, max } = Summary::of(samples)?;
    Some(Latency { min, mean, sd, p50, p95, p99, max })
}

pub fn loaded(loaded: &Loaded) -> LoadedTable {
    LoadedTable {
        rows_of: table_name(loaded.table),
        rows: loaded.rows,
        bytes: loaded.bytes,
        sha256: loaded.sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// `None`: nobody is there to be told.
pub fn error(request: &str, arm: Option<u32>, failure: Failure) -> Option<message::Error> {
    let what = failure.to_string();
    let (kind, said) = match failure {
        Failure::Request(_) => (Kind::Request, None),
        Failure::Server { said, .. } => (Kind::Server, said),
        Failure::World(_) => (Kind::World, None),
        Failure::Halted => return None,
    };
    let (sqlstate, detail) = said.map(|said| (said.sqlstate, said.message)).unzip();
    Some(message::Error { request: Some(request.to_owned()), kind, arm, what, sqlstate, detail })
}
