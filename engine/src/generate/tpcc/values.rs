//! The values of the TPC-C-like workload, in the data as in its transactions: random strings, last
//! names, and the non-uniform random numbers of clause 2.1.6 of the standard.

use crate::script::random::{Prng, splitmix64};

pub const ITEMS: u64 = 100_000;
pub const DISTRICTS: u64 = 10;
/// Of a district.
pub const CUSTOMERS: u64 = 3000;
/// Of a district, when it is loaded; the last [`NEW_ORDERS`] of them are not delivered.
pub const ORDERS: u64 = 3000;
pub const NEW_ORDERS: u64 = 900;
pub const LINES_MIN: u64 = 5;
pub const LINES_MAX: u64 = 15;
pub const CARRIERS: u64 = 10;

/// The number of different last names.
pub const LAST_NAMES: u64 = 1000;

/// The constants C of clause 2.1.6.1. Those of last names differ by 66 between load and run, which
/// the clause allows.
pub const C_ITEM: u64 = 7911;
pub const C_CUSTOMER: u64 = 259;
pub const C_LAST_NAME_LOAD: u64 = 157;
pub const C_LAST_NAME_RUN: u64 = 223;

const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
const ALPHANUMERIC: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Characters that one draw of 64 bits gives, each as good as uniform: 62^10 is a twentieth of 2^64.
const CHARACTERS_PER_DRAW: u64 = 10;

/// Uniform in `min..=max`.
#[inline]
pub fn between(prng: &mut Prng, min: u64, max: u64) -> u64 {
    min + prng.up_to(max - min)
}

/// Whether an event of so many percent has come.
#[inline]
pub fn percent(prng: &mut Prng, share: u64) -> bool {
    prng.up_to(99) < share
}

/// NURand(A, C, 0 or 1 .. max) of clause 2.1.6, where A is a power of two less one.
#[inline]
fn non_uniform(prng: &mut Prng, a: u64, c: u64, min: u64, max: u64) -> u64 {
    let (mask, value) = (prng.up_to(a), between(prng, min, max));
    ((mask | value) + c) % (max - min + 1) + min
}

/// An item that an order asks for.
#[inline]
pub fn item(prng: &mut Prng) -> u64 {
    non_uniform(prng, 8191, C_ITEM, 1, ITEMS)
}

/// A customer of a district, by number.
#[inline]
pub fn customer(prng: &mut Prng) -> u64 {
    non_uniform(prng, 1023, C_CUSTOMER, 1, CUSTOMERS)
}

/// The number of a last name; `c` is [`C_LAST_NAME_LOAD`] or [`C_LAST_NAME_RUN`].
#[inline]
pub fn last_name(prng: &mut Prng, c: u64) -> u64 {
    non_uniform(prng, 255, c, 0, LAST_NAMES - 1)
}

/// Appends the last name of a number below [`LAST_NAMES`]: a syllable for each of its three digits.
pub fn write_last_name(number: u64, out: &mut Vec<u8>) {
    for digit in [number / 100, number / 10 % 10, number % 10] {
        out.extend_from_slice(SYLLABLES[digit as usize].as_bytes());
    }
}

/// Appends letters and digits, `min` to `max` of them.
pub fn write_letters(prng: &mut Prng, min: u64, max: u64, out: &mut Vec<u8>) {
    let length = if min == max { min } else { between(prng, min, max) };
    let mut left = length;
    while left > 0 {
        // The bits of one draw are a fraction; its digits to the base 62 are the characters.
        let mut fraction = prng.draw();
        for _ in 0..left.min(CHARACTERS_PER_DRAW) {
            let digit = u128::from(fraction) * ALPHANUMERIC.len() as u128;
            out.push(ALPHANUMERIC[(digit >> 64) as usize]);
            fraction = digit as u64;
        }
        left -= left.min(CHARACTERS_PER_DRAW);
    }
}

/// Appends letters and digits, in every tenth row, by lot, with the word ORIGINAL somewhere.
pub fn write_data(prng: &mut Prng, min: u64, max: u64, out: &mut Vec<u8>) {
    const ORIGINAL: &[u8] = b"ORIGINAL";
    let begin = out.len();
    write_letters(prng, min, max, out);
    if percent(prng, 10) {
        let room = (out.len() - begin - ORIGINAL.len()) as u64;
        let at = begin + prng.up_to(room) as usize;
        out[at..at + ORIGINAL.len()].copy_from_slice(ORIGINAL);
    }
}

/// Appends two capital letters, as of a state.
pub fn write_state(prng: &mut Prng, out: &mut Vec<u8>) {
    for _ in 0..2 {
        out.push(b'A' + prng.up_to(25) as u8);
    }
}

/// Appends so many digits.
pub fn write_digits(prng: &mut Prng, count: usize, out: &mut Vec<u8>) {
    for _ in 0..count {
        out.push(b'0' + prng.up_to(9) as u8);
    }
}

