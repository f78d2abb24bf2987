//! What the kept slices of one arm add up to.

use super::histogram::Histogram;
use super::moments::Moments;
use super::recorder::Recorder;

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
}

#[derive(Debug, Clone, Default)]
pub struct StatementTotals {
    pub moments: Moments,
    pub histogram: Histogram,
}

impl Totals {
    pub fn for_statements(count: usize) -> Self {
        Self {
            slices: 0,
            transactions: 0,
            failed: 0,
            busy_ns: 0,
            latencies: Vec::new(),
            histogram: Histogram::new(),
            statements: vec![StatementTotals::default(); count],
        }
    }

    pub fn add_samples(&mut self, recorder: &Recorder) {
        self.latencies.extend_from_slice(&recorder.transactions);
        self.histogram.record(&recorder.transactions);
        for (totals, samples) in self.statements.iter_mut().zip(&recorder.statements) {
            totals.moments.add(Moments::of(samples));
            totals.histogram.record(samples);
        }
    }
}
