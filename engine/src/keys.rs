//! Which record is asked for: the distributions of YCSB and of sysbench, as their sources have them,
//! over whatever draws.

use crate::script::random::Prng;

/// 64-bit FNV-1a over the bytes of `value`, least significant first, as Java YCSB's `Utils.hash`, and
/// then its absolute value.
#[inline]
pub fn hash(value: u64) -> u64 {
    let hash = value
        .to_le_bytes()
        .iter()
        .fold(0xCBF2_9CE4_8422_2325u64, |hash, &octet| (hash ^ u64::from(octet)).wrapping_mul(1_099_511_628_211));
    (hash as i64).unsigned_abs()
}

/// The sum of i^-theta for i from 1 to n.
pub fn zeta(n: u64, theta: f64) -> f64 {
    (1..=n).map(|i| (i as f64).powf(-theta)).sum()
}

/// Zipf's law over 0..n by Gray et al., Quickly generating billion-record synthetic databases (SIGMOD
/// 1994), as YCSB's ZipfianGenerator.
#[derive(Debug, Clone)]
pub struct Zipfian {
    items: u64,
    theta: f64,
    alpha: f64,
    zeta_2: f64,
    zeta_n: f64,
    eta: f64,
}

/// YCSB's constant.
pub const THETA: f64 = 0.99;

impl Zipfian {
    pub fn over(items: u64, theta: f64) -> Self {
        Self::with_zeta(items, theta, zeta(items, theta))
    }

    /// For a number of items whose zeta takes long to add up and is known.
    pub fn with_zeta(items: u64, theta: f64, zeta_n: f64) -> Self {
        let (alpha, zeta_2) = (1.0 / (1.0 - theta), zeta(2, theta));
        let eta = (1.0 - (2.0 / items as f64).powf(1.0 - theta)) / (1.0 - zeta_2 / zeta_n);
        Self { items, theta, alpha, zeta_2, zeta_n, eta }
    }

    /// Adds items; what zeta grows by is added up.
    pub fn grow(&mut self, items: u64) {
        if items > self.items {
            let more: f64 = (self.items + 1..=items).map(|i| (i as f64).powf(-self.theta)).sum();
            *self = Self::with_zeta(items, self.theta, self.zeta_n + more);
        }
    }

    pub fn items(&self) -> u64 {
        self.items
    }

    #[inline]
    pub fn draw(&self, prng: &mut Prng) -> u64 {
        let u = prng.fraction();
        let uz = u * self.zeta_n;
        if uz < 1.0 {
            return 0;
        }
        if uz < self.zeta_2 {
            return 1;
        }
        let place = self.items as f64 * (self.eta * u - self.eta + 1.0).powf(self.alpha);
        (place as u64).min(self.items - 1)
    }
}

/// Of the scrambled zipfian: the number of items that values are drawn from, and its zeta.
const SCRAMBLED_ITEMS: u64 = 10_000_000_000;
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;

/// Zipf's law over many more items, scattered over 0..n by [`hash`]: YCSB's ScrambledZipfianGenerator.
#[derive(Debug, Clone)]
pub struct Scrambled(Zipfian);

impl Default for Scrambled {
    fn default() -> Self {
        Self(Zipfian::with_zeta(SCRAMBLED_ITEMS, THETA, SCRAMBLED_ZETA))
    }
}

impl Scrambled {
    #[inline]
    pub fn draw(&self, prng: &mut Prng, items: u64) -> u64 {
        hash(self.0.draw(prng)) % items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_java_ycsb() {
        // Worked out by hand from the formula, and known as the keys of record 0 and 1 in YCSB's tables.
        assert_eq!(hash(0), 6_284_781_860_667_377_211);
        assert_eq!(hash(1), 8_517_097_267_634_966_620);
    }

    #[test]
    fn the_constant_of_the_scrambled_zipfian_is_the_zeta_of_its_items() {
        // Euler and Maclaurin: the sum from m on is close to the integral and half of its first term.
        let (m, n) = (1_000_000u64, SCRAMBLED_ITEMS);
        let integral = ((n as f64).powf(1.0 - THETA) - (m as f64).powf(1.0 - THETA)) / (1.0 - THETA);
        let ends = ((n as f64).powf(-THETA) - (m as f64).powf(-THETA)) / 2.0;
        assert!((zeta(m, THETA) + integral + ends - SCRAMBLED_ZETA).abs() < 1e-6);
    }

    #[test]
    fn a_zipfian_has_the_frequencies_of_zipfs_law() {
        let (items, draws) = (1000, 400_000);
        let zipfian = Zipfian::over(items, THETA);
        let (mut counts, mut prng) = (vec![0u32; items as usize], Prng::seeded(5));
        (0..draws).for_each(|_| counts[zipfian.draw(&mut prng) as usize] += 1);
        let zeta_n = zeta(items, THETA);
        // Gray's formula is exact for the first two and close for the others together.
        for (place, tolerance) in [(0, 0.01), (1, 0.02)] {
            let expect = f64::from(draws) / (f64::from(place + 1).powf(THETA) * zeta_n);
            assert!((f64::from(counts[place as usize]) / expect - 1.0).abs() < tolerance, "{place}");
        }
        // Of the others its own inverse says where u has to lie, and Zipf's law how close that is.
        let eta = (1.0 - (2.0 / items as f64).powf(1.0 - THETA)) / (1.0 - (1.0 + 0.5f64.powf(THETA)) / zeta_n);
        let below = |place: u32| (((f64::from(place) / items as f64).powf(1.0 - THETA)) + eta - 1.0) / eta;
        for (from, to) in [(3, 10), (10, 100), (100, 1000)] {
            let found: u32 = counts[from as usize..to as usize].iter().sum();
            let (found, expect) = (f64::from(found) / f64::from(draws), below(to) - below(from));
            assert!((found / expect - 1.0).abs() < 0.015, "{from} to {to}: {found}, not {expect}");
            let law: f64 = (from..to).map(|place| f64::from(place + 1).powf(-THETA) / zeta_n).sum();
            assert!((expect / law - 1.0).abs() < 0.2, "{from} to {to}: {expect}, not {law}");
        }
    }

    #[test]
    fn growing_is_the_same_as_being_made_larger() {
        let mut grown = Zipfian::over(100, THETA);
        grown.grow(250);
        let made = Zipfian::over(250, THETA);
        assert_eq!(grown.items(), 250);
        assert!((grown.zeta_n - made.zeta_n).abs() < 1e-12 && (grown.eta - made.eta).abs() < 1e-12);
    }

    #[test]
    fn one_item_is_always_the_one() {
        let (zipfian, mut prng) = (Zipfian::over(1, THETA), Prng::seeded(1));
        assert!((0..100).all(|_| zipfian.draw(&mut prng) == 0));
        assert!((0..100).all(|_| Scrambled::default().draw(&mut prng, 1) == 0));
    }
}
