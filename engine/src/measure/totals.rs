//! What the kept slices of one arm add up to.

use super::histogram::Histogram;
use super::moments::Moments;
use super::recorder::{KindSamples, Recorder, Shape};

#[derive(Debug)]
pub struct Totals {
    pub slices: u64,
    pub transactions: u64,
    pub failed: u64,
    pub busy_ns: u64,
    /// All of them, since the percentiles are to be exact: 8 bytes a transaction.
    pub latencies: Vec<u64>,
    pub histogram: Histogram,
    pub statements: Vec<StatementTotals>,
    pub kinds: Vec<KindTotals>,
}

#[derive(Debug, Clone, Default)]
pub struct StatementTotals {
    pub moments: Moments,
    pub histogram: Histogram,
}

#[derive(Debug, Clone, Default)]
pub struct KindTotals {
    /// All of them, as in [`Totals`].
    pub latencies: Vec<u64>,
    pub histogram: Histogram,
    pub failed: u64,
    pub rolled_back: u64,
    pub retried: u64,
}

impl KindTotals {
    fn add(&mut self, samples: &KindSamples) {
        self.latencies.extend_from_slice(&samples.transactions);
        self.histogram.record(&samples.transactions);
        self.failed += samples.failed;
        self.rolled_back += samples.rolled_back;
        self.retried += samples.retried;
    }
}

impl Totals {
    pub fn shaped(shape: Shape) -> Self {
        Self {
            slices: 0,
            transactions: 0,
            failed: 0,
            busy_ns: 0,
            latencies: Vec::new(),
            histogram: Histogram::new(),
            statements: vec![StatementTotals::default(); shape.statements],
            kinds: vec![KindTotals::default(); shape.kinds],
        }
    }

    pub fn add_samples(&mut self, recorder: &Recorder) {
        self.latencies.extend_from_slice(&recorder.transactions);
        self.histogram.record(&recorder.transactions);
        for (totals, samples) in self.statements.iter_mut().zip(&recorder.statements) {
            totals.moments.add(Moments::of(samples));
            totals.histogram.record(samples);
        }
        self.kinds.iter_mut().zip(&recorder.kinds).for_each(|(totals, samples)| totals.add(samples));
    }
}
