//! How sysbench spreads numbers over a range from 1 on, as its sb_rand.c does.

use crate::parameters::Reading;
use crate::script::random::Prng;

#[derive(Debug, Clone)]
pub enum Spread {
    Uniform,
    /// The mean of so many uniform numbers.
    Gaussian {
        iterations: u64,
    },
    /// Some requests, `repeated` percent, go to few numbers in the middle, `percent` of all; the others are as gaussian.
    Special {
        iterations: u64,
        percent: f64,
        repeated: f64,
    },
    /// A uniform number to this power.
    Pareto {
        power: f64,
    },
    Zipfian(Zipf),
}

impl Spread {
    /// Reads `distribution` and what shapes them all: `iterations`, `special_percent`, `special_repeated`,
    /// `pareto_h` and `zipfian_exponent`. `count`: how many numbers there are.
    pub fn read(reading: &mut Reading<'_>, count: u64) -> Result<Self, String> {
        let words = ["uniform", "gaussian", "special", "pareto", "zipfian"];
        let chosen = reading.choice("distribution", &words)?;
        let iterations = reading.count("iterations", 1..=1000)?;
        let percent = reading.number("special_percent", 0.0..=100.0)?;
        let repeated = reading.number("special_repeated", 0.0..=99.0)?;
        let h = reading.number("pareto_h", 0.001..=0.999)?;
        let exponent = reading.number("zipfian_exponent", 0.0..=10.0)?;
        Ok(match chosen {
            0 => Spread::Uniform,
            1 => Spread::Gaussian { iterations },
            2 => Spread::Special { iterations, percent, repeated },
            3 => Spread::Pareto { power: h.ln() / (1.0 - h).ln() },
            _ => Spread::Zipfian(Zipf::over(count, exponent)),
        })
    }

    /// A number from 1 to `count`, which is that of [`Spread::read`].
    #[inline]
    pub fn draw(&self, prng: &mut Prng, count: u64) -> u64 {
        let all = count as f64;
        let place = match self {
            Spread::Uniform => prng.up_to(count - 1),
            Spread::Gaussian { iterations } => (all * mean(*iterations, prng)) as u64,
            Spread::Special { iterations, percent, repeated } => {
                // As many numbers more as make the repeated ones the share that they are to be.
                let range = (all * (100.0 / (100.0 - repeated))) as u64;
                let drawn = prng.up_to(range.max(1) - 1);
                if drawn < count {
                    (all * mean(*iterations, prng)) as u64
                } else {
                    let few = ((all * percent / 100.0) as u64).max(1);
                    drawn % few + (all / 2.0 - all * percent / 200.0) as u64
                }
            }
            Spread::Pareto { power } => (all * prng.fraction().powf(*power)) as u64,
            Spread::Zipfian(zipf) => zipf.draw(prng) - 1,
        };
        1 + place.min(count - 1)
    }
}

fn mean(iterations: u64, prng: &mut Prng) -> f64 {
    (0..iterations).map(|_| prng.fraction()).sum::<f64>() / iterations as f64
}

/// Zipf's law over 1..=n by rejection-inversion: Hörmann and Derflinger, Rejection-inversion to generate
/// variates from monotone discrete distributions (1996).
#[derive(Debug, Clone)]
pub struct Zipf {
    count: u64,
    exponent: f64,
    /// The integral of x^-exponent from 1, up to the first and behind the last number.
    first: f64,
    last: f64,
    /// How far below a number is accepted without a look at the law.
    squeeze: f64,
}

impl Zipf {
    pub fn over(count: u64, exponent: f64) -> Self {
        let mut zipf = Self { count, exponent, first: 0.0, last: 0.0, squeeze: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(count as f64 + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.law(2.0));
        zipf
    }

    #[inline]
    pub fn draw(&self, prng: &mut Prng) -> u64 {
        loop {
            let u = self.last + prng.fraction() * (self.first - self.last);
            let x = self.inverse(u);
            let number = ((x + 0.5) as u64).clamp(1, self.count);
            let near = number as f64;
            if near - x <= self.squeeze || u >= self.integral(near + 0.5) - self.law(near) {
                return number;
            }
        }
    }

    fn law(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        expm1_over((1.0 - self.exponent) * log) * log
    }

    fn inverse(&self, x: f64) -> f64 {
        let t = (x * (1.0 - self.exponent)).max(-1.0);
        (ln_1p_over(t) * x).exp()
    }
}

/// (e^x - 1) / x, and what it tends to at 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x / 2.0 }
}

