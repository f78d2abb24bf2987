//! The rows of TPC-H's refresh functions, in sets: new orders with their lines, and for each the older order that is to
//! go.
//!
//! As the specification's generator has them: a set is a thousandth of the table's orders. Its rows are drawn as those
//! that would follow the table's last. Its keys lie in the gaps that the table's sparse keys leave: each right behind
//! the eight keys among which that of the older order is.

use super::row::{Fields, lineitem, order};
use super::text::{self, Comments};
use super::{SCALE_FACTOR_MIN, TpchRows, drawn, lines, scale_factor};
use crate::generate::{Opened, Rows, Share};
use crate::parameters::Parameters;
use std::ops::RangeInclusive;
use tpchgen::generators::{LineItem, Order, OrderGenerator};

/// How many sets have as many orders as the table. The generator is asked for parts behind the last of so many.
const SETS_OF_TABLE: i32 = 1000;

/// Of the 32 keys for which the table has eight, the second eight are those of the sets up to here.
const SETS_MAX: u64 = 999;
const KEYS_BESIDE: i64 = 8;

const _: () = assert!(SCALE_FACTOR_MIN * OrderGenerator::SCALE_BASE as f64 >= SETS_OF_TABLE as f64);

/// Of a set, and what it takes the place of.
struct Fresh<T> {
    set: i32,
    old_key: i64,
    row: T,
}

/// The sets of a share.
#[derive(Clone)]
struct Sets {
    scale_factor: f64,
    numbers: RangeInclusive<i32>,
}

/// Tables `tpch_refresh_orders` and `tpch_refresh_lineitem`. Parameters: those of all tables, and `sets`.
pub fn open(table: &str, parameters: &Parameters, share: Share) -> Opened {
    let rows_of: fn(Sets) -> TpchRows = match table {
        "tpch_refresh_orders" => Sets::orders,
        "tpch_refresh_lineitem" => Sets::lines,
        _ => return None,
    };
    let read = || {
        let mut reading = parameters.read();
        let scale_factor = scale_factor(&mut reading)?;
        let sets = share.range(reading.count("sets", 1..=SETS_MAX)?);
        reading.end()?;
        let sets = Sets { scale_factor, numbers: sets.start as i32 + 1..=sets.end as i32 };
        Ok(Box::new(rows_of(sets)) as Box<dyn Rows>)
    };
    Some(read())
}

impl Sets {
    /// How many orders each has.
    fn orders_each(&self) -> i64 {
        OrderGenerator::calculate_row_count(self.scale_factor, 1, SETS_OF_TABLE)
    }

    /// How many orders the generator counts before the first of a set.
    fn orders_before(&self, set: i32) -> i64 {
        self.orders_each() * i64::from(SETS_OF_TABLE + set - 1)
    }

    /// The key of the older order, given that which the generator would give to the new one.
    fn old_key(&self) -> impl Fn(i64) -> i64 + Copy + Send + use<> {
        let first = self.orders_before(1);
        move |drawn| OrderGenerator::make_order_key(index_of(drawn) - first)
    }

    fn orders(self) -> TpchRows {
        let total = (self.orders_each() * self.numbers.clone().count() as i64) as u64;
        let (scale_factor, old_key) = (self.scale_factor, self.old_key());
        // Sets follow each other without gaps.
        let comments = Comments::of(text::ORDERS, self.orders_before(*self.numbers.start()));
        let rows = self.numbers.flat_map(move |set| {
            super::orders(scale_factor, SETS_OF_TABLE + set, SETS_OF_TABLE).map(move |drawn| {
                let old_key = old_key(drawn.o_orderkey);
                Fresh { set, old_key, row: Order { o_orderkey: old_key + KEYS_BESIDE, ..drawn } }
            })
        });
        TpchRows { rows: drawn(rows, comments, |_| true, fresh_order), done: 0, total }
    }

    fn lines(self) -> TpchRows {
        let count = |set| lines(self.orders_before(set), self.orders_each() as u64);
        let total = self.numbers.clone().map(count).sum();
        let (scale_factor, old_key) = (self.scale_factor, self.old_key());
        // Sets follow each other without gaps.
        let comments = Comments::of(text::LINEITEM, self.orders_before(*self.numbers.start()));
        let rows = self.numbers.flat_map(move |set| {
            super::line_items(scale_factor, SETS_OF_TABLE + set, SETS_OF_TABLE).map(move |drawn| {
                let old_key = old_key(drawn.l_orderkey);
                Fresh { set, old_key, row: LineItem { l_orderkey: old_key + KEYS_BESIDE, ..drawn } }
            })
        });
        TpchRows { rows: drawn(rows, comments, |fresh| fresh.row.l_linenumber == 1, fresh_line), done: 0, total }
    }
}

