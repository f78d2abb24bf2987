//! pgbench's options: what they mean, and which do not go together. What is wrong ends the process
//! in the order of the command line, as it does pgbench.

use super::connection::Said;
use super::getopt::{Getopt, Given, Known};
use super::number::leading_double;
use super::{builtin, fatal, refuse_script};
use crate::drive::clock;
use crate::drive::dial::system_words;
use crate::drive::pgbench::settings::{LogSettings, Mode};
use crate::drive::pgbench::voice;
use crate::drive::process as this_process;
use crate::generate::pgbench::PartitionMethod;
use crate::script::program::{Compiler, Dialect, Program, Source};
use crate::script::random::Prng;
use crate::script::value::Value;
use std::fmt::Display;
use std::io::{self, Read};
use std::path::PathBuf;
use std::{env, fs, process};

const SCRIPTS_MAX: usize = 128;
const INT_MAX: i64 = i32::MAX as i64;
const TRANSACTIONS: u64 = 10;
const STEPS: &str = "dtgvp";
const ALL_STEPS: &str = "dtgGvpf";

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
    pub clients: usize,
    pub threads: usize,
    pub transactions: u64,
    pub duration_s: Option<u64>,
    pub reconnects: bool,
    /// Between transactions of one thread.
    pub throttle_us: Option<f64>,
    pub latency_limit_us: Option<i64>,
    pub tries_max: u32,
    pub progress_s: Option<u64>,
    pub progress_timestamp: bool,
    pub per_command: bool,
    pub failures_detailed: bool,
    pub verbose_errors: bool,
    pub exit_on_abort: bool,
    pub log: Option<LogSettings>,
}

const fn known(long: &'static str, key: char, has_value: bool) -> Known {
    Known { long, key, has_value }
}

/// Long options without a letter have a sign that no short option can be.
const KNOWN: [Known; 44] = [
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
];

struct Reading {
    said: Said,
    database: Option<String>,
    compiler: Compiler,
    variables: Vec<(String, Value)>,
    seed: u64,
    uses_builtin: bool,
    initializes: bool,
    steps: Option<String>,
    foreign_keys: bool,
    no_vacuum: bool,
    vacuum_all: bool,
    scale: Option<u32>,
    fillfactor: u32,
    partitions: u32,
    method: Option<PartitionMethod>,
    tablespace: Option<String>,
    index_tablespace: Option<String>,
    unlogged: bool,
    quiet: bool,
    mode: Mode,
    clients: usize,
    threads: usize,
    transactions: u64,
    duration_s: u64,
    reconnects: bool,
    throttle_us: f64,
    latency_limit_us: i64,
    tries_max: u32,
    progress_s: u64,
    progress_timestamp: bool,
    per_command: bool,
    failures_detailed: bool,
    verbose_errors: bool,
    exit_on_abort: bool,
    logs: bool,
    log_prefix: Option<String>,
    sampling_rate: f64,
    aggregate_s: i64,
    benchmark_option: bool,
    initialize_option: bool,
}

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

impl Reading {
    fn new() -> Self {
        let mut reading = Self {
            said: Said::default(),
            database: None,
            compiler: Compiler::new(Dialect::Pgbench),
            variables: Vec::new(),
            seed: 0,
            uses_builtin: false,
            initializes: false,
            steps: None,
            foreign_keys: false,
            no_vacuum: false,
            vacuum_all: false,
            scale: None,
            fillfactor: 100,
            partitions: 0,
            method: None,
            tablespace: None,
            index_tablespace: None,
            unlogged: false,
            quiet: false,
            mode: Mode::Simple,
            clients: 1,
            threads: 1,
            transactions: 0,
            duration_s: 0,
            reconnects: false,
            throttle_us: 0.0,
            latency_limit_us: 0,
            tries_max: 1,
            progress_s: 0,
            progress_timestamp: false,
            per_command: false,
            failures_detailed: false,
            verbose_errors: false,
            exit_on_abort: false,
            logs: false,
            log_prefix: None,
            sampling_rate: 0.0,
            aggregate_s: 0,
            benchmark_option: false,
            initialize_option: false,
        };
        let seed = env::var("PGBENCH_RANDOM_SEED").ok();
        if !reading.set_seed(seed.as_deref()) {
            fatal("error while setting random seed from PGBENCH_RANDOM_SEED environment variable");
        }
        reading
    }

