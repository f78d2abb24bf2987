//! The engine as pgbench: the same command line, the same scripts, the same words, and the same
//! exit codes, so that it can stand in pgbench's place.
//!
//! [`getopt`] reads a command line as the C library does and [`options`] what pgbench's mean;
//! [`initialize`] is `pgbench -i`, [`benchmark`] everything else, and [`report`] what it prints at the end.

pub mod benchmark;
pub mod builtin;
pub mod database;
pub mod getopt;
pub mod hdr_log;
pub mod initialize;
pub mod json;
pub mod number;
pub mod options;
pub mod percentiles;
pub mod prompt;
pub mod report;
pub mod usage;

use crate::drive::account;
use crate::drive::connection::{Connection, Said};
use crate::drive::pgbench::voice;
use crate::drive::process;
use crate::script::{ErrorContext, ScriptError};
use options::{Job, Options};
use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitCode, exit};

/// The release of pgbench whose behaviour this is.
pub const PGBENCH_VERSION: &str = "18.6";
pub const PGBENCH_VERSION_NUMBER: u32 = 180_006;

pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    process::end_with_reader();
    let mut arguments = arguments.map(|argument| {
        argument
            .into_string()
            .unwrap_or_else(|bytes| fatal(format_args!("an argument is not UTF-8: {}", bytes.display())))
    });
    let called = arguments.next().unwrap_or_else(|| "pgbench".to_owned());
    let program = Path::new(&called).file_name().map_or(called.clone(), |name| name.to_string_lossy().into_owned());
    voice::set_program(&program);
    let arguments: Vec<String> = arguments.collect();
    match arguments.first().map(String::as_str) {
        Some("--help" | "-?") => {
            print!("{}", usage::text(&program));
            return ExitCode::SUCCESS;
        }
        Some("--version" | "-V") => {
            println!("pgbench (PostgreSQL) {PGBENCH_VERSION} (pgverdict {})", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let Options { said, job, database } = options::read(&called, arguments);
    let said = Said { database: database_name(database), ..said };
    let settled = Connection::settle(&said, &program, voice::notice);
    let mut connection = settled.unwrap_or_else(|what| {
        voice::error(what);
        match job {
            Job::Initialize(_) => fatal("could not create connection for initialization"),
            Job::Benchmark(_) => fatal("could not create connection for setup"),
        }
    });
    match job {
        Job::Initialize(plan) => {
            initialize::initialize(&plan, &mut connection);
            ExitCode::SUCCESS
        }
        Job::Benchmark(plan) => benchmark::benchmark(*plan, connection),
    }
}

/// The database to connect to: as said, or as libpq's other programs choose it.
fn database_name(said: Option<String>) -> String {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let found = said.or_else(|| variable("PGDATABASE")).or_else(|| variable("PGUSER"));
    found.unwrap_or_else(|| account::own_name().unwrap_or_else(|what| fatal(what)))
}

/// Says it and ends the process.
pub fn fatal(what: impl std::fmt::Display) -> ! {
    voice::error(what);
    exit(1)
}

/// Says what is wrong with a script as pgbench does, and ends the process.
pub fn refuse_script(error: &ScriptError) -> ! {
    let ScriptError { script, line, what, about, .. } = error;
    let about = about.as_ref().map_or_else(String::new, |about| format!(" ({about})"));
    match &error.context {
        ErrorContext::Script => voice::error(format_args!("{script}:{line}: {what}{about}")),
        ErrorContext::Whole if what == "empty command list" => {
            voice::error(format_args!("{what} for script \"{script}\""))
        }
        ErrorContext::Whole => voice::error(what),
        ErrorContext::Condition { command } => {
            voice::error(format_args!("condition error in script \"{script}\" command {command}: {what}"));
        }
        ErrorContext::Meta { name, line, shown, pointed } => {
            let name = name.as_ref().map_or_else(String::new, |name| format!(" in command \"{name}\""));
            voice::error(format_args!("{script}:{line}: {what}{about}{name}"));
            if let Some(shown) = shown {
                voice::raw(shown);
                if let Some(column) = pointed {
                    voice::raw(&format!("{}^ error found here", " ".repeat(*column)));
                }
            }
        }
    }
    exit(1)
}
