//! What is to be done, made of all options together.

use super::reading::Reading;
use super::{BenchmarkPlan, InitializePlan, Job, Options};
use crate::drive::pgbench::settings::{LogSettings, Mode};
use crate::drive::pgbench::voice;
use crate::faces::pgbench::{fatal, refuse_script};
use crate::generate::pgbench::PartitionMethod;
use crate::script::compile::Compiler;
use crate::script::program::{Dialect, Program};
use crate::script::random::Prng;
use std::path::PathBuf;
use std::process;

/// Where neither a number nor a duration is given.
const TRANSACTIONS: u64 = 10;
const STEPS: &str = "dtgvp";

impl Reading {
    /// `surplus`: an argument that nobody wants.
    pub(super) fn finish(mut self, surplus: Option<String>) -> Options {
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
            jobs: self.threads,
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
        if let Some(plan) = &self.rate_plan {
            // Whole seconds, so that the report can say how long it was.
            self.duration_s = plan.seconds().ceil() as u64;
            self.throttle_us = f64::INFINITY;
        }
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
            event_loop: self.event_loop,
            binary_parameters: self.binary_parameters,
            clients: self.clients,
            threads,
            transactions: self.transactions,
            duration_s: some(self.duration_s),
            reconnects: self.reconnects,
            throttle_us: (self.throttle_us > 0.0).then_some(self.throttle_us * threads as f64),
            rate_plan: self.rate_plan,
            warm_up_us: self.warm_up_s as i64 * 1_000_000,
            think_us: (self.think_us > 0.0).then_some(self.think_us),
            latency_limit_us: (self.latency_limit_us > 0).then_some(self.latency_limit_us),
            tries_max: self.tries_max,
            progress_s: some(self.progress_s),
            progress_timestamp: self.progress_timestamp,
            per_command: self.per_command,
            failures_detailed: self.failures_detailed,
            verbose_errors: self.verbose_errors,
            exit_on_abort: self.exit_on_abort,
            log,
            percentiles: self.percentiles,
            json: self.json.map(PathBuf::from),
            hdr_log: self.hdr_log.map(PathBuf::from),
        }))
    }
}
