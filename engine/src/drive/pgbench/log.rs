//! The log of transactions: a line for each, or a line for each interval.

use super::settings::{LogSettings, Settings};
use crate::drive::dial::system_words;
use crate::measure::counts::{Counts, End};
use crate::script::random::Prng;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process;

/// One transaction, or one that was skipped.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub client: usize,
    /// How many the client has counted, this one included.
    pub count: u64,
    /// `None`: it was skipped.
    pub end: Option<End>,
    pub latency_us: f64,
    pub lag_us: f64,
    pub script: usize,
    pub tries: u32,
}

pub struct Log {
    file: BufWriter<File>,
    path: PathBuf,
    sampling: Option<(f64, Prng)>,
    interval: Option<Interval>,
    format: Format,
}

struct Interval {
    seconds: i64,
    /// Microseconds since 1970.
    begun_us: i64,
    counts: Counts,
}

#[derive(Debug, Clone, Copy)]
struct Format {
    throttled: bool,
    limited: bool,
    retries: bool,
    failures_detailed: bool,
}

impl Log {
    /// The log of one thread, whose sampling draws from `prng`.
    pub fn open(settings: &Settings, log: &LogSettings, thread: usize, prng: Prng) -> Result<Self, String> {
        let mut path = log.prefix.clone().into_os_string();
        path.push(format!(".{}", process::id()));
        if thread > 0 {
            path.push(format!(".{thread}"));
        }
        let path = PathBuf::from(path);
        let file = File::create(&path)
            .map_err(|error| format!("could not open logfile \"{}\": {}", path.display(), system_words(&error)))?;
        let interval = log.aggregate_s.map(|seconds| Interval { seconds, begun_us: 0, counts: Counts::default() });
        let format = Format {
            throttled: settings.throttle_us.is_some(),
            limited: settings.latency_limit_us.is_some(),
            retries: settings.tries_max != 1,
            failures_detailed: settings.failures_detailed,
        };
        let sampling = log.sampling_rate.map(|rate| (rate, prng));
        Ok(Self { file: BufWriter::new(file), path, sampling, interval, format })
    }

    /// When the clients begin, since 1970.
    pub fn begin(&mut self, now_us: i64) {
        if let Some(interval) = &mut self.interval {
            interval.begun_us = now_us / 1_000_000 * 1_000_000;
        }
    }

    /// `now_us`: since 1970.
    pub fn write(&mut self, entry: &Entry, now_us: i64) {
        if let Some((rate, prng)) = &mut self.sampling
            && prng.fraction() > *rate
        {
            return;
        }
        match self.interval {
            Some(_) => self.aggregate(Some(entry), now_us),
            None => self.line(entry, now_us),
        }
    }

    /// Writes what is still kept.
    pub fn finish(mut self, now_us: i64) -> Result<(), String> {
        if self.interval.is_some() {
            self.aggregate(None, now_us);
        }
        let flushed = self.file.flush();
        flushed
            .map_err(|error| format!("could not write logfile \"{}\": {}", self.path.display(), system_words(&error)))
    }

    fn aggregate(&mut self, entry: Option<&Entry>, now_us: i64) {
        let Some(interval) = &mut self.interval else { return };
        // Intervals without a transaction have a line too.
        while interval.begun_us + interval.seconds * 1_000_000 <= now_us {
            let line = self.format.interval(interval.begun_us / 1_000_000, &interval.counts);
            let _ = self.file.write_all(line.as_bytes());
            interval.counts = Counts::default();
            interval.begun_us += interval.seconds * 1_000_000;
        }
        match entry {
            Some(Entry { end: None, .. }) => interval.counts.skip(),
            Some(Entry { end: Some(end), latency_us, lag_us, tries, .. }) => {
                let lag = self.format.throttled.then_some(*lag_us);
                interval.counts.end(*end, *latency_us, lag, *tries);
            }
            None => {}
        }
    }

    /// A full disk is told at the end, when the file is flushed.
    fn line(&mut self, entry: &Entry, now_us: i64) {
        let Entry { client, count, script, .. } = entry;
        let time = match (entry.end, self.format.failures_detailed) {
            (Some(End::Done), _) => format!("{:.0}", entry.latency_us),
            (None, _) => "skipped".to_owned(),
            (_, false) => "failed".to_owned(),
            (Some(End::Serialization), true) => "serialization".to_owned(),
            (Some(End::Deadlock), true) => "deadlock".to_owned(),
        };
        let (seconds, rest) = (now_us / 1_000_000, now_us % 1_000_000);
        let mut line = format!("{client} {count} {time} {script} {seconds} {rest}");
        if self.format.throttled {
            line += &format!(" {:.0}", entry.lag_us);
        }
        if self.format.retries {
            line += &format!(" {}", entry.tries - 1);
        }
        line.push('\n');
        let _ = self.file.write_all(line.as_bytes());
    }
}

impl Format {
    fn interval(&self, begun_s: i64, counts: &Counts) -> String {
        let none = Counts::default();
        let of = |told: bool| if told { counts } else { &none };
        let (latency, lag) = (&counts.latency, &of(self.throttled).lag);
        format!(
            "{begun_s} {} {:.0} {:.0} {:.0} {:.0} {:.0} {:.0} {:.0} {:.0} {} {} {} {} {}\n",
            counts.done,
            latency.sum,
            latency.squares,
            latency.min,
            latency.max,
            lag.sum,
            lag.squares,
            lag.min,
            lag.max,
            of(self.limited).skipped,
            of(self.retries).retried,
            of(self.retries).retries,
            of(self.failures_detailed).serialization_failures,
            of(self.failures_detailed).deadlock_failures,
        )
    }
}
