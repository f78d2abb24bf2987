//! The hashes and the permutation of pgbench, number for number.

use super::random::Prng;

pub fn fnv1a(value: i64, seed: i64) -> i64 {
    let start = 0xCBF2_9CE4_8422_2325 ^ seed as u64;
    let hash = value
        .to_le_bytes()
        .iter()
        .fold(start, |hash, &octet| (hash ^ u64::from(octet)).wrapping_mul(0x0000_0100_0000_01B3));
    hash as i64
}

pub fn murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xC6A4_A793_5BD1_E995;
    let mix = |word: u64| (word ^ (word >> 47)).wrapping_mul(MULTIPLIER);

    let word = mix((value as u64).wrapping_mul(MULTIPLIER));
    let hash = seed as u64 ^ MULTIPLIER.wrapping_mul(8);
    let hash = mix((hash ^ word).wrapping_mul(MULTIPLIER));
    (hash ^ (hash >> 47)) as i64
}

/// Where `value` goes in a pseudorandom permutation of 0..`size`, which must be positive.
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let size = size as u64;
    let mut prng = Prng::seeded(seed as u64);
    let mask_bits = size.ilog2();
    let mask = (1 << mask_bits) - 1;

    // A bijection of 0..=mask: multiply by an odd number, xor, rotate by one bit.
    let scramble = |value: u64, multiplier: u64, xor: u64| {
        let value = (value.wrapping_mul(multiplier) ^ xor) & mask;
        ((value << 1) & mask) | (value >> (mask_bits - 1))
    };

    // The size is rarely a power of two: scramble its lower and its upper part, which overlap.
    let mut place = value as u64 % size;
    for _ in 0..6 {
        let (multiplier, xor) = ((prng.draw() & mask) | 1, prng.draw() & mask);
        if place <= mask {
            place = scramble(place, multiplier, xor);
        }
        let (multiplier, xor) = ((prng.draw() & mask) | 1, prng.draw() & mask);
        let mirrored = size - 1 - place;
        if mirrored <= mask {
            place = size - 1 - scramble(mirrored, multiplier, xor);
        }
        // No overflow: `size` came from an i64.
        place = (place + prng.up_to(size - 1)) % size;
    }
    place as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of pgbench's own tests, src/bin/pgbench/t/001_pgbench_with_server.pl.
    #[test]
    fn values_are_those_of_pgbench() {
        assert_eq!(murmur2(10, 5432), -5817877081768721676);
        assert_eq!(fnv1a(10, 5432), -7793829335365542153);
    }

    #[test]
    fn a_permutation_hits_every_place_once() {
        for size in 1..100 {
            let mut places: Vec<i64> = (0..size).map(|value| permute(value, size, 7)).collect();
            places.sort();
            assert_eq!(places, (0..size).collect::<Vec<_>>());
        }
    }
}
