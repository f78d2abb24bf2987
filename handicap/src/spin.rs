//! Doing nothing for a known time.

use std::hint::spin_loop;

/// How often the clock is read to learn what reading it costs. The cheapest is taken: the others met an interrupt.
const READINGS: u32 = 1000;

/// Spins for so many nanoseconds of CLOCK_MONOTONIC, the reading of the clock included.
pub struct Spin {
    ns: u64,
    reading_ns: u64,
}

impl Spin {
    pub fn new(ns: u64) -> Self {
        let reading_ns = (0..READINGS).map(|_| now_ns().abs_diff(now_ns())).min().unwrap_or(0);
        Self { ns, reading_ns }
    }

    /// The nanoseconds it took: at least what was asked for, if that is more than reading the clock takes.
    ///
    /// Each reading tells of a moment within itself. What the first took before its moment and the last after its own
    /// is one reading's cost, which is spent like the time between them and therefore part of it.
    #[inline]
    pub fn run(&self) -> u64 {
        if self.ns == 0 {
            return 0;
        }
        let begin_ns = now_ns();
        loop {
            let spent_ns = now_ns().saturating_sub(begin_ns).saturating_add(self.reading_ns);
            if spent_ns >= self.ns {
                return spent_ns;
            }
            spin_loop();
        }
    }
}

fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live variable. This clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn it_spins_as_long_as_it_says_and_was_asked_to() {
        let spin = Spin::new(2_000);

        let begin = Instant::now();
        let said: Vec<u64> = (0..5_000).map(|_| spin.run()).collect();
        let took_ns = begin.elapsed().as_nanos() as u64;

        assert!(said.iter().all(|&ns| ns >= 2_000));
        assert!(said.iter().sum::<u64>() <= took_ns);
    }

    #[test]
    fn no_handicap_reads_no_clock() {
        assert_eq!(Spin { ns: 0, reading_ns: 7 }.run(), 0);
    }

    #[test]
    fn what_the_clock_costs_is_part_of_the_time() {
        let spent_ns = Spin { ns: 1_000, reading_ns: 1_000_000 }.run();
        assert!(spent_ns >= 1_000_000);
    }
}
