//! Histograms of nanoseconds, for storage and for tails.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

/// An hour; anything longer counts as an hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

#[derive(Debug, Clone)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Histogram {
    pub fn new() -> Self {
        let histogram = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS);
        Self(histogram.expect("the bounds are valid"))
    }

    /// Of values and how often each was recorded.
    pub fn of(recorded: &[(u64, u64)]) -> Self {
        let mut histogram = Self::new();
        recorded.iter().for_each(|(value, count)| histogram.0.saturating_record_n(*value, *count));
        histogram
    }

    /// What was recorded, values and how often each was; nothing is left.
    pub fn take(&mut self) -> Vec<(u64, u64)> {
        let recorded = self.0.iter_recorded().map(|one| (one.value_iterated_to(), one.count_at_value())).collect();
        self.0.reset();
        recorded
    }

    /// For what writes it somewhere.
    pub fn inner(&self) -> &hdrhistogram::Histogram<u64> {
        &self.0
    }

    pub fn record(&mut self, samples: &[u64]) {
        for &sample in samples {
            self.0.saturating_record(sample);
        }
    }

    #[inline]
    pub fn record_one(&mut self, sample: u64) {
        self.0.saturating_record(sample);
    }

    pub fn add(&mut self, other: &Histogram) {
        self.0.add(&other.0).expect("all histograms have the same bounds");
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The smallest recorded value that a share of `q` does not exceed, to three digits; 0 where
    /// nothing was recorded.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        self.0.value_at_quantile(q)
    }

    pub fn max_ns(&self) -> u64 {
        self.0.max()
    }

    pub fn mean_ns(&self) -> f64 {
        self.0.mean()
    }

    /// HdrHistogram V2 with DEFLATE, in base64: the text starts with `HISTFAAAA`.
    pub fn text(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.0, &mut bytes).expect("writing to memory does not fail");
        STANDARD.encode(bytes)
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    #[test]
    fn what_is_taken_out_makes_the_same_again() {
        let mut histogram = Histogram::new();
        histogram.record(&[1, 999, 1_000_000, 1_000_000, 123_456_789]);
        let before = histogram.clone();
        let taken = histogram.take();
        assert_eq!((histogram.count(), taken.len()), (0, 4));
        assert_eq!(Histogram::of(&taken).0, before.0);
    }

    #[test]
    fn what_is_written_can_be_read_back() {
        let mut histogram = Histogram::new();
        histogram.record(&[1, 1000, 1_000_000, 1_000_000, u64::MAX]);
        let text = histogram.text();
        assert!(text.starts_with("HISTFAAAA"), "{text}");
        let bytes = STANDARD.decode(text).unwrap();
        let read: hdrhistogram::Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(read, histogram.0);
        assert_eq!((read.len(), read.sigfig(), read.low(), read.high()), (5, 3, 1, HIGHEST_NS));
        assert_eq!(read.count_at(1_000_000), 2);
        assert!(read.max() >= HIGHEST_NS);
    }
}
