//! The engine as a child process: JSON lines on standard input and output.

use pgverdict_engine::drive::process;
use pgverdict_engine::faces::seam::session;
use std::io::{self, BufReader};
use std::process::ExitCode;

fn main() -> ExitCode {
    let prepared = process::die_with_parent().and_then(|()| process::raise_file_limit());
    match prepared.and_then(|()| session::run(BufReader::new(io::stdin()), io::stdout(), session::PATIENCE)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: the engine cannot go on: {error}");
            ExitCode::FAILURE
        }
    }
}