    fn take(&mut self, key: char, value: &str) {
        match key {
            'F' | 'I' | 'q' | '\x01'..='\x03' | '\x08' | '\x0b' | '\x0c' => {
                self.initialize_option = true;
                self.take_for_initializing(key, value);
            }
            'd' => self.database = Some(value.to_owned()),
            'h' => self.said.host = Some(value.to_owned()),
            'i' => self.initializes = true,
            'n' => self.no_vacuum = true,
            'p' => self.said.port = Some(value.to_owned()),
            's' => self.scale = Some(whole(value, "-s/--scale", 1, INT_MAX) as u32),
            'U' => self.said.user = Some(value.to_owned()),
            '\x11' => voice::set_debugging(),
            _ => {
                self.benchmark_option = true;
                self.take_for_benchmarking(key, value);
            }
        }
    }

    fn take_for_initializing(&mut self, key: char, value: &str) {
        match key {
            'F' => self.fillfactor = whole(value, "-F/--fillfactor", 10, 100) as u32,
            'I' => {
                check_steps(value);
                self.steps = Some(value.to_owned());
            }
            'q' => self.quiet = true,
            '\x01' => self.unlogged = true,
            '\x02' => self.tablespace = Some(value.to_owned()),
            '\x03' => self.index_tablespace = Some(value.to_owned()),
            '\x08' => self.foreign_keys = true,
            '\x0b' => self.partitions = whole(value, "--partitions", 0, INT_MAX) as u32,
            _ => {
                self.method = Some(match value.to_ascii_lowercase().as_str() {
                    "range" => PartitionMethod::Range,
                    "hash" => PartitionMethod::Hash,
                    _ => fatal(format_args!(
                        "invalid partition method, expecting \"range\" or \"hash\", got: \"{value}\""
                    )),
                });
            }
        }
    }

    fn take_for_benchmarking(&mut self, key: char, value: &str) {
        match key {
            'b' if value == "list" => {
                builtin::list();
                process::exit(0)
            }
            'b' => {
                let (name, weight) = builtin::weighted(value);
                self.add_builtin(name, weight);
            }
            'f' => self.add_file(value),
            'N' => self.add_builtin("simple-update", 1),
            'S' => self.add_builtin("select-only", 1),
            '\x0a' => {
                let builtin::Builtin { name, description, script } = builtin::named(value);
                voice::raw(&format!("-- {name}: {description}\n{script}"));
                process::exit(0)
            }
            'c' => {
                self.clients = whole(value, "-c/--client", 1, INT_MAX) as usize;
                need_files(self.clients);
            }
            'C' => self.reconnects = true,
            'D' => self.define(value),
            'j' => self.threads = whole(value, "-j/--jobs", 1, INT_MAX) as usize,
            'l' => self.logs = true,
            'L' => {
                let limit_ms = leading_double(value);
                if limit_ms <= 0.0 {
                    fatal(format_args!("invalid latency limit: \"{value}\""));
                }
                self.latency_limit_us = (limit_ms * 1000.0) as i64;
            }
            'M' => {
                let modes = [Mode::Simple, Mode::Extended, Mode::Prepared];
                let found = modes.into_iter().find(|mode| mode.name() == value);
                self.mode = found.unwrap_or_else(|| fatal(format_args!("invalid query mode (-M): \"{value}\"")));
            }
            'P' => self.progress_s = whole(value, "-P/--progress", 1, INT_MAX) as u64,
            'r' => self.per_command = true,
            'R' => {
                let rate = leading_double(value);
                if rate <= 0.0 {
                    fatal(format_args!("invalid rate limit: \"{value}\""));
                }
                self.throttle_us = 1_000_000.0 / rate;
            }
            't' => self.transactions = whole(value, "-t/--transactions", 1, INT_MAX) as u64,
            'T' => self.duration_s = whole(value, "-T/--time", 1, INT_MAX) as u64,
            'v' => self.vacuum_all = true,
            '\x04' => {
                self.sampling_rate = leading_double(value);
                if self.sampling_rate <= 0.0 || self.sampling_rate > 1.0 {
                    fatal(format_args!("invalid sampling rate: \"{value}\""));
                }
            }
            '\x05' => self.aggregate_s = whole(value, "--aggregate-interval", 1, INT_MAX),
            '\x06' => self.progress_timestamp = true,
            '\x07' => self.log_prefix = Some(value.to_owned()),
            '\x09' => {
                if !self.set_seed(Some(value)) {
                    fatal("error while setting random seed from --random-seed option");
                }
            }
            '\x0d' => self.failures_detailed = true,
            '\x0e' => {
                let tries = leading_double(value).trunc();
                if tries < 0.0 {
                    fatal(format_args!("invalid number of maximum tries: \"{value}\""));
                }
                self.tries_max = tries as u32;
            }
            '\x0f' => self.verbose_errors = true,
            '\x10' => self.exit_on_abort = true,
            other => unreachable!("an option without a meaning: {other:?}"),
        }
    }

