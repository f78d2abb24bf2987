//! Transactions second by second, for slices that may last longer than one.

const EVERY_NS: u64 = 1_000_000_000;

/// Seconds are counted from where the slice began, transactions by when they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seconds(Vec<Second>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Second {
    pub transactions: u64,
    pub sum_ns: u64,
}

impl Second {
    pub fn mean_ns(&self) -> Option<f64> {
        (self.transactions > 0).then(|| self.sum_ns as f64 / self.transactions as f64)
    }
}

impl Seconds {
    /// `ended_ns`: after the slice's start. `ns`: how long it took.
    #[inline]
    pub fn record(&mut self, ended_ns: u64, ns: u64) {
        let second = (ended_ns / EVERY_NS) as usize;
        if second >= self.0.len() {
            self.0.resize(second + 1, Second::default());
        }
        self.0[second].transactions += 1;
        self.0[second].sum_ns += ns;
    }

    /// Takes those of `other` and leaves it empty, its memory kept.
    pub fn absorb(&mut self, other: &mut Seconds) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), Second::default());
        }
        for (own, others) in self.0.iter_mut().zip(&other.0) {
            own.transactions += others.transactions;
            own.sum_ns += others.sum_ns;
        }
        other.clear();
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// From the first to the last in which a transaction ended.
    pub fn all(&self) -> &[Second] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up_second_by_second() {
        let (mut one, mut other) = (Seconds::default(), Seconds::default());
        one.record(0, 10);
        one.record(EVERY_NS - 1, 20);
        other.record(2 * EVERY_NS, 7);
        other.record(5, 30);
        one.absorb(&mut other);
        let counted: Vec<_> = one.all().iter().map(|second| (second.transactions, second.mean_ns())).collect();
        assert_eq!(counted, [(3, Some(20.0)), (0, None), (1, Some(7.0))]);
        assert!(other.all().is_empty());
        other.absorb(&mut one);
        assert_eq!(other.all().len(), 3);
    }
}
