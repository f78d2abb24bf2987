//! What pgbench counts of its transactions. Times are microseconds in floating point, sums of
//! squares included, so that what is printed agrees with pgbench to its last digit.

/// Of one kind of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    pub count: u64,
    pub min: f64,
    pub max: f64,
    pub sum: f64,
    pub squares: f64,
}

impl Sums {
    #[inline]
    pub fn record(&mut self, value: f64) {
        if self.count == 0 || value < self.min {
            self.min = value;
        }
        if self.count == 0 || value > self.max {
            self.max = value;
        }
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    pub fn add(&mut self, other: &Sums) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 || other.min < self.min {
            self.min = other.min;
        }
        if self.count == 0 || other.max > self.max {
            self.max = other.max;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }
}

/// How a transaction ended. One that was never begun has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Done,
    Serialization,
    Deadlock,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    pub done: u64,
    /// Too late to be begun.
    pub skipped: u64,
    pub retries: u64,
    /// Transactions with at least one retry.
    pub retried: u64,
    pub serialization_failures: u64,
    pub deadlock_failures: u64,
    /// From when it was to begin.
    pub latency: Sums,
    /// How late it began.
    pub lag: Sums,
}

impl Counts {
    pub fn failures(&self) -> u64 {
        self.serialization_failures + self.deadlock_failures
    }

    pub fn all(&self) -> u64 {
        self.done + self.skipped + self.failures()
    }

    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    /// `lag`: where there is a schedule.
    #[inline]
    pub fn end(&mut self, end: End, latency: f64, lag: Option<f64>, tries: u32) {
        if tries > 1 {
            self.retries += u64::from(tries - 1);
            self.retried += 1;
        }
        match end {
            End::Done => {
                self.done += 1;
                self.latency.record(latency);
                if let Some(lag) = lag {
                    self.lag.record(lag);
                }
            }
            End::Serialization => self.serialization_failures += 1,
            End::Deadlock => self.deadlock_failures += 1,
        }
    }

    pub fn add(&mut self, other: &Counts) {
        self.done += other.done;
        self.skipped += other.skipped;
        self.retries += other.retries;
        self.retried += other.retried;
        self.serialization_failures += other.serialization_failures;
        self.deadlock_failures += other.deadlock_failures;
        self.latency.add(&other.latency);
        self.lag.add(&other.lag);
    }
}

/// Of one command of a script.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CommandCounts {
    /// Seconds.
    pub times: Sums,
    pub retries: u64,
    pub failures: u64,
}

impl CommandCounts {
    pub fn add(&mut self, other: &CommandCounts) {
        self.times.add(&other.times);
        self.retries += other.retries;
        self.failures += other.failures;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        let mut whole = Counts::default();
        let mut parts = [Counts::default(); 2];
        for (number, latency) in [5.0, 3.0, 9.0].into_iter().enumerate() {
            whole.end(End::Done, latency, Some(1.0), 2);
            parts[number % 2].end(End::Done, latency, Some(1.0), 2);
        }
        whole.end(End::Deadlock, 0.0, None, 1);
        parts[1].end(End::Deadlock, 0.0, None, 1);
        let mut added = Counts::default();
        parts.iter().for_each(|part| added.add(part));
        assert_eq!(added, whole);
        assert_eq!((added.all(), added.failures(), added.retried, added.retries), (4, 1, 3, 3));
        assert_eq!((added.latency.min, added.latency.max, added.latency.squares), (3.0, 9.0, 115.0));
    }
}
