//! The rows of the TPC-C-like dataset: nine tables with the cardinalities and values of clause
//! 4.3.3.1 of the standard. A row depends on its key and the seed alone, so that any part of a table
//! can be made by itself, and warehouse 1 is the same among ten as alone.

mod row;
pub mod values;

use super::{Opened, Share};
use crate::parameters::Parameters;
use row::Writer;
use values::{CUSTOMERS, DISTRICTS, ITEMS, NEW_ORDERS, ORDERS};

/// Rows of every table have numbers of their own far beyond this.
pub const WAREHOUSES_MAX: u64 = 100_000;

/// No unit of any table is longer: 15 order lines, or a customer with 500 characters of data.
const UNIT_BYTES_MAX: usize = 2048;

/// Rows of stock and item that belong together in a share.
const BLOCK: u64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Warehouse,
    District,
    Customer,
    History,
    Oorder,
    NewOrder,
    OrderLine,
    Item,
    Stock,
}

impl Table {
    pub const ALL: [Table; 9] = [
        Table::Warehouse,
        Table::District,
        Table::Customer,
        Table::History,
        Table::Oorder,
        Table::NewOrder,
        Table::OrderLine,
        Table::Item,
        Table::Stock,
    ];

    /// As the seam names it.
    pub fn name(self) -> &'static str {
        match self {
            Table::Warehouse => "tpcc_warehouse",
            Table::District => "tpcc_district",
            Table::Customer => "tpcc_customer",
            Table::History => "tpcc_history",
            Table::Oorder => "tpcc_oorder",
            Table::NewOrder => "tpcc_new_order",
            Table::OrderLine => "tpcc_order_line",
            Table::Item => "tpcc_item",
            Table::Stock => "tpcc_stock",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// Units of a table are written whole: a row, or the lines of an order.
    fn units(self, warehouses: u64) -> u64 {
        warehouses
            * match self {
                Table::Warehouse => 1,
                Table::District => DISTRICTS,
                Table::Customer | Table::History => DISTRICTS * CUSTOMERS,
                Table::Oorder | Table::OrderLine => DISTRICTS * ORDERS,
                Table::NewOrder => DISTRICTS * NEW_ORDERS,
                Table::Stock => ITEMS,
                Table::Item => return ITEMS,
            }
    }

    /// How many units stay together in one share: those of a district, or of a block of items.
    fn grain(self) -> u64 {
        match self {
            Table::Warehouse | Table::District => 1,
            Table::Customer | Table::History => CUSTOMERS,
            Table::Oorder | Table::OrderLine => ORDERS,
            Table::NewOrder => NEW_ORDERS,
            Table::Item | Table::Stock => BLOCK,
        }
    }
}

/// The tables `tpcc_warehouse`, `tpcc_district` ... Parameters: `scale`, the number of warehouses, and `seed`.
pub fn open(table: &str, parameters: &Parameters, share: Share) -> Opened {
    let table = Table::named(table)?;
    let read = || {
        let mut reading = parameters.read();
        let warehouses = reading.count("scale", 1..=WAREHOUSES_MAX)?;
        let seed = reading.count("seed", 0..=i64::MAX as u64)?;
        reading.end()?;
        Ok(Box::new(Rows::of(table, warehouses, seed, share)) as Box<dyn super::Rows>)
    };
    Some(read())
}

/// Hands out a contiguous share of a table's rows in the order of their keys.
#[derive(Debug)]
pub struct Rows {
    writer: Writer,
    next: u64,
    end: u64,
    done: u64,
    total: u64,
}

impl Rows {
    pub fn of(table: Table, warehouses: u64, seed: u64, share: Share) -> Self {
        let grain = table.grain();
        let range = share.range(table.units(warehouses) / grain);
        let (next, end) = (range.start * grain, range.end * grain);
        let writer = Writer::of(table, seed);
        let total = (next..end).map(|unit| writer.rows(unit)).sum();
        Self { writer, next, end, done: 0, total }
    }
}

impl super::Rows for Rows {
    fn fill(&mut self, out: &mut Vec<u8>, bytes_max: usize) {
        while self.next < self.end && out.len() + UNIT_BYTES_MAX <= bytes_max {
            self.writer.write(self.next, out);
            self.done += self.writer.rows(self.next);
            self.next += 1;
        }
    }

    fn done(&self) -> u64 {
        self.done
    }

    fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests;
