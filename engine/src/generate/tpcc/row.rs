//! What stands in a row: its key from its number, everything else drawn from a series of its own.

use super::Table;
use super::values::{
    self, C_LAST_NAME_LOAD, CARRIERS, CUSTOMERS, DISTRICTS, ITEMS, LAST_NAMES, LINES_MAX, LINES_MIN, NEW_ORDERS,
    ORDERS, Series, between, percent, write_data, write_digits, write_fraction, write_last_name, write_letters,
    write_number, write_state,
};
use crate::script::random::Prng;

/// When everything in the data happened. The standard wants the time of loading, which would make
/// the bytes of two loads differ.
const WHEN: &[u8] = b"2026-01-01 00:00:00";

const NULL: &[u8] = b"\\N";

/// Writes units of one table.
#[derive(Debug)]
pub struct Writer {
    table: Table,
    series: Series,
    /// Of orders, whichever table is written: order lines have to fit them.
    orders: Series,
    /// Who ordered in the district under way, by order.
    buyers: Option<Buyers>,
}

/// The customers of a district in the order in which they ordered: each once.
#[derive(Debug)]
struct Buyers {
    district: u64,
    customers: Vec<u16>,
}

/// A row under way: columns with tabs between.
struct Row<'a> {
    out: &'a mut Vec<u8>,
    begun: bool,
}

impl Row<'_> {
    fn column(&mut self) -> &mut Vec<u8> {
        if self.begun {
            self.out.push(b'\t');
        }
        self.begun = true;
        self.out
    }

    fn number(&mut self, number: u64) -> &mut Self {
        write_number(number, self.column());
        self
    }

    fn fraction(&mut self, units: u64, per_whole: u64) -> &mut Self {
        write_fraction(units, per_whole, self.column());
        self
    }

    fn text(&mut self, text: &[u8]) -> &mut Self {
        self.column().extend_from_slice(text);
        self
    }

    fn letters(&mut self, prng: &mut Prng, min: u64, max: u64) -> &mut Self {
        write_letters(prng, min, max, self.column());
        self
    }

    /// Two streets, city, state and zip code, of clause 4.3.2.7.
    fn address(&mut self, prng: &mut Prng) -> &mut Self {
        self.letters(prng, 10, 20).letters(prng, 10, 20).letters(prng, 10, 20);
        write_state(prng, self.column());
        write_digits(prng, 4, self.column());
        self.out.extend_from_slice(b"11111");
        self
    }

    fn end(&mut self) {
        self.out.push(b'\n');
    }
}

/// The key (warehouse, district, number), each from 1, of a unit that comes `per_district` times in a district.
fn key(unit: u64, per_district: u64) -> (u64, u64, u64) {
    let district = unit / per_district;
    (district / DISTRICTS + 1, district % DISTRICTS + 1, unit % per_district + 1)
}

/// Whether an order was on its way to the customer when the data was made.
fn is_delivered(order: u64) -> bool {
    order <= ORDERS - NEW_ORDERS
}

impl Writer {
    pub fn of(table: Table, seed: u64) -> Self {
        let series = |table: Table| Series::of(seed, table as u64);
        Self { table, series: series(table), orders: series(Table::Oorder), buyers: None }
    }

    /// How many rows a unit has.
    pub fn rows(&self, unit: u64) -> u64 {
        if self.table == Table::OrderLine { self.lines(unit) } else { 1 }
    }

    /// How many lines an order has: the first that its series gives.
    fn lines(&self, order_unit: u64) -> u64 {
        between(&mut self.orders.row(order_unit), LINES_MIN, LINES_MAX)
    }

    pub fn write(&mut self, unit: u64, out: &mut Vec<u8>) {
        match self.table {
            Table::Warehouse => self.warehouse(unit, out),
            Table::District => self.district(unit, out),
            Table::Customer => self.customer(unit, out),
            Table::History => self.history(unit, out),
            Table::Oorder => self.oorder(unit, out),
            Table::NewOrder => new_order(unit, out),
            Table::OrderLine => self.order_lines(unit, out),
            Table::Item => self.item(unit, out),
            Table::Stock => self.stock(unit, out),
        }
    }

    fn warehouse(&self, unit: u64, out: &mut Vec<u8>) {
        let prng = &mut self.series.row(unit);
        let mut row = Row { out, begun: false };
        row.number(unit + 1).letters(prng, 6, 10).address(prng);
        row.fraction(prng.up_to(2000), 10_000).text(b"300000.00").end();
    }

