//! Histograms of every second in HdrHistogram's own log format, which its tools read and plot.
//!
//! Two lines for each second in which a transaction ended, in nanoseconds: `response`, from when they were due, and
//! `service`, from when they began. Timestamps are seconds since the run began, which `BaseTime` says.

use crate::drive::pgbench::run::Outcome;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

const SECOND: Duration = Duration::from_secs(1);
/// The column of the largest value is for people: it is in milliseconds.
const NS_PER_MS: f64 = 1e6;

/// Takes the seconds out of the outcome.
pub fn write(path: &Path, outcome: &mut Outcome) -> Result<(), Box<dyn Error>> {
    let Some(intervals) = outcome.distributions.as_mut().and_then(|all| all.intervals.take()) else { return Ok(()) };
    let since_1970_us = outcome.begun_us + outcome.settings.epoch_shift_us;
    let begun = SystemTime::UNIX_EPOCH + Duration::from_micros(since_1970_us.max(0) as u64);
    let (mut file, mut serializer) = (BufWriter::new(File::create(path)?), V2DeflateSerializer::new());
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(concat!("by pgverdict-pgbench ", env!("CARGO_PKG_VERSION"), ", values in nanoseconds"))
        .with_start_time(begun)
        .with_base_time(begun)
        .with_max_value_divisor(NS_PER_MS)
        .begin_log_with(&mut file, &mut serializer)?;
    for (second, times) in intervals.seconds() {
        let at = Duration::from_secs(second.max(0) as u64);
        for (name, histogram) in [("response", &times.response), ("service", &times.service)] {
            log.write_histogram(histogram.inner(), at, SECOND, Tag::new(name)).map_err(|error| format!("{error:?}"))?;
        }
    }
    file.flush()?;
    Ok(())
}