    /// `None`: from the time.
    fn set_seed(&mut self, seed: Option<&str>) -> bool {
        self.seed = match seed {
            None | Some("time") => clock::now_ns() / 1000,
            Some("rand") => {
                let mut bytes = [0; 8];
                // SAFETY: the pointer and the length are those of a live, writable array.
                let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
                if got != bytes.len() as isize {
                    voice::error("could not generate random seed");
                    return false;
                }
                u64::from_ne_bytes(bytes)
            }
            Some(text) => match unsigned(text) {
                Some(seed) => seed,
                None => {
                    voice::error(format_args!("unrecognized random seed option \"{text}\""));
                    voice::detail("Expecting an unsigned integer, \"time\" or \"rand\".");
                    return false;
                }
            },
        };
        if seed.is_some() {
            voice::info(format_args!("setting random seed to {}", self.seed));
        }
        true
    }

    fn add_builtin(&mut self, name: &str, weight: u32) {
        let builtin = builtin::named(name);
        self.add_script(builtin.description, weight, builtin.script.to_owned());
        self.uses_builtin = true;
    }

    fn add_file(&mut self, option: &str) {
        let (name, weight) = builtin::weighted(option);
        let mut bytes = Vec::new();
        let read = match name {
            "-" => io::stdin().lock().read_to_end(&mut bytes).map(drop),
            _ => match fs::File::open(name) {
                Ok(mut file) => file.read_to_end(&mut bytes).map(drop),
                Err(error) => fatal(format_args!("could not open file \"{name}\": {}", system_words(&error))),
            },
        };
        if let Err(error) = read {
            fatal(format_args!("could not read file \"{name}\": {}", system_words(&error)));
        }
        // As C does, which ends a text at its first zero byte.
        bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
        let text = String::from_utf8(bytes);
        let text = text.unwrap_or_else(|_| fatal(format_args!("file \"{name}\" is not UTF-8")));
        self.add_script(name, weight, text);
    }

    fn add_script(&mut self, name: &str, weight: u32, text: String) {
        let full = self.compiler.scripts() >= SCRIPTS_MAX;
        let added = self.compiler.add(&Source { name: name.to_owned(), weight, text });
        if let Err(error) = added {
            refuse_script(&error);
        }
        if full {
            fatal(format_args!("at most {SCRIPTS_MAX} SQL scripts are allowed"));
        }
    }

