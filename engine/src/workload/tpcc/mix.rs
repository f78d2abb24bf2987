//! Which transaction comes next, and how long its terminal waits before.

use crate::script::random::Prng;
use std::time::Duration;

pub const NEW_ORDER: usize = 0;
pub const PAYMENT: usize = 1;
pub const ORDER_STATUS: usize = 2;
pub const DELIVERY: usize = 3;
pub const STOCK_LEVEL: usize = 4;

/// In the order of the constants above.
pub const KINDS: [&str; 5] = ["new_order", "payment", "order_status", "delivery", "stock_level"];

/// The deck of clause 5.2.4.2: of each kind so many cards.
const CARDS: [usize; KINDS.len()] = [10, 10, 1, 1, 1];
const DECK: usize = 23;

/// Clauses 5.2.5.2 and 5.2.5.4, in seconds.
const KEYING_S: [f64; KINDS.len()] = [18.0, 3.0, 2.0, 2.0, 2.0];
const THINK_S_MEAN: [f64; KINDS.len()] = [12.0, 12.0, 10.0, 5.0, 5.0];

/// Longer think times are cut to so many means.
const THINK_MEANS_MAX: f64 = 10.0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mix {
    /// Cards dealt from a shuffled deck, which gives every terminal all kinds in fixed shares.
    Deck,
    /// Each by itself by lot: the sums of the weights so far.
    Weighted([u64; KINDS.len()]),
}

impl Mix {
    pub fn weighted(weights: [u64; KINDS.len()]) -> Result<Self, String> {
        let mut sum = 0;
        let sums = weights.map(|weight| {
            sum += weight;
            sum
        });
        if sum == 0 { Err("all weights are 0".to_owned()) } else { Ok(Mix::Weighted(sums)) }
    }
}

/// Deals the kinds of one terminal's transactions.
#[derive(Debug, Default)]
pub struct Dealer {
    left: Vec<usize>,
}

impl Dealer {
    /// Begins with a new deck.
    pub fn reset(&mut self) {
        self.left.clear();
    }

    pub fn deal(&mut self, mix: &Mix, prng: &mut Prng) -> usize {
        match mix {
            Mix::Weighted(sums) => {
                let drawn = prng.up_to(sums[KINDS.len() - 1] - 1);
                sums.partition_point(|&sum| sum <= drawn)
            }
            Mix::Deck => {
                if self.left.is_empty() {
                    self.left.extend(CARDS.iter().enumerate().flat_map(|(kind, &count)| [kind].repeat(count)));
                    debug_assert_eq!(self.left.len(), DECK);
                    for last in (1..self.left.len()).rev() {
                        self.left.swap(last, prng.up_to(last as u64) as usize);
                    }
                }
                self.left.pop().expect("a deck has cards")
            }
        }
    }
}

/// Keying before a transaction of this kind, and thinking after the one before it; `waits` times
/// those of the standard.
pub fn pause(before: Option<usize>, kind: usize, waits: f64, prng: &mut Prng) -> Duration {
    if waits == 0.0 {
        return Duration::ZERO;
    }
    let think = before.map_or(0.0, |before| {
        let means = -(1.0 - prng.fraction()).ln();
        THINK_S_MEAN[before] * means.min(THINK_MEANS_MAX)
    });
    Duration::from_secs_f64(waits * (KEYING_S[kind] + think))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(mix: &Mix, count: usize) -> [usize; KINDS.len()] {
        let (mut dealer, mut prng) = (Dealer::default(), Prng::seeded(5));
        let mut seen = [0; KINDS.len()];
        (0..count).for_each(|_| seen[dealer.deal(mix, &mut prng)] += 1);
        seen
    }

    #[test]
    fn a_deck_has_every_kind_in_its_share_and_no_two_decks_are_alike() {
        assert_eq!(dealt(&Mix::Deck, 23), CARDS);
        assert_eq!(dealt(&Mix::Deck, 230), CARDS.map(|count| 10 * count));
        let (mut dealer, mut prng) = (Dealer::default(), Prng::seeded(5));
        let mut deck = || (0..DECK).map(|_| dealer.deal(&Mix::Deck, &mut prng)).collect::<Vec<_>>();
        assert_ne!(deck(), deck());
    }

    #[test]
    fn weights_give_their_shares_and_none_gives_nothing() {
        let seen = dealt(&Mix::weighted([45, 43, 4, 8, 0]).unwrap(), 100_000);
        for (kind, weight) in [45_000usize, 43_000, 4_000, 8_000].into_iter().enumerate() {
            assert!(seen[kind].abs_diff(weight) < 800, "{seen:?}");
        }
        assert_eq!(seen[STOCK_LEVEL], 0);
        assert_eq!(Mix::weighted([0; 5]).unwrap_err(), "all weights are 0");
    }

    #[test]
    fn waits_are_the_standards_times_a_share_and_none_without() {
        let mut prng = Prng::seeded(6);
        let before = prng.clone();
        assert_eq!(pause(Some(PAYMENT), NEW_ORDER, 0.0, &mut prng), Duration::ZERO);
        assert_eq!(prng, before);
        assert_eq!(pause(None, NEW_ORDER, 0.5, &mut prng), Duration::from_secs(9));
        let mut total = 0.0;
        for _ in 0..20_000 {
            let seconds = pause(Some(DELIVERY), STOCK_LEVEL, 1.0, &mut prng).as_secs_f64();
            assert!((2.0..=52.0).contains(&seconds));
            total += seconds;
        }
        // A mean of 2 s and 5 s, with a standard deviation of 5 s.
        assert!((total / 20_000.0 - 7.0).abs() < 0.15, "{total}");
    }
}
