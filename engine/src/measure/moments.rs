//! Count, mean and spread of samples, such that two of them can be added.

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    pub count: u64,
    pub mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
}

impl Moments {
    pub fn of(samples: &[u64]) -> Self {
        if samples.is_empty() {
            return Self::default();
        }
        let sum: u128 = samples.iter().map(|&sample| u128::from(sample)).sum();
        let mean = sum as f64 / samples.len() as f64;
        let squares = samples.iter().map(|&sample| (sample as f64 - mean).powi(2)).sum();
        Self { count: samples.len() as u64, mean, squares }
    }

    /// Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for computing sample
    /// variances (1979): exact where adding up squares would lose the digits that matter.
    pub fn add(&mut self, other: Moments) {
        if other.count == 0 {
            return;
        }
        let count = self.count + other.count;
        let distance = other.mean - self.mean;
        let share = other.count as f64 / count as f64;
        self.squares += other.squares + distance * distance * self.count as f64 * share;
        self.mean += distance * share;
        self.count = count;
    }

    /// Standard deviation with n - 1, and 0 where it has no meaning.
    pub fn sd(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.squares / (self.count - 1) as f64).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_arrays_have_known_moments() {
        assert_eq!((Moments::of(&[]).mean, Moments::of(&[]).sd()), (0.0, 0.0));
        assert_eq!((Moments::of(&[7]).mean, Moments::of(&[7]).sd()), (7.0, 0.0));
        let moments = Moments::of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(moments.mean, 5.0);
        assert!((moments.sd() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn adding_parts_gives_the_whole() {
        let samples: Vec<u64> = (0..1000u64).map(|i| 1_000_000_000 + i * i % 977).collect();
        let mut added = Moments::default();
        for part in samples.chunks(77) {
            added.add(Moments::of(part));
        }
        let whole = Moments::of(&samples);
        assert_eq!(added.count, whole.count);
        assert!((added.mean - whole.mean).abs() < 1e-6);
        assert!((added.sd() - whole.sd()).abs() < 1e-6);
    }
}
