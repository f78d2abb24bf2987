//! pgbench's options: what they mean, and which do not go together. What is wrong ends the process
//! in the order of the command line, as it does pgbench. [`keys`] names them, [`reading`] takes them one by one
//! ([`scripts`]: those that say what clients run), [`checks`] looks at their values, [`plans`] makes of all together what
//! is to be done.

mod checks;
mod keys;
mod plans;
mod reading;
mod scripts;

use super::getopt::{Getopt, Given};
use crate::drive::connection::Said;
use crate::drive::pgbench::rate_plan::RatePlan;
use crate::drive::pgbench::settings::{LogSettings, Mode};
use crate::drive::pgbench::voice;
use crate::drive::transport::EventLoop;
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

/// `called`: how the program was called, which complaints about options begin with.
pub fn read(called: &str, arguments: Vec<String>) -> Options {
    let mut reading = Reading::new();
    let mut getopt = Getopt::new(called, &keys::KNOWN, arguments);
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
