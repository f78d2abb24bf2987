//! Values of options, and which options do not go together.

use super::reading::Reading;
use crate::drive::dial::system_words;
use crate::drive::pgbench::settings::Mode;
use crate::drive::pgbench::voice;
use crate::drive::process as this_process;
use crate::drive::transport::EventLoop;
use crate::faces::pgbench::fatal;
use std::fmt::Display;
use std::process;

pub(super) const INT_MAX: i64 = i32::MAX as i64;
const ALL_STEPS: &str = "dtgGvpf";

impl Reading {
    pub(super) fn check_benchmark(&self) {
        let (duration, interval) = (self.duration_s as i64, self.aggregate_s);
        let samples = self.sampling_rate > 0.0;
        let planned = self.rate_plan.is_some();
        let refused: [(bool, &dyn Display); 14] = [
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
            (
                planned && (self.throttle_us > 0.0 || duration > 0 || self.transactions > 0 || self.warm_up_s > 0),
                &"a rate plan (--rate-plan) has its own rates and time: -R, -T, -t and --warm-up cannot be used with it",
            ),
            (self.warm_up_s > 0 && duration == 0, &"a warm-up (--warm-up) needs a duration (-T)"),
            (
                self.think_us > 0.0 && (planned || self.throttle_us > 0.0),
                &"think time (--think-time) is for clients that follow no rate (-R, --rate-plan)",
            ),
            (
                self.binary_parameters && self.mode != Mode::Prepared,
                &"--binary-parameters needs prepared statements (-M prepared)",
            ),
            (
                self.reconnects && self.event_loop == Some(EventLoop::IoUring),
                &"io_uring (--event-loop) cannot be used with a new connection for every transaction (-C)",
            ),
        ];
        if let Some((_, what)) = refused.iter().find(|(refuses, _)| *refuses) {
            fatal(what);
        }
    }
}

pub(super) fn check_steps(steps: &str) {
    if steps.is_empty() {
        fatal("no initialization steps specified");
    }
    if let Some(step) = steps.chars().find(|&step| step != ' ' && !ALL_STEPS.contains(step)) {
        voice::error(format_args!("unrecognized initialization step \"{step}\""));
        voice::detail(format_args!("Allowed step characters are: \"{ALL_STEPS}\"."));
        process::exit(1)
    }
}

pub(super) fn whole(text: &str, option: &str, min: i64, max: i64) -> i64 {
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
pub(super) fn unsigned(text: &str) -> Option<u64> {
    let text = text.trim_ascii_start();
    match text.strip_prefix('-') {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse().ok().map(u64::wrapping_neg),
        Some(_) => None,
        None => text.parse().ok(),
    }
}

/// A connection is an open file.
pub(super) fn need_files(clients: usize) {
    let needed = clients + 3;
    let what = match this_process::raise_file_limit_to(needed as u64) {
        Ok(limit) if limit >= needed as u64 => {
            // Logs and the lists of what is waited for are files too. pgbench does not ask for them.
            let _ = this_process::raise_file_limit();
            return;
        }
        Ok(limit) => format!("need at least {needed} open files, but system limit is {limit}"),
        Err(error) => {
            format!("need at least {needed} open files, but couldn't raise the limit: {}", system_words(&error))
        }
    };
    voice::error(what);
    voice::hint("Reduce number of clients, or use limit/ulimit to increase the system limit.");
    process::exit(1)
}
