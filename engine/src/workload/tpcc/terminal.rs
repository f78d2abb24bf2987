//! Where terminals stand: a client of an arm is one terminal, with a home warehouse and districts.

use crate::generate::tpcc::values::{DISTRICTS, between};
use crate::script::random::Prng;

/// How terminals are spread over warehouses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Evenly, as BenchBase does: terminals of one warehouse share out its districts.
    Shared,
    /// As the standard has it: at most ten at a warehouse, which all work on all its districts.
    Standard,
    /// Any number: each transaction has another home.
    Any,
}

impl Spread {
    pub const ALL: [Spread; 3] = [Spread::Shared, Spread::Standard, Spread::Any];
    pub const NAMES: [&str; 3] = ["shared", "standard", "any"];
}

/// Of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home {
    pub warehouse: u64,
    pub district: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    pub warehouses: u64,
    /// None: any.
    warehouse: Option<u64>,
    district_least: u64,
    district_most: u64,
    /// The district whose stock is looked at; None: any of its own.
    watched: Option<u64>,
}

impl Terminal {
    pub fn home(&self, prng: &mut Prng) -> Home {
        let warehouse = self.warehouse.unwrap_or_else(|| between(prng, 1, self.warehouses));
        Home { warehouse, district: between(prng, self.district_least, self.district_most) }
    }

    /// Where a stock-level transaction looks.
    pub fn watched(&self, prng: &mut Prng) -> Home {
        let home = self.home(prng);
        Home { district: self.watched.unwrap_or(home.district), ..home }
    }

    /// A warehouse that is not this one; None where there is no other.
    pub fn other_warehouse(&self, home: u64, prng: &mut Prng) -> Option<u64> {
        if self.warehouses == 1 {
            return None;
        }
        let drawn = between(prng, 1, self.warehouses - 1);
        Some(if drawn < home { drawn } else { drawn + 1 })
    }
}

/// One for each client; an error where a warehouse would have more terminals than districts.
pub fn terminals(spread: Spread, warehouses: u64, clients: u64) -> Result<Vec<Terminal>, String> {
    if spread != Spread::Any && clients > warehouses * DISTRICTS {
        return Err(format!(
            "{clients} terminals at {warehouses} warehouses: more than their {} districts",
            warehouses * DISTRICTS
        ));
    }
    let everywhere =
        Terminal { warehouses, warehouse: None, district_least: 1, district_most: DISTRICTS, watched: None };
    Ok(match spread {
        Spread::Shared => (0..warehouses)
            .flat_map(|number| {
                let (begin, end) = (number * clients / warehouses, (number + 1) * clients / warehouses);
                (begin..end).map(move |client| {
                    let (place, of) = (client - begin, end - begin);
                    Terminal {
                        warehouse: Some(number + 1),
                        district_least: place * DISTRICTS / of + 1,
                        district_most: (place + 1) * DISTRICTS / of,
                        ..everywhere
                    }
                })
            })
            .collect(),
        Spread::Standard => (0..clients)
            .map(|client| Terminal {
                warehouse: Some(client % warehouses + 1),
                watched: Some(client / warehouses + 1),
                ..everywhere
            })
            .collect(),
        Spread::Any => {
            (0..clients).map(|client| Terminal { watched: Some(client % DISTRICTS + 1), ..everywhere }).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places(spread: Spread, warehouses: u64, clients: u64) -> Vec<(Option<u64>, u64, u64)> {
        let made = terminals(spread, warehouses, clients).unwrap();
        made.iter().map(|one| (one.warehouse, one.district_least, one.district_most)).collect()
    }

    #[test]
    fn terminals_of_one_warehouse_share_out_its_districts() {
        assert_eq!(places(Spread::Shared, 1, 1), [(Some(1), 1, 10)]);
        assert_eq!(places(Spread::Shared, 1, 3), [(Some(1), 1, 3), (Some(1), 4, 6), (Some(1), 7, 10)]);
        assert_eq!(places(Spread::Shared, 2, 3), [(Some(1), 1, 10), (Some(2), 1, 5), (Some(2), 6, 10)]);
        assert_eq!(places(Spread::Shared, 10, 1), [(Some(10), 1, 10)]);
    }

    #[test]
    fn the_standard_has_ten_terminals_at_a_warehouse_each_with_stock_of_its_own_to_watch() {
        let made = terminals(Spread::Standard, 3, 30).unwrap();
        for warehouse in 1..=3 {
            let mut watched: Vec<_> =
                made.iter().filter(|one| one.warehouse == Some(warehouse)).map(|one| one.watched.unwrap()).collect();
            watched.sort_unstable();
            assert_eq!(watched, (1..=10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn more_terminals_than_districts_are_refused_where_they_have_a_home() {
        for spread in [Spread::Shared, Spread::Standard] {
            let error = terminals(spread, 2, 21).unwrap_err();
            assert_eq!(error, "21 terminals at 2 warehouses: more than their 20 districts");
        }
        assert_eq!(terminals(Spread::Any, 2, 21).unwrap().len(), 21);
    }

    #[test]
    fn another_warehouse_is_any_but_this_one() {
        let terminal = terminals(Spread::Shared, 4, 1).unwrap()[0];
        let mut prng = Prng::seeded(1);
        let mut seen = [0; 5];
        for _ in 0..3000 {
            seen[terminal.other_warehouse(3, &mut prng).unwrap() as usize] += 1;
        }
        assert_eq!((seen[0], seen[3]), (0, 0));
        assert!([1, 2, 4].iter().all(|&warehouse| seen[warehouse] > 900));
        let alone = terminals(Spread::Shared, 1, 1).unwrap()[0];
        assert_eq!(alone.other_warehouse(1, &mut prng), None);
    }

    proptest! {
        #[test]
        fn no_district_has_two_terminals_and_none_at_a_used_warehouse_is_left_out(
            warehouses in 1u64..40,
            share in 0.0..=1.0f64,
        ) {
            let clients = ((warehouses * DISTRICTS) as f64 * share).ceil().max(1.0) as u64;
            let made = terminals(Spread::Shared, warehouses, clients).unwrap();
            prop_assert_eq!(made.len() as u64, clients);
            let mut districts: Vec<_> = made
                .iter()
                .flat_map(|one| (one.district_least..=one.district_most).map(|district| (one.warehouse, district)))
                .collect();
            let all = districts.len();
            districts.sort_unstable();
            districts.dedup();
            prop_assert_eq!(districts.len(), all);
            prop_assert_eq!(all % DISTRICTS as usize, 0);
            prop_assert!(made.iter().all(|one| one.district_least <= one.district_most));
        }
    }
}
