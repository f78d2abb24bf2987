//! What happened in a slice, in raw nanoseconds: one number per transaction and per statement.

#[derive(Debug, Default)]
pub struct Recorder {
    pub transactions: Vec<u64>,
    /// By the number of the statement.
    pub statements: Vec<Vec<u64>>,
}

/// Of all threads together: enough for a slice of 50 ms at any rate. Untouched pages cost nothing;
/// longer slices grow it once (the allocator remaps large blocks instead of copying them) and then
/// reuse it.
const SAMPLES_EXPECTED: usize = 1 << 16;

impl Recorder {
    /// For the share of one of `threads` in a slice.
    pub fn new(statements: usize, threads: usize) -> Self {
        let samples = || Vec::with_capacity(SAMPLES_EXPECTED / threads);
        Self { transactions: samples(), statements: (0..statements).map(|_| samples()).collect() }
    }

    #[inline]
    pub fn transaction(&mut self, ns: u64) {
        self.transactions.push(ns);
    }

    #[inline]
    pub fn statement(&mut self, statement: usize, ns: u64) {
        self.statements[statement].push(ns);
    }

    /// Takes the samples of `other` and leaves it empty, its memory kept.
    pub fn absorb(&mut self, other: &mut Recorder) {
        self.transactions.append(&mut other.transactions);
        for (own, others) in self.statements.iter_mut().zip(&mut other.statements) {
            own.append(others);
        }
    }

    pub fn clear(&mut self) {
        self.transactions.clear();
        self.statements.iter_mut().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absorbing_moves_samples_and_keeps_memory() {
        let (mut all, mut one) = (Recorder::new(2, 1), Recorder::new(2, 1));
        one.transaction(5);
        one.statement(1, 4);
        all.absorb(&mut one);
        assert_eq!((all.transactions.as_slice(), all.statements[1].as_slice()), (&[5][..], &[4][..]));
        assert!(one.transactions.is_empty() && one.transactions.capacity() >= SAMPLES_EXPECTED);
        all.clear();
        assert!(all.transactions.is_empty() && all.statements[1].is_empty());
    }
}
