//! PostgreSQL's generator of random numbers (`src/common/pg_prng.c`) and what pgbench draws from
//! it, number for number: the same state gives the same series as pgbench 16 and later.

/// xoroshiro128**, Blackman and Vigna.
#[derive(Debug, Clone)]
pub struct Prng {
    s0: u64,
    s1: u64,
    /// The last shape of [`Prng::zipfian`], and what is worked out from it; no part of the state.
    zipfian_shape: (f64, f64),
}

impl PartialEq for Prng {
    fn eq(&self, other: &Self) -> bool {
        (self.s0, self.s1) == (other.s0, other.s1)
    }
}

impl Eq for Prng {}

/// The step and the mixing of splitmix64, which fills the state of a [`Prng`] from a seed.
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Prng {
    fn from(s0: u64, s1: u64) -> Self {
        Self { s0, s1, zipfian_shape: (0.0, 1.0) }
    }

    /// `pg_prng_seed`
    pub fn seeded(mut seed: u64) -> Self {
        let (s0, s1) = (splitmix64(&mut seed), splitmix64(&mut seed));
        // All zeroes is the one state xoroshiro cannot leave; PostgreSQL takes Knuth's constants.
        match (s0, s1) {
            (0, 0) => Self::from(0x5851_F42D_4C95_7F2D, 0x1405_7B7E_F767_814F),
            (s0, s1) => Self::from(s0, s1),
        }
    }

    #[inline]
    pub fn draw(&mut self) -> u64 {
        let s0 = self.s0;
        let sx = self.s1 ^ s0;
        self.s0 = s0.rotate_left(24) ^ sx ^ (sx << 16);
        self.s1 = sx.rotate_left(37);
        s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// Uniform in 0..=`range`, by rejection of what a mask of the range's width lets through.
    #[inline]
    pub fn up_to(&mut self, range: u64) -> u64 {
        if range == 0 {
            return 0; // draws nothing, as in PostgreSQL
        }
        let shift = range.leading_zeros();
        loop {
            let drawn = self.draw() >> shift;
            if drawn <= range {
                return drawn;
            }
        }
    }

    /// Uniform in [0, 1), 52 bits.
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        (self.draw() >> 12) as f64 * (0.5f64).powi(52)
    }

    /// Mean 0, standard deviation 1, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let u1 = 1.0 - self.fraction();
        let u2 = 1.0 - self.fraction();
        (-2.0 * u1.ln()).sqrt() * (2.0 * std::f64::consts::PI * u2).sin()
    }

    /// The time to the next of events that come at random, on average every `mean`, rounded.
    pub fn poisson(&mut self, mean: f64) -> i64 {
        (-(1.0 - self.fraction()).ln() * mean + 0.5) as i64
    }

    /// Uniform in `range`.
    #[inline]
    pub fn uniform(&mut self, range: Range) -> i64 {
        range.min.wrapping_add(self.up_to(range.max.wrapping_sub(range.min) as u64) as i64)
    }

    /// Density falling from `min` to exp(-`parameter`) of it at `max`.
    pub fn exponential(&mut self, range: Range, parameter: f64) -> i64 {
        let cut = (-parameter).exp();
        let uniform = 1.0 - self.fraction();
        let share = -(cut + (1.0 - cut) * uniform).ln() / parameter;
        range.at(share)
    }

    /// A bell over the range whose ends lie `parameter` standard deviations from the middle.
    pub fn gaussian(&mut self, range: Range, parameter: f64) -> i64 {
        let deviation = loop {
            let drawn = self.normal();
            if (-parameter..parameter).contains(&drawn) {
                break drawn;
            }
        };
        range.at((deviation + parameter) / (parameter * 2.0))
    }

    /// Zipf's law with exponent `s`, by rejection (Devroye, Non-Uniform Random Variate Generation,
    /// Springer 1986, p. 550).
    pub fn zipfian(&mut self, range: Range, s: f64) -> i64 {
        let n = range.max - range.min + 1;
        if n <= 1 {
            return range.min;
        }
        // The same for every draw of one shape, and as dear as the rest of a draw.
        if self.zipfian_shape.0 != s {
            self.zipfian_shape = (s, 2f64.powf(s - 1.0));
        }
        let b = self.zipfian_shape.1;
        loop {
            let (u, v) = (self.fraction(), self.fraction());
            let x = u.powf(-1.0 / (s - 1.0)).floor();
            let t = (1.0 + 1.0 / x).powf(s - 1.0);
            if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= n as f64 {
                return range.min - 1 + x as i64;
            }
        }
    }
}

/// Inclusive bounds whose number of values fits an i64; see [`Range::new`].
#[derive(Debug, Clone, Copy)]
pub struct Range {
    min: i64,
    max: i64,
}

impl Range {
    pub fn new(min: i64, max: i64) -> Result<Self, &'static str> {
        if min > max {
            return Err("empty range given to random");
        }
        match max.checked_sub(min).and_then(|delta| delta.checked_add(1)) {
            Some(_) => Ok(Self { min, max }),
            None => Err("random range is too large"),
        }
    }

    fn at(self, share: f64) -> i64 {
        self.min + ((self.max - self.min + 1) as f64 * share) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_and_xoroshiro_agree_with_their_authors() {
        // The first outputs of splitmix64 from seed 1234567, https://prng.di.unimi.it/splitmix64.c
        let mut state = 1234567;
        assert_eq!(splitmix64(&mut state), 6457827717110365317);
        assert_eq!(splitmix64(&mut state), 3203168211198807973);
    }

    #[test]
    fn a_range_of_one_value_draws_nothing() {
        let mut prng = Prng::seeded(1);
        let before = prng.clone();
        assert_eq!(prng.uniform(Range::new(5, 5).unwrap()), 5);
        assert_eq!(prng, before);
    }

    #[test]
    fn draws_stay_inside_their_range() {
        let mut prng = Prng::seeded(42);
        let range = Range::new(-3, 7).unwrap();
        for _ in 0..10_000 {
            for drawn in [
                prng.uniform(range),
                prng.exponential(range, 2.5),
                prng.gaussian(range, 2.0),
                prng.zipfian(range, 1.07),
            ] {
                assert!((-3..=7).contains(&drawn));
            }
        }
    }

    #[test]
    fn ranges_that_overflow_are_refused() {
        assert!(Range::new(1, 0).is_err());
        assert!(Range::new(i64::MIN, i64::MAX).is_err());
        assert!(Range::new(0, i64::MAX).is_err());
        assert!(Range::new(1, i64::MAX).is_ok());
    }
}
