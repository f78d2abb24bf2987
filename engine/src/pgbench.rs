//! The engine in the place of pgbench: its options, its output, its exit codes.

use pgverdict_engine::faces::pgbench;
use std::process::ExitCode;

fn main() -> ExitCode {
    pgbench::main(std::env::args_os())
}
