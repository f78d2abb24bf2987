//! What terminals are given to do: the input of the five transactions, clauses 2.4.1 to 2.8.1.

use super::terminal::{Home, Terminal};
use crate::generate::tpcc::values::{
    self, C_LAST_NAME_RUN, CARRIERS, DISTRICTS, ITEMS, LINES_MAX, LINES_MIN, between, percent,
};
use crate::script::random::Prng;

/// The item that there is not, which a hundredth of new orders ask for last.
pub const UNUSED_ITEM: u64 = ITEMS + 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    pub supply_warehouse: u64,
    pub item: u64,
    pub quantity: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrderInput {
    pub home: Home,
    pub customer: u64,
    /// By supplying warehouse and item, so that orders lock stock in one order; an unused item last.
    pub lines: Vec<Line>,
}

/// A customer by number, or by a last name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Number(u64),
    LastName(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentInput {
    pub home: Home,
    /// Where the customer lives.
    pub residence: Home,
    pub who: Who,
    pub amount_cents: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderStatusInput {
    pub home: Home,
    pub who: Who,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryInput {
    pub warehouse: u64,
    pub carrier: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockLevelInput {
    pub home: Home,
    pub threshold: u64,
}

impl NewOrderInput {
    pub fn draw(terminal: &Terminal, prng: &mut Prng) -> Self {
        let home = terminal.home(prng);
        let customer = values::customer(prng);
        let count = between(prng, LINES_MIN, LINES_MAX);
        let is_rolled_back = percent(prng, 1);
        let mut lines: Vec<_> = (0..count)
            .map(|_| {
                let item = values::item(prng);
                let remote = if percent(prng, 1) { terminal.other_warehouse(home.warehouse, prng) } else { None };
                Line { supply_warehouse: remote.unwrap_or(home.warehouse), item, quantity: between(prng, 1, 10) }
            })
            .collect();
        if is_rolled_back {
            lines.last_mut().expect("an order has lines").item = UNUSED_ITEM;
        }
        // The unused item goes last wherever its warehouse is.
        lines.sort_unstable_by_key(|line| (line.item == UNUSED_ITEM, *line));
        Self { home, customer, lines }
    }

    pub fn is_all_local(&self) -> bool {
        self.lines.iter().all(|line| line.supply_warehouse == self.home.warehouse)
    }
}

impl Who {
    fn draw(prng: &mut Prng) -> Self {
        if percent(prng, 60) {
            Who::LastName(values::last_name(prng, C_LAST_NAME_RUN))
        } else {
            Who::Number(values::customer(prng))
        }
    }
}

impl PaymentInput {
    pub fn draw(terminal: &Terminal, prng: &mut Prng) -> Self {
        let home = terminal.home(prng);
        let remote = if percent(prng, 15) { terminal.other_warehouse(home.warehouse, prng) } else { None };
        let residence = remote.map_or(home, |warehouse| Home { warehouse, district: between(prng, 1, DISTRICTS) });
        Self { home, residence, who: Who::draw(prng), amount_cents: between(prng, 100, 500_000) }
    }
}

impl OrderStatusInput {
    pub fn draw(terminal: &Terminal, prng: &mut Prng) -> Self {
        Self { home: terminal.home(prng), who: Who::draw(prng) }
    }
}

impl DeliveryInput {
    pub fn draw(terminal: &Terminal, prng: &mut Prng) -> Self {
        Self { warehouse: terminal.home(prng).warehouse, carrier: between(prng, 1, CARRIERS) }
    }
}

impl StockLevelInput {
    pub fn draw(terminal: &Terminal, prng: &mut Prng) -> Self {
        Self { home: terminal.watched(prng), threshold: between(prng, 10, 20) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::terminal::{Spread, terminals};
    use super::*;

    const DRAWS: usize = 50_000;

    fn terminal(warehouses: u64) -> Terminal {
        terminals(Spread::Shared, warehouses, 1).unwrap()[0]
    }

    #[test]
    fn orders_are_as_the_standard_wants_them() {
        let (terminal, mut prng) = (terminal(5), Prng::seeded(1));
        let (mut lines, mut remote, mut rolled_back, mut all_local) = (0usize, 0usize, 0usize, 0usize);
        for _ in 0..DRAWS {
            let order = NewOrderInput::draw(&terminal, &mut prng);
            assert_eq!(order.home.warehouse, 5);
            assert!((5..=15).contains(&order.lines.len()));
            lines += order.lines.len();
            remote += order.lines.iter().filter(|line| line.supply_warehouse != 5).count();
            all_local += usize::from(order.is_all_local());
            let unused: Vec<_> = (0..order.lines.len()).filter(|&n| order.lines[n].item == UNUSED_ITEM).collect();
            rolled_back += unused.len();
            assert!(unused.is_empty() || unused == [order.lines.len() - 1]);
            let used = &order.lines[..order.lines.len() - unused.len()];
            assert!(used.is_sorted() && used.iter().all(|line| (1..=ITEMS).contains(&line.item)));
            assert!(order.lines.iter().all(|line| (1..=10).contains(&line.quantity)));
        }
        assert!(lines.abs_diff(10 * DRAWS) < 4000, "{lines}");
        assert!(remote.abs_diff(DRAWS / 10) < 400, "{remote}");
        assert!(rolled_back.abs_diff(DRAWS / 100) < 120, "{rolled_back}");
        assert!(all_local > DRAWS * 88 / 100 && all_local < DRAWS * 93 / 100, "{all_local}");
    }

    #[test]
    fn payments_come_from_other_warehouses_and_by_name_in_their_shares() {
        let (terminal, mut prng) = (terminal(5), Prng::seeded(2));
        let (mut remote, mut by_name) = (0usize, 0usize);
        for _ in 0..DRAWS {
            let payment = PaymentInput::draw(&terminal, &mut prng);
            if payment.residence.warehouse == payment.home.warehouse {
                assert_eq!(payment.residence, payment.home);
            } else {
                remote += 1;
            }
            by_name += usize::from(matches!(payment.who, Who::LastName(_)));
            assert!((100..=500_000).contains(&payment.amount_cents));
        }
        assert!(remote.abs_diff(DRAWS * 15 / 100) < 500, "{remote}");
        assert!(by_name.abs_diff(DRAWS * 60 / 100) < 600, "{by_name}");
    }

    #[test]
    fn one_warehouse_has_nothing_remote() {
        let (terminal, mut prng) = (terminal(1), Prng::seeded(3));
        for _ in 0..2000 {
            assert!(NewOrderInput::draw(&terminal, &mut prng).is_all_local());
            assert_eq!(PaymentInput::draw(&terminal, &mut prng).residence.warehouse, 1);
        }
    }

    #[test]
    fn one_seed_gives_the_same_work_again() {
        let drawn = || {
            let (terminal, mut prng) = (terminal(3), Prng::seeded(4));
            let orders: Vec<_> = (0..50).map(|_| NewOrderInput::draw(&terminal, &mut prng)).collect();
            (orders, StockLevelInput::draw(&terminal, &mut prng), DeliveryInput::draw(&terminal, &mut prng))
        };
        assert_eq!(drawn(), drawn());
    }
}