/// Appends a whole number.
#[inline]
pub fn write_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a number of so many units of 1 / `per_whole`, a power of ten: 1234 of 100 is 12.34.
pub fn write_fraction(units: u64, per_whole: u64, out: &mut Vec<u8>) {
    write_number(units / per_whole, out);
    out.push(b'.');
    let (mut rest, mut place) = (units % per_whole, per_whole / 10);
    while place > 0 {
        out.push(b'0' + (rest / place) as u8);
        rest %= place;
        place /= 10;
    }
}

/// Where the rows of one table draw from: each from a series of its own, which depends on the seed
/// and the row's number alone.
#[derive(Debug, Clone, Copy)]
pub struct Series {
    base: u64,
}

impl Series {
    /// `table` keeps the tables of one dataset apart.
    pub fn of(seed: u64, table: u64) -> Self {
        let mut state = seed;
        let mut table_state = splitmix64(&mut state) ^ table;
        Self { base: splitmix64(&mut table_state) }
    }

    pub fn row(self, number: u64) -> Prng {
        Prng::seeded(self.base.wrapping_add(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn last_names_are_those_of_the_standard() {
        assert_eq!(text(|out| write_last_name(371, out)), "PRICALLYOUGHT");
        assert_eq!(text(|out| write_last_name(40, out)), "BARPRESBAR");
        assert_eq!(text(|out| write_last_name(999, out)), "EINGEINGEING");
    }

    #[test]
    fn fractions_keep_their_zeroes() {
        assert_eq!(text(|out| write_fraction(1234, 100, out)), "12.34");
        assert_eq!(text(|out| write_fraction(7, 10_000, out)), "0.0007");
        assert_eq!(text(|out| write_fraction(30_000_000, 100, out)), "300000.00");
    }

    #[test]
    fn strings_have_the_lengths_asked_for_and_every_character_comes() {
        let mut prng = Prng::seeded(1);
        let mut seen = [0u32; 256];
        let mut lengths = [0u32; 30];
        for _ in 0..20_000 {
            let string = text(|out| write_letters(&mut prng, 8, 25, out));
            lengths[string.len()] += 1;
            for byte in string.bytes() {
                seen[byte as usize] += 1;
            }
        }
        assert!((8..=25).all(|length| lengths[length] > 900) && lengths.iter().sum::<u32>() == 20_000);
        // 330 000 characters: 5320 of each, give or take five standard deviations of 72.
        assert!(ALPHANUMERIC.iter().all(|&byte| (4960..=5680).contains(&seen[byte as usize])));
        assert_eq!(ALPHANUMERIC.iter().map(|&byte| seen[byte as usize]).sum::<u32>(), seen.iter().sum::<u32>());
    }

    #[test]
    fn a_tenth_of_data_is_original() {
        let mut prng = Prng::seeded(2);
        let rows: Vec<_> = (0..20_000).map(|_| text(|out| write_data(&mut prng, 26, 50, out))).collect();
        let original = rows.iter().filter(|row| row.contains("ORIGINAL")).count();
        assert!((1800..=2200).contains(&original), "{original}");
        assert!(rows.iter().all(|row| (26..=50).contains(&row.len())));
    }

    /// The distribution, value by value, from the definition: all pairs of what is drawn.
    #[test]
    fn non_uniform_numbers_follow_the_standard() {
        let mut expected = vec![0u64; 1000];
        for mask in 0..=255u64 {
            for value in 0..=999u64 {
                expected[(((mask | value) + C_LAST_NAME_RUN) % 1000) as usize] += 1;
            }
        }
        let (draws, pairs) = (2_000_000u64, 256_000.0);
        let mut prng = Prng::seeded(3);
        let mut found = vec![0u64; 1000];
        for _ in 0..draws {
            found[last_name(&mut prng, C_LAST_NAME_RUN) as usize] += 1;
        }
        let mut chi_square = 0.0;
        let mut free = -1.0;
        for (&expected, &found) in expected.iter().zip(&found) {
            let mean = expected as f64 / pairs * draws as f64;
            if mean == 0.0 {
                assert_eq!(found, 0);
                continue;
            }
            chi_square += (found as f64 - mean).powi(2) / mean;
            free += 1.0;
        }
        // Six standard deviations of a chi-square with so many degrees of freedom.
        assert!(chi_square < free + 6.0 * f64::sqrt(2.0 * free), "{chi_square} of {free}");
    }

    #[test]
    fn items_and_customers_stay_in_their_ranges() {
        let mut prng = Prng::seeded(4);
        for _ in 0..100_000 {
            assert!((1..=ITEMS).contains(&item(&mut prng)));
            assert!((1..=CUSTOMERS).contains(&customer(&mut prng)));
        }
    }
}
