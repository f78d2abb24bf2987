//! pgbench's options: what they mean, and which do not go together. What is wrong ends the process
//! in the order of the command line, as it does pgbench. [`reading`] takes them one by one,
//! [`checks`] looks at their values, [`plans`] makes of all together what is to be done.

mod checks;
mod plans;
mod reading;

use super::getopt::{Getopt, Given, Known};
use crate::drive::connection::Said;
use crate::drive::pgbench::rate_plan::RatePlan;
use crate::drive::pgbench::settings::{EventLoop, LogSettings, Mode};
use crate::drive::pgbench::voice;
use crate::generate::pgbench::PartitionMethod;
use crate::script::program::Program;
use crate::script::random::Prng;
use crate::script::value::Value;
use reading::Reading;
use std::path::PathBuf;
use std::process;

/// Everything a command line says.
pub struct Options {
    pub said: Said,
    pub database: Option<String>,
    pub job: Job,
}

pub enum Job {
    Initialize(InitializePlan),
    Benchmark(Box<BenchmarkPlan>),
}

#[derive(Debug, Clone)]
pub struct InitializePlan {
    pub steps: String,
    /// Connections that load the accounts.
    pub jobs: usize,
    pub scale: u32,
    pub fillfactor: u32,
    pub partitions: u32,
    pub method: Option<PartitionMethod>,
    pub tablespace: Option<String>,
    pub index_tablespace: Option<String>,
    pub unlogged: bool,
    pub quiet: bool,
}

pub struct BenchmarkPlan {
    pub program: Program,
    /// Given by `-D`, in order.
    pub variables: Vec<(String, Value)>,
    pub seed: u64,
    /// pgbench's base of all random numbers.
    pub seeds: Prng,
    pub uses_builtin: bool,
    pub scale: u32,
    pub scale_given: bool,
    pub vacuum: bool,
    pub vacuum_all: bool,
    pub mode: Mode,
    pub event_loop: Option<EventLoop>,
    pub binary_parameters: bool,
    pub clients: usize,
    pub threads: usize,
    pub transactions: u64,
    pub duration_s: Option<u64>,
    pub reconnects: bool,
    /// Between transactions of one thread.
    pub throttle_us: Option<f64>,
    /// Of all threads together.
    pub rate_plan: Option<RatePlan>,
    pub warm_up_us: i64,
    pub think_us: Option<f64>,
    pub latency_limit_us: Option<i64>,
    pub tries_max: u32,
    pub progress_s: Option<u64>,
    pub progress_timestamp: bool,
    pub per_command: bool,
    pub failures_detailed: bool,
    pub verbose_errors: bool,
    pub exit_on_abort: bool,
    pub log: Option<LogSettings>,
    pub percentiles: bool,
    /// Where the results go once more.
    pub json: Option<PathBuf>,
    /// Where histograms go, second by second.
    pub hdr_log: Option<PathBuf>,
}

const fn known(long: &'static str, key: char, has_value: bool) -> Known {
    Known { long, key, has_value, can_be_short: true }
}

/// Long options without a letter have a sign that no short option can be.
const KNOWN: [Known; 52] = [
    known("builtin", 'b', true),
    known("client", 'c', true),
    known("connect", 'C', false),
    known("dbname", 'd', true),
    known("define", 'D', true),
    known("file", 'f', true),
    known("fillfactor", 'F', true),
    known("host", 'h', true),
    known("initialize", 'i', false),
    known("init-steps", 'I', true),
    known("jobs", 'j', true),
    known("log", 'l', false),
    known("latency-limit", 'L', true),
    known("no-vacuum", 'n', false),
    known("port", 'p', true),
    known("progress", 'P', true),
    known("protocol", 'M', true),
    known("quiet", 'q', false),
    known("report-per-command", 'r', false),
    known("rate", 'R', true),
    known("scale", 's', true),
    known("select-only", 'S', false),
    known("skip-some-updates", 'N', false),
    known("time", 'T', true),
    known("transactions", 't', true),
    known("username", 'U', true),
    known("vacuum-all", 'v', false),
    known("unlogged-tables", '\x01', false),
    known("tablespace", '\x02', true),
    known("index-tablespace", '\x03', true),
    known("sampling-rate", '\x04', true),
    known("aggregate-interval", '\x05', true),
    known("progress-timestamp", '\x06', false),
    known("log-prefix", '\x07', true),
    known("foreign-keys", '\x08', false),
    known("random-seed", '\x09', true),
    known("show-script", '\x0a', true),
    known("partitions", '\x0b', true),
    known("partition-method", '\x0c', true),
    known("failures-detailed", '\x0d', false),
    known("max-tries", '\x0e', true),
    known("verbose-errors", '\x0f', false),
    known("exit-on-abort", '\x10', false),
    known("debug", '\x11', false),
    // pgbench has none of these.
    Known { long: "percentiles", key: '\x12', has_value: false, can_be_short: false },
    Known { long: "json", key: '\x13', has_value: true, can_be_short: false },
    Known { long: "hdr-log", key: '\x14', has_value: true, can_be_short: false },
    Known { long: "warm-up", key: '\x15', has_value: true, can_be_short: false },
    Known { long: "rate-plan", key: '\x16', has_value: true, can_be_short: false },
    Known { long: "think-time", key: '\x17', has_value: true, can_be_short: false },
    Known { long: "event-loop", key: '\x18', has_value: true, can_be_short: false },
    Known { long: "binary-parameters", key: '\x19', has_value: false, can_be_short: false },
];

/// `called`: how the program was called, which complaints about options begin with.
pub fn read(called: &str, arguments: Vec<String>) -> Options {
    let mut reading = Reading::new();
    let mut getopt = Getopt::new(called, &KNOWN, arguments);
    for option in getopt.by_ref() {
        match option {
            Ok(Given { key, value }) => reading.take(key, &value),
            Err(what) => {
                voice::raw(&what);
                voice::hint(format_args!("Try \"{} --help\" for more information.", voice::program()));
                process::exit(1)
            }
        }
    }
    let mut others = getopt.others.into_iter();
    if reading.database.is_none() {
        reading.database = others.next();
    }
    reading.finish(others.next())
}
