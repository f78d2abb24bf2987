//! Options as they come, one after the other.

use super::checks::{INT_MAX, check_steps, need_files, unsigned, whole};
use super::keys;
use crate::drive::clock;
use crate::drive::connection::Said;
use crate::drive::pgbench::rate_plan::RatePlan;
use crate::drive::pgbench::settings::Mode;
use crate::drive::pgbench::voice;
use crate::drive::transport::EventLoop;
use crate::faces::pgbench::number::leading_double;
use crate::faces::pgbench::{builtin, fatal};
use crate::generate::pgbench::PartitionMethod;
use crate::script::compile::Compiler;
use crate::script::program::Dialect;
use crate::script::value::Value;
use std::{env, process};

pub(super) struct Reading {
    pub(super) said: Said,
    pub(super) database: Option<String>,
    pub(super) compiler: Compiler,
    pub(super) variables: Vec<(String, Value)>,
    pub(super) seed: u64,
    pub(super) uses_builtin: bool,
    pub(super) initializes: bool,
    pub(super) steps: Option<String>,
    pub(super) foreign_keys: bool,
    pub(super) no_vacuum: bool,
    pub(super) vacuum_all: bool,
    pub(super) scale: Option<u32>,
    pub(super) fillfactor: u32,
    pub(super) partitions: u32,
    pub(super) method: Option<PartitionMethod>,
    pub(super) tablespace: Option<String>,
    pub(super) index_tablespace: Option<String>,
    pub(super) unlogged: bool,
    pub(super) quiet: bool,
    pub(super) mode: Mode,
    pub(super) event_loop: Option<EventLoop>,
    pub(super) binary_parameters: bool,
    pub(super) clients: usize,
    pub(super) threads: usize,
    pub(super) transactions: u64,
    pub(super) duration_s: u64,
    pub(super) reconnects: bool,
    pub(super) throttle_us: f64,
    pub(super) latency_limit_us: i64,
    pub(super) tries_max: u32,
    pub(super) progress_s: u64,
    pub(super) progress_timestamp: bool,
    pub(super) per_command: bool,
    pub(super) failures_detailed: bool,
    pub(super) verbose_errors: bool,
    pub(super) exit_on_abort: bool,
    pub(super) logs: bool,
    pub(super) log_prefix: Option<String>,
    pub(super) sampling_rate: f64,
    pub(super) aggregate_s: i64,
    pub(super) percentiles: bool,
    pub(super) json: Option<String>,
    pub(super) hdr_log: Option<String>,
    pub(super) warm_up_s: u64,
    pub(super) rate_plan: Option<RatePlan>,
    pub(super) think_us: f64,
    pub(super) benchmark_option: bool,
    pub(super) initialize_option: bool,
}

impl Reading {
    pub(super) fn new() -> Self {
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
            event_loop: None,
            binary_parameters: false,
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
            percentiles: false,
            json: None,
            hdr_log: None,
            warm_up_s: 0,
            rate_plan: None,
            think_us: 0.0,
            benchmark_option: false,
            initialize_option: false,
        };
        let seed = env::var("PGBENCH_RANDOM_SEED").ok();
        if !reading.set_seed(seed.as_deref()) {
            fatal("error while setting random seed from PGBENCH_RANDOM_SEED environment variable");
        }
        reading
    }

    pub(super) fn take(&mut self, key: char, value: &str) {
        match key {
            'F'
            | 'I'
            | 'q'
            | keys::UNLOGGED_TABLES
            | keys::TABLESPACE
            | keys::INDEX_TABLESPACE
            | keys::FOREIGN_KEYS
            | keys::PARTITIONS
            | keys::PARTITION_METHOD => {
                self.initialize_option = true;
                self.take_for_initializing(key, value);
            }
            'd' => self.database = Some(value.to_owned()),
            'h' => self.said.host = Some(value.to_owned()),
            'i' => self.initializes = true,
            // pgbench has no use for it with -i; here it loads side by side.
            'j' => self.threads = whole(value, "-j/--jobs", 1, INT_MAX) as usize,
            'n' => self.no_vacuum = true,
            'p' => self.said.port = Some(value.to_owned()),
            's' => self.scale = Some(whole(value, "-s/--scale", 1, INT_MAX) as u32),
            'U' => self.said.user = Some(value.to_owned()),
            keys::DEBUG => voice::set_debugging(),
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
            keys::UNLOGGED_TABLES => self.unlogged = true,
            keys::TABLESPACE => self.tablespace = Some(value.to_owned()),
            keys::INDEX_TABLESPACE => self.index_tablespace = Some(value.to_owned()),
            keys::FOREIGN_KEYS => self.foreign_keys = true,
            keys::PARTITIONS => self.partitions = whole(value, "--partitions", 0, INT_MAX) as u32,
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
            keys::SHOW_SCRIPT => {
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
            keys::SAMPLING_RATE => {
                self.sampling_rate = leading_double(value);
                if self.sampling_rate <= 0.0 || self.sampling_rate > 1.0 {
                    fatal(format_args!("invalid sampling rate: \"{value}\""));
                }
            }
            keys::AGGREGATE_INTERVAL => self.aggregate_s = whole(value, "--aggregate-interval", 1, INT_MAX),
            keys::PROGRESS_TIMESTAMP => self.progress_timestamp = true,
            keys::LOG_PREFIX => self.log_prefix = Some(value.to_owned()),
            keys::RANDOM_SEED => {
                if !self.set_seed(Some(value)) {
                    fatal("error while setting random seed from --random-seed option");
                }
            }
            keys::FAILURES_DETAILED => self.failures_detailed = true,
            keys::MAX_TRIES => {
                let tries = leading_double(value).trunc();
                if tries < 0.0 {
                    fatal(format_args!("invalid number of maximum tries: \"{value}\""));
                }
                self.tries_max = tries as u32;
            }
            keys::VERBOSE_ERRORS => self.verbose_errors = true,
            keys::EXIT_ON_ABORT => self.exit_on_abort = true,
            keys::PERCENTILES => self.percentiles = true,
            keys::JSON => self.json = Some(value.to_owned()),
            keys::HDR_LOG => self.hdr_log = Some(value.to_owned()),
            keys::WARM_UP => self.warm_up_s = whole(value, "--warm-up", 1, INT_MAX) as u64,
            keys::RATE_PLAN => match RatePlan::read(value) {
                Some(plan) => self.rate_plan = Some(plan),
                None => {
                    voice::error(format_args!("invalid rate plan: \"{value}\""));
                    voice::hint("Write SECONDS@RATE or SECONDS@RATE-RATE, separated by commas: 10@1000,20@1000-5000.");
                    process::exit(1)
                }
            },
            keys::BINARY_PARAMETERS => self.binary_parameters = true,
            keys::EVENT_LOOP => {
                self.event_loop = match value {
                    "auto" => None,
                    "epoll" => Some(EventLoop::Epoll),
                    "io_uring" => Some(EventLoop::IoUring),
                    _ => fatal(format_args!(
                        "invalid event loop, expecting \"auto\", \"epoll\" or \"io_uring\", got: \"{value}\""
                    )),
                };
            }
            keys::THINK_TIME => {
                let think_ms = leading_double(value);
                if think_ms <= 0.0 {
                    fatal(format_args!("invalid think time: \"{value}\""));
                }
                self.think_us = think_ms * 1000.0;
            }
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
}
