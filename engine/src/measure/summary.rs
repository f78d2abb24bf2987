//! Exact summaries of raw samples.

use super::moments::Moments;

#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub min: u64,
    pub mean: f64,
    pub sd: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: u64,
}

impl Summary {
    /// Reorders `samples`. `None` where there are none.
    pub fn of(samples: &mut [u64]) -> Option<Self> {
        let (&min, &max) = (samples.iter().min()?, samples.iter().max()?);
        let moments = Moments::of(samples);
        let [p50, p95, p99] = percentiles(samples, [0.50, 0.95, 0.99]);
        Some(Self { min, mean: moments.mean, sd: moments.sd(), p50, p95, p99, max })
    }
}

/// Percentiles `qs`, ascending, linear between ranks: position q (n - 1), numpy's default. Selects
/// instead of sorting, each in what the one before left to its right.
pub fn percentiles<const N: usize>(samples: &mut [u64], qs: [f64; N]) -> [f64; N] {
    assert!(!samples.is_empty() && qs.is_sorted());
    let last = samples.len() - 1;
    let mut done = 0;
    qs.map(|q| {
        let position = q * last as f64;
        let below = (position as usize).min(last);
        let (_, &mut low, right) = samples[done..].select_nth_unstable(below - done);
        let high = right.iter().min().copied().unwrap_or(low);
        done = below;
        interpolate(low as f64, high as f64, position - below as f64)
    })
}

/// numpy's way, from the nearer end, so that the digits agree with its own.
fn interpolate(low: f64, high: f64, share: f64) -> f64 {
    let distance = high - low;
    if share < 0.5 { low + distance * share } else { high - distance * (1.0 - share) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(samples: &[u64], expect: [f64; 3]) {
        let mut shuffled: Vec<u64> = samples.to_vec();
        shuffled.reverse();
        let found = percentiles(&mut shuffled, [0.50, 0.95, 0.99]);
        assert_eq!(found, expect, "{samples:?}");
    }

    /// Expected values from `numpy.percentile(samples, [50, 95, 99])`.
    #[test]
    fn percentiles_are_those_of_numpy() {
        check(&[5], [5.0, 5.0, 5.0]);
        check(&[1, 2], [1.5, 1.95, 1.99]);
        check(&[1, 2, 3, 4], [2.5, 3.8499999999999996, 3.9699999999999998]);
        check(&[10, 20, 30, 40, 1000], [30.0, 807.9999999999998, 961.5999999999999]);
        let hundred: Vec<u64> = (1..=101).collect();
        check(&hundred, [51.0, 96.0, 100.0]);
    }

    #[test]
    fn a_summary_of_nothing_is_nothing() {
        assert_eq!(Summary::of(&mut []), None);
        let summary = Summary::of(&mut [3, 1, 2]).unwrap();
        assert_eq!((summary.min, summary.mean, summary.sd, summary.max), (1, 2.0, 1.0, 3));
    }
}
