//! How long transactions took, in full: by script, from when they were to begin and from when they
//! began. Only the first shows what a server that stands still does to those who wait for it.

use super::histogram::Histogram;

#[derive(Debug, Clone, Default)]
pub struct Times {
    /// From when the transaction was to begin.
    pub response: Histogram,
    /// From when it began.
    pub service: Histogram,
}

#[derive(Debug, Clone, Default)]
pub struct Distributions {
    pub scripts: Vec<Times>,
    /// Transactions that were to begin before the end, and were not begun.
    pub unsent: u64,
}

impl Times {
    pub fn add(&mut self, other: &Times) {
        self.response.add(&other.response);
        self.service.add(&other.service);
    }
}

impl Distributions {
    pub fn for_scripts(count: usize) -> Self {
        Self { scripts: vec![Times::default(); count], unsent: 0 }
    }

    #[inline]
    pub fn record(&mut self, script: usize, response_us: i64, service_us: i64) {
        let ns = |us: i64| us.max(0) as u64 * 1000;
        self.scripts[script].response.record_one(ns(response_us));
        self.scripts[script].service.record_one(ns(service_us));
    }

    pub fn add(&mut self, other: &Distributions) {
        self.scripts.iter_mut().zip(&other.scripts).for_each(|(own, others)| own.add(others));
        self.unsent += other.unsent;
    }

    /// Of all scripts together.
    pub fn total(&self) -> Times {
        let mut total = Times::default();
        self.scripts.iter().for_each(|script| total.add(script));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        let mut parts = [Distributions::for_scripts(2), Distributions::for_scripts(2)];
        for us in 1..=100 {
            parts[us as usize % 2].record(us as usize % 3 % 2, us * 10, us);
        }
        parts[1].unsent = 3;
        let [mut all, other] = parts;
        all.add(&other);
        let total = all.total();
        assert_eq!((total.response.count(), total.service.count(), all.unsent), (100, 100, 3));
        assert_eq!(total.service.max_ns() / 1000, 100);
        assert_eq!(total.response.quantile_ns(0.5) / 1000, 500);
    }
}