    fn district(&self, unit: u64, out: &mut Vec<u8>) {
        let prng = &mut self.series.row(unit);
        let (warehouse, district, _) = key(unit, 1);
        let mut row = Row { out, begun: false };
        row.number(warehouse).number(district).letters(prng, 6, 10).address(prng);
        row.fraction(prng.up_to(2000), 10_000).text(b"30000.00").number(ORDERS + 1).end();
    }

    fn customer(&self, unit: u64, out: &mut Vec<u8>) {
        let prng = &mut self.series.row(unit);
        let (warehouse, district, customer) = key(unit, CUSTOMERS);
        let name = if customer <= LAST_NAMES { customer - 1 } else { values::last_name(prng, C_LAST_NAME_LOAD) };
        let mut row = Row { out, begun: false };
        row.number(warehouse).number(district).number(customer).letters(prng, 8, 16).text(b"OE");
        write_last_name(name, row.column());
        row.address(prng);
        write_digits(prng, 16, row.column());
        row.text(WHEN).text(if percent(prng, 10) { b"BC" } else { b"GC" });
        row.number(50_000).fraction(prng.up_to(5000), 10_000);
        row.text(b"-10.00").text(b"10.00").number(1).number(0).letters(prng, 300, 500).end();
    }

    fn history(&self, unit: u64, out: &mut Vec<u8>) {
        let prng = &mut self.series.row(unit);
        let (warehouse, district, customer) = key(unit, CUSTOMERS);
        let mut row = Row { out, begun: false };
        row.number(customer).number(district).number(warehouse).number(district).number(warehouse);
        row.text(WHEN).text(b"10.00").letters(prng, 12, 24).end();
    }

    fn oorder(&mut self, unit: u64, out: &mut Vec<u8>) {
        let (warehouse, district, order) = key(unit, ORDERS);
        let buyer = self.buyer(unit / ORDERS, order);
        let prng = &mut self.series.row(unit);
        let lines = between(prng, LINES_MIN, LINES_MAX);
        let mut row = Row { out, begun: false };
        row.number(warehouse).number(district).number(order).number(buyer);
        if is_delivered(order) {
            row.number(between(prng, 1, CARRIERS));
        } else {
            row.text(NULL);
        }
        row.number(lines).number(1).text(WHEN).end();
    }

    fn order_lines(&self, unit: u64, out: &mut Vec<u8>) {
        let (warehouse, district, order) = key(unit, ORDERS);
        let prng = &mut self.series.row(unit);
        for line in 1..=self.lines(unit) {
            let mut row = Row { out, begun: false };
            row.number(warehouse).number(district).number(order).number(line).number(between(prng, 1, ITEMS));
            if is_delivered(order) {
                row.text(WHEN).text(b"0.00");
            } else {
                row.text(NULL).fraction(between(prng, 1, 999_999), 100);
            }
            row.number(warehouse).number(5).letters(prng, 24, 24).end();
        }
    }

    fn item(&self, unit: u64, out: &mut Vec<u8>) {
        let prng = &mut self.series.row(unit);
        let mut row = Row { out, begun: false };
        row.number(unit + 1).letters(prng, 14, 24).fraction(between(prng, 100, 10_000), 100);
        write_data(prng, 26, 50, row.column());
        row.number(between(prng, 1, 10_000)).end();
    }

    fn stock(&self, unit: u64, out: &mut Vec<u8>) {
        let prng = &mut self.series.row(unit);
        let mut row = Row { out, begun: false };
        row.number(unit / ITEMS + 1).number(unit % ITEMS + 1).number(between(prng, 10, 100));
        row.number(0).number(0).number(0);
        write_data(prng, 26, 50, row.column());
        for _ in 0..DISTRICTS {
            row.letters(prng, 24, 24);
        }
        row.end();
    }

    /// The customer of an order: its place in a permutation that is the district's own.
    fn buyer(&mut self, district: u64, order: u64) -> u64 {
        if self.buyers.as_ref().is_none_or(|buyers| buyers.district != district) {
            // Apart from the series of the district's orders, of which there are fewer than this.
            let prng = &mut self.series.row(u64::MAX / 2 + district);
            let mut customers: Vec<u16> = (1..=CUSTOMERS as u16).collect();
            for last in (1..customers.len()).rev() {
                customers.swap(last, prng.up_to(last as u64) as usize);
            }
            self.buyers = Some(Buyers { district, customers });
        }
        u64::from(self.buyers.as_ref().expect("just made").customers[order as usize - 1])
    }
}

fn new_order(unit: u64, out: &mut Vec<u8>) {
    let (warehouse, district, number) = key(unit, NEW_ORDERS);
    let mut row = Row { out, begun: false };
    row.number(warehouse).number(district).number(ORDERS - NEW_ORDERS + number).end();
}