    fn define(&mut self, definition: &str) {
        let (name, value) = match definition.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => (name, value),
            _ => fatal(format_args!("invalid variable definition: \"{definition}\"")),
        };
        if crate::script::name_length(name.as_bytes()) != name.len() {
            fatal(format_args!("option: invalid variable name: \"{name}\""));
        }
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), Value::Text(value.into())));
    }

    /// `surplus`: an argument that nobody wants.
    fn finish(mut self, surplus: Option<String>) -> Options {
        if self.compiler.scripts() == 0 && !self.initializes {
            self.add_builtin("tpcb-like", 1);
            self.benchmark_option = true;
        }
        let numbered = self.mode != Mode::Simple;
        let compiler = std::mem::replace(&mut self.compiler, Compiler::new(Dialect::Pgbench));
        let program = compiler.finish(numbered).unwrap_or_else(|error| refuse_script(&error));
        if program.weight() == 0 && !self.initializes {
            fatal("total script weight must not be zero");
        }
        if let Some(surplus) = surplus {
            voice::error(format_args!("too many command-line arguments (first is \"{surplus}\")"));
            voice::hint(format_args!("Try \"{} --help\" for more information.", voice::program()));
            process::exit(1)
        }
        let (said, database) = (self.said.clone(), self.database.clone());
        let job = if self.initializes { Job::Initialize(self.initialize_plan()) } else { self.benchmark_plan(program) };
        Options { said, database, job }
    }

    fn initialize_plan(self) -> InitializePlan {
        if self.benchmark_option {
            fatal("some of the specified options cannot be used in initialization (-i) mode");
        }
        if self.partitions == 0 && self.method.is_some() {
            fatal("--partition-method requires greater than zero --partitions");
        }
        let method = self.method.or((self.partitions > 0).then_some(PartitionMethod::Range));
        let mut steps = self.steps.unwrap_or_else(|| STEPS.to_owned());
        if self.no_vacuum {
            steps = steps.replace('v', " ");
        }
        if self.foreign_keys && !steps.contains('f') {
            steps.push('f');
        }
        InitializePlan {
            steps,
            scale: self.scale.unwrap_or(1),
            fillfactor: self.fillfactor,
            partitions: self.partitions,
            method,
            tablespace: self.tablespace,
            index_tablespace: self.index_tablespace,
            unlogged: self.unlogged,
            quiet: self.quiet,
        }
    }

    fn benchmark_plan(mut self, program: Program) -> Job {
        if self.initialize_option {
            fatal("some of the specified options cannot be used in benchmarking mode");
        }
        self.check_benchmark();
        if self.transactions == 0 && self.duration_s == 0 {
            self.transactions = TRANSACTIONS;
        }
        let threads = self.threads.min(self.clients);
        let some = |value: u64| (value > 0).then_some(value);
        let log = self.logs.then(|| LogSettings {
            prefix: PathBuf::from(self.log_prefix.as_deref().unwrap_or("pgbench_log")),
            sampling_rate: (self.sampling_rate > 0.0).then_some(self.sampling_rate),
            aggregate_s: (self.aggregate_s > 0).then_some(self.aggregate_s),
        });
        Job::Benchmark(Box::new(BenchmarkPlan {
            program,
            variables: self.variables,
            seed: self.seed,
            seeds: Prng::seeded(self.seed),
            uses_builtin: self.uses_builtin,
            scale: self.scale.unwrap_or(1),
            scale_given: self.scale.is_some(),
            vacuum: !self.no_vacuum,
            vacuum_all: self.vacuum_all,
            mode: self.mode,
            clients: self.clients,
            threads,
            transactions: self.transactions,
            duration_s: some(self.duration_s),
            reconnects: self.reconnects,
            throttle_us: (self.throttle_us > 0.0).then_some(self.throttle_us * threads as f64),
            latency_limit_us: (self.latency_limit_us > 0).then_some(self.latency_limit_us),
            tries_max: self.tries_max,
            progress_s: some(self.progress_s),
            progress_timestamp: self.progress_timestamp,
            per_command: self.per_command,
            failures_detailed: self.failures_detailed,
            verbose_errors: self.verbose_errors,
            exit_on_abort: self.exit_on_abort,
            log,
        }))
    }

    fn check_benchmark(&self) {
        let (duration, interval) = (self.duration_s as i64, self.aggregate_s);
        let samples = self.sampling_rate > 0.0;
        let refused: [(bool, &dyn Display); 9] = [
            (
                self.transactions > 0 && duration > 0,
                &"specify either a number of transactions (-t) or a duration (-T), not both",
            ),
            (samples && !self.logs, &"log sampling (--sampling-rate) is allowed only when logging transactions (-l)"),
            (
                samples && interval > 0,
                &"log sampling (--sampling-rate) and aggregation (--aggregate-interval) cannot be used at the same time",
            ),
            (interval > 0 && !self.logs, &"log aggregation is allowed only when actually logging transactions"),
            (
                !self.logs && self.log_prefix.is_some(),
                &"log file prefix (--log-prefix) is allowed only when logging transactions (-l)",
            ),
            (
                duration > 0 && interval > duration,
                &format_args!(
                    "number of seconds for aggregation ({interval}) must not be higher than test duration ({duration})"
                ),
            ),
            (
                duration > 0 && interval > 0 && duration % interval.max(1) != 0,
                &format_args!("duration ({duration}) must be a multiple of aggregation interval ({interval})"),
            ),
            (self.progress_timestamp && self.progress_s == 0, &"--progress-timestamp is allowed only under --progress"),
            (
                self.tries_max == 0 && self.latency_limit_us == 0 && duration == 0,
                &"an unlimited number of transaction tries can only be used with --latency-limit or a duration (-T)",
            ),
        ];
        if let Some((_, what)) = refused.iter().find(|(refuses, _)| *refuses) {
            fatal(what);
        }
    }
}