/// The inverse of the crate's `make_order_key`.
fn index_of(key: i64) -> i64 {
    (key >> 5 << 3) | (key & 7)
}

fn fresh_order(fresh: Fresh<Order<'static>>, comment: &[u8], out: &mut Fields<'_>) {
    out.number(fresh.set.into()).number(fresh.old_key);
    order(fresh.row, comment, out);
}

fn fresh_line(fresh: Fresh<LineItem<'static>>, comment: &[u8], out: &mut Fields<'_>) {
    out.number(fresh.set.into());
    lineitem(fresh.row, comment, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::tests::{check_shares, text};
    use crate::parameters::Given;
    use std::collections::{HashMap, HashSet};

    fn parameters(scale_factor: f64, sets: i64) -> Parameters {
        Parameters::of([
            ("scale", Given::Integer(1)),
            ("scale_factor", Given::Number(scale_factor)),
            ("sets", Given::Integer(sets)),
        ])
    }

    fn rows(table: &str, scale_factor: f64, sets: i64) -> Vec<Vec<String>> {
        let all = text(table, &parameters(scale_factor, sets), Share::WHOLE, 1 << 20);
        let all = String::from_utf8(all).unwrap();
        all.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }

    fn key(text: &str) -> i64 {
        text.parse().unwrap()
    }

    #[test]
    fn a_set_is_a_thousandth_of_the_orders_and_takes_the_place_of_the_first_ones() {
        let orders = rows("tpch_refresh_orders", 0.01, 3);
        assert_eq!(orders.len(), 3 * 15);
        for (number, order) in orders.iter().enumerate() {
            assert_eq!(order[0], (1 + number / 15).to_string());
            assert_eq!(key(&order[1]), OrderGenerator::make_order_key(1 + number as i64));
            // The eight keys behind those eight of the table, which the specification leaves free.
            assert_eq!(key(&order[2]), key(&order[1]) + 8);
            assert_eq!(key(&order[2]) >> 3 & 3, 1);
        }
    }

    #[test]
    fn lines_are_those_of_the_sets_orders_and_add_up_to_their_prices() {
        let (orders, lines) = (rows("tpch_refresh_orders", 0.01, 3), rows("tpch_refresh_lineitem", 0.01, 3));
        let mut prices: HashMap<(&str, &str), i64> = HashMap::new();
        let cents = |text: &str| key(&text.replace('.', ""));
        for line in &lines {
            let (price, discount, tax) = (cents(&line[6]), cents(&line[7]), cents(&line[8]));
            *prices.entry((&line[0], &line[1])).or_default() += price * (100 - discount) / 100 * (100 + tax) / 100;
        }
        assert_eq!(prices.len(), orders.len());
        for order in &orders {
            assert_eq!(prices[&(&*order[0], &*order[2])], cents(&order[5]), "{order:?}");
        }
    }

    #[test]
    fn rows_are_drawn_as_those_behind_the_tables_last() {
        // A table that is longer by a hundred sets begins as this one, and goes on with its sets.
        let longer: Vec<_> = OrderGenerator::new(0.011, 1, 1).iter().skip(15_000).take(30).collect();
        let orders = rows("tpch_refresh_orders", 0.01, 2);
        for (order, expected) in orders.iter().zip(longer) {
            let told = [&order[6], &order[7], &order[10]];
            let wanted = [expected.o_orderdate.to_string(), expected.o_orderpriority.into(), expected.o_comment.into()];
            assert!(told.into_iter().eq(&wanted), "{order:?}");
        }
    }

    #[test]
    fn shares_put_together_are_the_whole_and_totals_are_told() {
        for table in ["tpch_refresh_orders", "tpch_refresh_lineitem"] {
            check_shares(table, &parameters(SCALE_FACTOR_MIN, 8));
            let mut opened = open(table, &parameters(0.0333, 2), Share::WHOLE).unwrap().unwrap();
            opened.fill(&mut Vec::new(), usize::MAX);
            assert_eq!(opened.done(), opened.total(), "{table}");
        }
        let keys: HashSet<String> =
            rows("tpch_refresh_orders", 0.0333, 2).into_iter().map(|row| row[2].clone()).collect();
        assert_eq!(keys.len(), 2 * 49);
    }

    #[test]
    fn sets_beyond_those_with_keys_are_refused() {
        let refused = open("tpch_refresh_orders", &parameters(0.01, 1000), Share::WHOLE).unwrap().map(drop);
        assert_eq!(refused.unwrap_err(), "parameter `sets` is 1000, not a whole number from 1 to 999");
    }
}
