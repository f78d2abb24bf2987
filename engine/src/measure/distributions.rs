//! How long transactions took, in full: by script, from when they were to begin and from when they
//! began. Only the first shows what a server that stands still does to those who wait for it.

use super::histogram::Histogram;
use super::intervals::Intervals;

#[derive(Debug, Clone, Default)]
pub struct Times {
    /// From when the transaction was to begin.
    pub response: Histogram,
    /// From when it began.
    pub service: Histogram,
}

/// What is to be kept beside the times of scripts.
#[derive(Debug, Clone, Default)]
pub struct Detail {
    pub commands: bool,
    pub intervals: bool,
    /// Where each phase of the run ends, from where seconds are counted.
    pub phase_ends_us: Vec<i64>,
}

#[derive(Debug, Clone, Default)]
pub struct Distributions {
    pub scripts: Vec<Times>,
    /// By script and command: how long it took. Empty where commands are not told apart.
    pub commands: Vec<Vec<Option<Histogram>>>,
    /// How late those were that were given up before they began.
    pub skipped: Histogram,
    /// Transactions that were to begin before the end, and were not begun.
    pub unsent: u64,
    pub intervals: Option<Intervals>,
    /// How late clients began that had nothing else to wait for than their time: our own doing, or the host's.
    pub wakes: Histogram,
    /// By phase: when it ends, and the times of what was due in it.
    pub phases: Vec<(i64, Times)>,
}

impl Times {
    pub fn add(&mut self, other: &Times) {
        self.response.add(&other.response);
        self.service.add(&other.service);
    }
}

fn ns(us: i64) -> u64 {
    us.max(0) as u64 * 1000
}

impl Distributions {
    /// `commands`: how many each script has.
    pub fn new(commands: &[usize], detail: Detail) -> Self {
        let told = |count: &usize| vec![None; if detail.commands { *count } else { 0 }];
        Self {
            scripts: vec![Times::default(); commands.len()],
            commands: commands.iter().map(told).collect(),
            skipped: Histogram::new(),
            unsent: 0,
            intervals: detail.intervals.then(Intervals::default),
            wakes: Histogram::new(),
            phases: detail.phase_ends_us.into_iter().map(|end_us| (end_us, Times::default())).collect(),
        }
    }

    /// `ended_us`: from where seconds are counted.
    #[inline]
    pub fn record(&mut self, script: usize, response_us: i64, service_us: i64, ended_us: i64) {
        let (response_ns, service_ns) = (ns(response_us), ns(service_us));
        self.scripts[script].response.record_one(response_ns);
        self.scripts[script].service.record_one(service_ns);
        let due_us = ended_us - response_us;
        if let Some((_, times)) = self.phases.iter_mut().find(|(end_us, _)| due_us < *end_us) {
            times.response.record_one(response_ns);
            times.service.record_one(service_ns);
        }
        if let Some(intervals) = &mut self.intervals {
            intervals.record(ended_us, response_ns, service_ns);
        }
    }

    #[inline]
    pub fn record_command(&mut self, script: usize, command: usize, took_us: i64) {
        if let Some(times) = self.commands[script].get_mut(command) {
            times.get_or_insert_default().record_one(ns(took_us));
        }
    }

    /// A client that slept until its time began so late.
    pub fn wake(&mut self, late_us: i64) {
        self.wakes.record_one(ns(late_us));
    }

    /// A transaction was given up so late, before it began.
    pub fn skip(&mut self, late_us: i64) {
        self.skipped.record_one(ns(late_us));
    }

    pub fn add(&mut self, other: Distributions) {
        self.scripts.iter_mut().zip(&other.scripts).for_each(|(own, others)| own.add(others));
        for (own, others) in self.commands.iter_mut().zip(&other.commands) {
            for (own, other) in own.iter_mut().zip(others) {
                if let Some(other) = other {
                    own.get_or_insert_default().add(other);
                }
            }
        }
        self.skipped.add(&other.skipped);
        self.unsent += other.unsent;
        self.wakes.add(&other.wakes);
        for ((_, own), (_, others)) in self.phases.iter_mut().zip(&other.phases) {
            own.add(others);
        }
        if let (Some(own), Some(others)) = (&mut self.intervals, other.intervals) {
            own.add(others);
        }
    }

    /// Of all scripts together.
    pub fn total(&self) -> Times {
        let mut total = Times::default();
        self.scripts.iter().for_each(|script| total.add(script));
        total
    }

    /// How long whoever came had to wait for an answer, or for being turned away.
    pub fn arrivals(&self) -> Histogram {
        let mut arrivals = self.total().response;
        arrivals.add(&self.skipped);
        arrivals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        let detail = Detail { commands: true, intervals: true, phase_ends_us: vec![-450, 1000] };
        let part = || Distributions::new(&[1, 2], detail.clone());
        let mut parts = [part(), part()];
        for us in 1..=100 {
            let own = &mut parts[us as usize % 2];
            own.record(us as usize % 3 % 2, us * 10, us, us);
            own.record_command(1, 0, us);
        }
        parts[1].unsent = 3;
        parts[0].skip(5_000);
        let [mut all, other] = parts;
        all.add(other);
        let total = all.total();
        assert_eq!((total.response.count(), total.service.count(), all.unsent), (100, 100, 3));
        assert_eq!(total.service.max_ns() / 1000, 100);
        assert_eq!(total.response.quantile_ns(0.5) / 1000, 500);
        assert_eq!((all.arrivals().count(), all.arrivals().max_ns() / 1_000_000), (101, 5));
        assert!(all.commands[1][1].is_none());
        // Due at -9 us for every microsecond that it took.
        assert_eq!(all.phases.iter().map(|(_, times)| times.response.count()).collect::<Vec<_>>(), [50, 50]);
        assert_eq!(all.commands[1][0].as_ref().map(Histogram::count), Some(100));
    }

    #[test]
    fn commands_and_seconds_are_kept_where_asked_for_only() {
        let mut plain = Distributions::new(&[1], Detail::default());
        plain.record(0, 1, 1, 1);
        plain.record_command(0, 0, 1);
        assert!(plain.commands[0].is_empty() && plain.intervals.is_none());
    }
}
