//! Times second by second, for logs of histograms.
//!
//! A full histogram for every second of a long run would not fit into memory; what was recorded in one does: a few
//! hundred values with their counts.

use super::distributions::Times;
use super::histogram::Histogram;
use std::collections::BTreeMap;

const EVERY_US: i64 = 1_000_000;

/// Values in nanoseconds with how often they were recorded.
type Recorded = Vec<(u64, u64)>;

/// What one thread saw. Seconds are counted from the same moment in all of them.
#[derive(Debug, Clone, Default)]
pub struct Intervals {
    second: i64,
    times: Times,
    kept: BTreeMap<i64, (Recorded, Recorded)>,
}

impl Intervals {
    /// `ended_us`: when the transaction was over, from where seconds are counted.
    #[inline]
    pub fn record(&mut self, ended_us: i64, response_ns: u64, service_ns: u64) {
        let second = ended_us.div_euclid(EVERY_US);
        if second != self.second {
            self.put_away();
            self.second = second;
        }
        self.times.response.record_one(response_ns);
        self.times.service.record_one(service_ns);
    }

    pub fn add(&mut self, mut other: Intervals) {
        self.put_away();
        other.put_away();
        for (second, (response, service)) in other.kept {
            let own = self.kept.entry(second).or_default();
            own.0.extend(response);
            own.1.extend(service);
        }
    }

    /// Every second in which something ended, with its times.
    pub fn seconds(mut self) -> impl Iterator<Item = (i64, Times)> {
        self.put_away();
        self.kept.into_iter().map(|(second, (response, service))| {
            (second, Times { response: Histogram::of(&response), service: Histogram::of(&service) })
        })
    }

    fn put_away(&mut self) {
        if self.times.response.count() > 0 {
            let own = self.kept.entry(self.second).or_default();
            own.0.extend(self.times.response.take());
            own.1.extend(self.times.service.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up_second_by_second() {
        let (mut one, mut other) = (Intervals::default(), Intervals::default());
        for ended_us in (0..3_000_000).step_by(100_000) {
            one.record(ended_us, 2_000, 1_000);
            other.record(ended_us + 1_000_000, 20_000, 10_000);
        }
        one.add(other);
        let seconds: Vec<_> = one.seconds().collect();
        let counted: Vec<_> = seconds.iter().map(|(second, times)| (*second, times.response.count())).collect();
        assert_eq!(counted, [(0, 10), (1, 20), (2, 20), (3, 10)]);
        assert_eq!(seconds[0].1.service.max_ns() / 1_000, 1);
        assert_eq!(seconds[3].1.response.max_ns() / 1_000, 20);
    }
}