fn check_steps(steps: &str) {
    if steps.is_empty() {
        fatal("no initialization steps specified");
    }
    if let Some(step) = steps.chars().find(|&step| step != ' ' && !ALL_STEPS.contains(step)) {
        voice::error(format_args!("unrecognized initialization step \"{step}\""));
        voice::detail(format_args!("Allowed step characters are: \"{ALL_STEPS}\"."));
        process::exit(1)
    }
}

fn whole(text: &str, option: &str, min: i64, max: i64) -> i64 {
    let digits = text.trim_ascii();
    let sign = usize::from(digits.starts_with(['+', '-']));
    if digits.len() == sign || !digits[sign..].bytes().all(|byte| byte.is_ascii_digit()) {
        fatal(format_args!("invalid value \"{text}\" for option {option}"));
    }
    match digits.parse().ok().filter(|value| (min..=max).contains(value)) {
        Some(value) => value,
        None => fatal(format_args!("{option} must be in range {min}..{max}")),
    }
}

/// As C's `%u` reads it: a sign wraps around.
fn unsigned(text: &str) -> Option<u64> {
    let text = text.trim_ascii_start();
    match text.strip_prefix('-') {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse().ok().map(u64::wrapping_neg),
        Some(_) => None,
        None => text.parse().ok(),
    }
}

/// A connection is an open file.
fn need_files(clients: usize) {
    let needed = clients + 3;
    let what = match this_process::raise_file_limit_to(needed as u64) {
        Ok(limit) if limit >= needed as u64 => return,
        Ok(limit) => format!("need at least {needed} open files, but system limit is {limit}"),
        Err(error) => {
            format!("need at least {needed} open files, but couldn't raise the limit: {}", system_words(&error))
        }
    };
    voice::error(what);
    voice::hint("Reduce number of clients, or use limit/ulimit to increase the system limit.");
    process::exit(1)
}
