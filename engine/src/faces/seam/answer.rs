//! From what the engine measured to what the contract promises.

use super::message::{
    self, Engine, Kind, KindOfSlice, KindOfTotals, Latency, LoadedTable, Share, SliceDone, StatementOfSlice,
    StatementOfTotals,
};
use super::request;
use crate::drive::failure::Failure;
use crate::drive::load::Loaded;
use crate::drive::slice::{Amount, Outcome};
use crate::measure::moments::Moments;
use crate::measure::recorder::Recorder;
use crate::measure::seconds::{Second, Seconds};
use crate::measure::summary::{Summary, percentiles};
use crate::measure::totals::Totals;
use crate::parameters::{Given, Parameters};
use crate::script::name_length;
use crate::script::value::{Scalar, Value};
use std::collections::BTreeMap;
use std::time::Duration;

pub fn amount(amount: request::Amount) -> Amount {
    match amount {
        request::Amount::DurationUs(us) => Amount::Duration(Duration::from_micros(us)),
        request::Amount::TransactionsPerClient(count) => Amount::TransactionsPerClient(count),
        request::Amount::Program => Amount::Program,
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
        serde_json::Value::String(text) => Ok(Value::text(text.as_bytes())),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Ok(Scalar::Integer(integer).into()),
            (None, Some(double)) if !number.is_u64() => Ok(Scalar::Double(double).into()),
            _ => refuse("is out of range for a bigint"),
        },
        serde_json::Value::Array(_) | serde_json::Value::Object(_) => refuse("is neither a number nor a text"),
    }
}

/// Parameters of a native program or of rows.
pub fn parameters(given: BTreeMap<String, serde_json::Value>) -> Result<Parameters, Failure> {
    let given = given.into_iter().map(|(name, value)| {
        let given = match value {
            serde_json::Value::Bool(value) => Given::Boolean(value),
            serde_json::Value::String(text) => Given::Text(text),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Given::Integer(integer),
                (None, Some(double)) if !number.is_u64() => Given::Number(double),
                _ => return Err(Failure::Request(format!("parameter `{name}` is out of range: {number}"))),
            },
            other => {
                return Err(Failure::Request(format!("parameter `{name}` is neither a number nor a text: {other}")));
            }
        };
        Ok((name, given))
    });
    given.collect()
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
    let kinds = samples.kinds.iter_mut().enumerate().map(|(kind, samples)| {
        let moments = Moments::of(&samples.transactions);
        KindOfSlice {
            kind,
            count: moments.count,
            failed: samples.failed,
            rolled_back: samples.rolled_back,
            retried: samples.retried,
            mean_ns: (moments.count > 0).then_some(moments.mean),
            p50_ns: (moments.count > 0).then(|| percentiles(&mut samples.transactions, [0.5])[0]),
            seconds: seconds(&samples.seconds),
        }
    });
    let kinds: Vec<KindOfSlice> = kinds.collect();
    SliceDone {
        arm,
        begun_at_ns: outcome.begun_at_ns,
        ended_at_ns: outcome.ended_at_ns,
        transactions: outcome.transactions,
        failed: outcome.failed,
        discarded: outcome.discarded,
        busy_ns: outcome.busy_ns,
        rate_hz: outcome.rate_hz,
        rolled_back: kinds.iter().map(|kind| kind.rolled_back).sum(),
        retried: kinds.iter().map(|kind| kind.retried).sum(),
        statements: statements.collect(),
        kinds,
        latency_ns: latency(&mut samples.transactions),
        seconds: seconds(&samples.seconds),
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
    let kinds = totals.kinds.iter_mut().enumerate().map(|(kind, totals)| KindOfTotals {
        kind,
        count: totals.latencies.len() as u64,
        failed: totals.failed,
        rolled_back: totals.rolled_back,
        retried: totals.retried,
        latency_ns: latency(&mut totals.latencies),
        histogram: totals.histogram.text(),
    });
    let kinds: Vec<KindOfTotals> = kinds.collect();
    message::Totals {
        arm,
        slices: totals.slices,
        transactions: totals.transactions,
        failed: totals.failed,
        busy_ns: totals.busy_ns,
        rolled_back: kinds.iter().map(|kind| kind.rolled_back).sum(),
        retried: kinds.iter().map(|kind| kind.retried).sum(),
        statements: statements.collect(),
        kinds,
        latency_ns: latency(&mut totals.latencies),
        histogram: totals.histogram.text(),
    }
}

/// `None`: there is but one, or they were not told apart.
fn seconds(seconds: &Seconds) -> Option<message::Seconds> {
    let all = seconds.all();
    (all.len() > 1).then(|| message::Seconds {
        transactions: all.iter().map(|second| second.transactions).collect(),
        mean_ns: all.iter().map(Second::mean_ns).collect(),
    })
}

fn latency(samples: &mut [u64]) -> Option<Latency> {
    let Summary { min, mean, sd, p50, p95, p99, max } = Summary::of(samples)?;
    Some(Latency { min, mean, sd, p50, p95, p99, max })
}

pub fn loaded(loaded: &Loaded) -> LoadedTable {
    LoadedTable {
        rows_of: loaded.rows_of.clone(),
        share: Share { number: loaded.share.number, of: loaded.share.of },
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