/// ln(1 + x) / x, and what it tends to at 0.
fn ln_1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u64 = 1000;
    const DRAWS: u32 = 200_000;

    /// How many of the draws lie from `from` to `to`.
    fn shares(spread: &Spread, ranges: &[(u64, u64)]) -> Vec<f64> {
        let mut prng = Prng::seeded(3);
        let drawn: Vec<u64> = (0..DRAWS).map(|_| spread.draw(&mut prng, COUNT)).collect();
        assert!(drawn.iter().all(|number| (1..=COUNT).contains(number)));
        let share = |&(from, to): &(u64, u64)| {
            drawn.iter().filter(|number| (from..=to).contains(number)).count() as f64 / f64::from(DRAWS)
        };
        ranges.iter().map(share).collect()
    }

    fn check(spread: &Spread, expect: &[(u64, u64, f64)]) {
        let ranges: Vec<_> = expect.iter().map(|&(from, to, _)| (from, to)).collect();
        for (found, (from, to, expect)) in shares(spread, &ranges).iter().zip(expect) {
            assert!((found - expect).abs() < 0.006, "{spread:?} {from} to {to}: {found}, not {expect}");
        }
    }

    #[test]
    fn uniform_numbers_are() {
        check(&Spread::Uniform, &[(1, 250, 0.25), (251, 500, 0.25), (501, 1000, 0.5)]);
    }

    #[test]
    fn gaussian_numbers_are_the_mean_of_uniform_ones() {
        // 12 uniform numbers have the variance 1: their mean the standard deviation 1/12.
        let sd = 1000.0 / 12.0;
        let one = ((500.0 - sd) as u64, (500.0 + sd) as u64);
        check(&Spread::Gaussian { iterations: 12 }, &[(one.0, one.1, 0.68), (1, 500, 0.5)]);
    }

    #[test]
    fn special_numbers_are_three_quarters_of_requests_to_one_percent() {
        let special = Spread::Special { iterations: 12, percent: 1.0, repeated: 75.0 };
        // The others, as gaussian, are also there: 10 of the about 83 * 2.5 in the middle.
        let gaussian = shares(&Spread::Gaussian { iterations: 12 }, &[(496, 505)])[0];
        check(&special, &[(496, 505, 0.75 + 0.25 * gaussian), (1, 495, (0.25 - 0.25 * gaussian) / 2.0)]);
    }

    #[test]
    fn pareto_numbers_have_four_fifths_of_requests_in_a_fifth() {
        let h: f64 = 0.2;
        check(&Spread::Pareto { power: h.ln() / (1.0 - h).ln() }, &[(1, 200, 0.8)]);
    }

    #[test]
    fn zipfian_numbers_follow_zipfs_law() {
        for exponent in [0.8, 1.0, 1.5] {
            let zeta: f64 = (1..=COUNT).map(|number| (number as f64).powf(-exponent)).sum();
            let law = |from: u64, to: u64| {
                let sum: f64 = (from..=to).map(|number| (number as f64).powf(-exponent)).sum();
                (from, to, sum / zeta)
            };
            let zipfian = Spread::Zipfian(Zipf::over(COUNT, exponent));
            check(&zipfian, &[law(1, 1), law(2, 2), law(3, 10), law(11, 100), law(101, 1000)]);
        }
    }

    #[test]
    fn one_number_is_always_the_one() {
        let mut prng = Prng::seeded(1);
        for spread in [
            Spread::Uniform,
            Spread::Gaussian { iterations: 12 },
            Spread::Special { iterations: 12, percent: 1.0, repeated: 75.0 },
            Spread::Pareto { power: 7.2 },
            Spread::Zipfian(Zipf::over(1, 0.8)),
        ] {
            assert!((0..100).all(|_| spread.draw(&mut prng, 1) == 1), "{spread:?}");
        }
    }
}
