//! What happened in a slice, in raw nanoseconds: one number per transaction and per statement.

use super::seconds::Seconds;

#[derive(Debug, Default)]
pub struct Recorder {
    pub transactions: Vec<u64>,
    /// The same second by second; empty where the slice is not to be told so.
    pub seconds: Seconds,
    /// By the number of the statement.
    pub statements: Vec<Vec<u64>>,
    /// By the number of the kind of transaction.
    pub kinds: Vec<KindSamples>,
}

/// The counted transactions of one kind.
#[derive(Debug, Default)]
pub struct KindSamples {
    /// Of those that were done.
    pub transactions: Vec<u64>,
    pub seconds: Seconds,
    pub failed: u64,
    /// Of those that were done: how many ended with a rollback because they were meant to.
    pub rolled_back: u64,
    /// How often they were begun again.
    pub retried: u64,
}

/// How many statements and kinds there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    pub statements: usize,
    pub kinds: usize,
}

/// Of all threads together: enough for a slice of 50 ms at any rate. Untouched pages cost nothing;
/// longer slices grow it once (the allocator remaps large blocks instead of copying them) and then
/// reuse it.
const SAMPLES_EXPECTED: usize = 1 << 16;

impl Recorder {
    /// For the share of one of `threads` in a slice.
    pub fn new(shape: Shape, threads: usize) -> Self {
        let samples = || Vec::with_capacity(SAMPLES_EXPECTED / threads);
        let kind = || KindSamples { transactions: samples(), ..KindSamples::default() };
        Self {
            transactions: samples(),
            seconds: Seconds::default(),
            statements: (0..shape.statements).map(|_| samples()).collect(),
            kinds: (0..shape.kinds).map(|_| kind()).collect(),
        }
    }

    /// `ended_ns`: when it ended, after the slice's start, where seconds are told.
    #[inline]
    pub fn transaction(&mut self, ns: u64, ended_ns: Option<u64>) {
        self.transactions.push(ns);
        if let Some(ended_ns) = ended_ns {
            self.seconds.record(ended_ns, ns);
        }
    }

    #[inline]
    pub fn statement(&mut self, statement: usize, ns: u64) {
        self.statements[statement].push(ns);
    }

    /// The end of a transaction of a kind: how long it took if it was done, and when, as of every transaction.
    #[inline]
    pub fn kind(&mut self, kind: usize, done_ns: Option<u64>, ended_ns: Option<u64>, rolled_back: bool, retried: u32) {
        let samples = &mut self.kinds[kind];
        match (done_ns, ended_ns) {
            (Some(ns), None) => samples.transactions.push(ns),
            (Some(ns), Some(ended_ns)) => {
                samples.transactions.push(ns);
                samples.seconds.record(ended_ns, ns);
            }
            (None, _) => samples.failed += 1,
        }
        samples.rolled_back += u64::from(rolled_back);
        samples.retried += u64::from(retried);
    }

    /// Takes the samples of `other` and leaves it empty, its memory kept.
    pub fn absorb(&mut self, other: &mut Recorder) {
        self.transactions.append(&mut other.transactions);
        self.seconds.absorb(&mut other.seconds);
        for (own, others) in self.statements.iter_mut().zip(&mut other.statements) {
            own.append(others);
        }
        for (own, others) in self.kinds.iter_mut().zip(&mut other.kinds) {
            own.transactions.append(&mut others.transactions);
            own.seconds.absorb(&mut others.seconds);
            own.failed += others.failed;
            own.rolled_back += others.rolled_back;
            own.retried += others.retried;
            others.clear();
        }
    }

    pub fn clear(&mut self) {
        self.transactions.clear();
        self.seconds.clear();
        self.statements.iter_mut().for_each(Vec::clear);
        self.kinds.iter_mut().for_each(KindSamples::clear);
    }
}

impl KindSamples {
    /// Keeps its memory.
    fn clear(&mut self) {
        self.transactions.clear();
        self.seconds.clear();
        (self.failed, self.rolled_back, self.retried) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absorbing_moves_samples_and_keeps_memory() {
        let shape = Shape { statements: 2, kinds: 1 };
        let (mut all, mut one) = (Recorder::new(shape, 1), Recorder::new(shape, 1));
        one.transaction(5, Some(2_000_000_000));
        one.statement(1, 4);
        one.kind(0, Some(5), Some(0), true, 2);
        one.kind(0, None, Some(1), false, 1);
        all.absorb(&mut one);
        assert_eq!((all.transactions.as_slice(), all.statements[1].as_slice()), (&[5][..], &[4][..]));
        let kind = &all.kinds[0];
        assert_eq!(kind.transactions, [5]);
        assert_eq!((kind.failed, kind.rolled_back, kind.retried), (1, 1, 3));
        assert_eq!((all.seconds.all().len(), kind.seconds.all().len()), (3, 1));
        assert!(one.seconds.all().is_empty());
        assert!(one.transactions.is_empty() && one.transactions.capacity() >= SAMPLES_EXPECTED);
        assert!(one.kinds[0].transactions.is_empty() && one.kinds[0].retried == 0);
        all.clear();
        assert!(all.transactions.is_empty() && all.statements[1].is_empty() && all.kinds[0].failed == 0);
    }
}
