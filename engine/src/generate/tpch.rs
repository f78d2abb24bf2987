//! The rows of TPC-H's tables, from the crate `tpchgen`, whose rows are those of the specification's
//! own generator. Here they become the text of COPY, and are counted and cut into shares.
//!
//! Comments are drawn here, beside the rows, and are cut from one pool of 300 MB ([`text`]), which the first table makes.

mod refresh;
mod row;
mod text;

use super::{Opened, Rows, Share};
use crate::parameters::{Parameters, Reading};
use row::Fields;
use std::collections::VecDeque;
use text::{Commented, Comments};
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    CustomerGenerator, LineItem, LineItemGenerator, NationGenerator, Order, OrderGenerator, PartGenerator,
    PartSuppGenerator, Region, RegionGenerator, SupplierGenerator,
};

/// No row is longer. The longest are those of `partsupp`, with a comment of up to 199 bytes.
const ROW_BYTES_MAX: usize = 512;

const SUPPLIERS_PER_PART: u64 = 4;

/// With fewer suppliers than ten a part's four would be the same ones.
const SCALE_FACTOR_MIN: f64 = 0.001;

/// The largest for which the specification has results; the numbers of rows of parts and orders fit into it.
const SCALE_MAX: i64 = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Region,
    Nation,
    Supplier,
    Customer,
    Part,
    PartSupp,
    Orders,
    LineItem,
}

impl Table {
    pub const ALL: [Table; 8] = [
        Table::Region,
        Table::Nation,
        Table::Supplier,
        Table::Customer,
        Table::Part,
        Table::PartSupp,
        Table::Orders,
        Table::LineItem,
    ];

    /// As in `rows` of a load's step.
    pub fn name(self) -> &'static str {
        match self {
            Table::Region => "tpch_region",
            Table::Nation => "tpch_nation",
            Table::Supplier => "tpch_supplier",
            Table::Customer => "tpch_customer",
            Table::Part => "tpch_part",
            Table::PartSupp => "tpch_partsupp",
            Table::Orders => "tpch_orders",
            Table::LineItem => "tpch_lineitem",
        }
    }

    /// Regions and nations are as many at every scale, and are no work to divide.
    fn is_fixed(self) -> bool {
        matches!(self, Table::Region | Table::Nation)
    }

    /// How many rows the generator draws for a part of so many: of lines their orders, of suppliers of parts the parts.
    fn drawn(self, scale_factor: f64, part: i32, parts: i32) -> i64 {
        match self {
            Table::Region | Table::Nation if part > 1 => 0,
            Table::Region => 5,
            Table::Nation => 25,
            Table::Supplier => SupplierGenerator::calculate_row_count(scale_factor, part, parts),
            Table::Customer => CustomerGenerator::calculate_row_count(scale_factor, part, parts),
            Table::Part | Table::PartSupp => PartGenerator::calculate_row_count(scale_factor, part, parts),
            Table::Orders | Table::LineItem => OrderGenerator::calculate_row_count(scale_factor, part, parts),
        }
    }

    /// How many rows a share has, at a scale factor.
    fn rows(self, scale_factor: f64, share: Share) -> u64 {
        let (part, parts) = part_of(share);
        let counted = self.drawn(scale_factor, part, parts) as u64;
        match self {
            Table::PartSupp => counted * SUPPLIERS_PER_PART,
            Table::LineItem => lines((1..part).map(|part| self.drawn(scale_factor, part, parts)).sum(), counted),
            _ => counted,
        }
    }
}

/// The same in the crate's words, which count from 1.
fn part_of(share: Share) -> (i32, i32) {
    (share.number as i32 + 1, share.of as i32)
}

/// How many lines so many orders have, behind those `before`: each draws its number, and nothing else has to be drawn to
/// know it.
fn lines(before: i64, orders: u64) -> u64 {
    let mut drawn = OrderGenerator::create_line_count_random();
    drawn.advance_rows(before);
    let mut lines = 0;
    for _ in 0..orders {
        lines += drawn.next_value() as u64;
        drawn.row_finished();
    }
    lines
}

/// Tables `tpch_region` to `tpch_lineitem`, and those of [`refresh`]. Parameters: `scale`, and `scale_factor` for each
/// unit of it.
pub fn open(table: &str, parameters: &Parameters, share: Share) -> Opened {
    if let refresh @ Some(_) = refresh::open(table, parameters, share) {
        return refresh;
    }
    let table = Table::ALL.into_iter().find(|known| known.name() == table)?;
    let read = || {
        let mut reading = parameters.read();
        let scale_factor = scale_factor(&mut reading)?;
        reading.end()?;
        Ok(Box::new(TpchRows::of(table, scale_factor, share)) as Box<dyn Rows>)
    };
    Some(read())
}

fn scale_factor(reading: &mut Reading<'_>) -> Result<f64, String> {
    let scale = reading.integer("scale", 1..=SCALE_MAX)?;
    let scale_factor = reading.number("scale_factor", SCALE_FACTOR_MIN..=1.0)?;
    // 100 times 0.57 is a little less than 57, and would be a row less of every table.
    Ok((scale as f64 * scale_factor * 1e6).round() / 1e6)
}

/// Hands out the rows of a share of a table in the order of their keys.
pub struct TpchRows {
    rows: Box<dyn Source>,
    done: u64,
    total: u64,
}

impl TpchRows {
    fn of(table: Table, scale_factor: f64, share: Share) -> Self {
        let (sf, (part, parts)) = (scale_factor, part_of(share));
        let total = table.rows(scale_factor, share);
        let before: i64 = (1..part).map(|part| table.drawn(scale_factor, part, parts)).sum();
        let (words, pool) = (Distributions::static_default(), text::stand_in());
        let comments = |of: Commented| Comments::of(of, before);
        let rows: Box<dyn Source> = match table {
            _ if table.is_fixed() && share.number > 0 => {
                drawn(std::iter::empty::<Region<'static>>(), comments(text::REGION), one_by_one, row::region)
            }
            Table::Region => {
                let rows = RegionGenerator::new_with_distributions_and_text_pool(words, pool).iter();
                drawn(rows, comments(text::REGION), one_by_one, row::region)
            }
            Table::Nation => {
                let rows = NationGenerator::new_with_distributions_and_text_pool(words, pool).iter();
                drawn(rows, comments(text::NATION), one_by_one, row::nation)
            }
            Table::Supplier => {
                let rows = SupplierGenerator::new_with_distributions_and_text_pool(sf, part, parts, words, pool).iter();
                drawn(rows, comments(text::SUPPLIER), one_by_one, row::supplier)
            }
            Table::Customer => {
                let rows = CustomerGenerator::new_with_distributions_and_text_pool(sf, part, parts, words, pool).iter();
                drawn(rows, comments(text::CUSTOMER), one_by_one, row::customer)
            }
            Table::Part => {
                let rows = PartGenerator::new_with_distributions_and_text_pool(sf, part, parts, words, pool).iter();
                drawn(rows, comments(text::PART), one_by_one, row::part)
            }
            Table::PartSupp => {
                let rows = PartSuppGenerator::new_with_text_pool(sf, part, parts, pool).iter().enumerate();
                let begins = |row: &(usize, _)| (row.0 as u64).is_multiple_of(SUPPLIERS_PER_PART);
                drawn(rows, comments(text::PARTSUPP), begins, |(_, row), comment, out| row::partsupp(row, comment, out))
            }
            Table::Orders => drawn(orders(sf, part, parts), comments(text::ORDERS), one_by_one, row::order),
            Table::LineItem => {
                drawn(line_items(sf, part, parts), comments(text::LINEITEM), is_first_line, row::lineitem)
            }
        };
        Self { rows, done: 0, total }
    }
}

fn orders(scale_factor: f64, part: i32, parts: i32) -> impl Iterator<Item = Order<'static>> + Send {
    let (words, pool) = (Distributions::static_default(), text::stand_in());
    OrderGenerator::new_with_distributions_and_text_pool(scale_factor, part, parts, words, pool).iter()
}

fn line_items(scale_factor: f64, part: i32, parts: i32) -> impl Iterator<Item = LineItem<'static>> + Send {
    let (words, pool) = (Distributions::static_default(), text::stand_in());
    LineItemGenerator::new_with_distributions_and_text_pool(scale_factor, part, parts, words, pool).iter()
}

fn one_by_one<T>(_: &T) -> bool {
    true
}

fn is_first_line(line: &LineItem<'_>) -> bool {
    line.l_linenumber == 1
}

impl Rows for TpchRows {
    fn fill(&mut self, out: &mut Vec<u8>, bytes_max: usize) {
        while out.len() + ROW_BYTES_MAX <= bytes_max && self.rows.append(out) {
            self.done += 1;
        }
    }

    fn done(&self) -> u64 {
        self.done
    }

    fn total(&self) -> u64 {
        self.total
    }
}

trait Source: Send {
    /// Appends the next row; whether there was one.
    fn append(&mut self, out: &mut Vec<u8>) -> bool;
}

/// How many rows are drawn before one is written. Its comment lies anywhere in the pool, whose 300 MB are in no
/// cache: meanwhile it comes. Half of a load's own time was waiting for comments.
const DRAWN_AHEAD: usize = 16;

/// Rows as they are drawn, their comments beside them, and how one is written.
struct Drawn<I: Iterator> {
    rows: I,
    comments: Comments,
    begins: fn(&I::Item) -> bool,
    ahead: VecDeque<(I::Item, &'static [u8])>,
    write: fn(I::Item, &[u8], &mut Fields<'_>),
}

/// `begins`: whether a row is the first of those whose comments are drawn together. `write` takes no comment from
/// the row itself.
fn drawn<I>(
    rows: I,
    comments: Comments,
    begins: fn(&I::Item) -> bool,
    write: fn(I::Item, &[u8], &mut Fields<'_>),
) -> Box<dyn Source>
where
    I: Iterator<Item: Send> + Send + 'static,
{
    Box::new(Drawn { rows, comments, begins, ahead: VecDeque::with_capacity(DRAWN_AHEAD), write })
}

impl<I: Iterator<Item: Send> + Send> Source for Drawn<I> {
    fn append(&mut self, out: &mut Vec<u8>) -> bool {
        while self.ahead.len() < DRAWN_AHEAD
            && let Some(row) = self.rows.next()
        {
            let comment = self.comments.next((self.begins)(&row));
            fetch(comment);
            self.ahead.push_back((row, comment));
        }
        let Some((row, comment)) = self.ahead.pop_front() else { return false };
        (self.write)(row, comment, &mut Fields(out));
        // What stands there is the separator behind the last field.
        *out.last_mut().expect("a row has fields") = b'\n';
        true
    }
}

const CACHE_LINE_BYTES: usize = 64;

/// Has a text brought into the cache, without waiting for it.
#[inline]
fn fetch(text: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for place in (0..text.len()).step_by(CACHE_LINE_BYTES).chain(text.len().checked_sub(1)) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, of memory that is there.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const text[place]).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = text;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::tests::{check_shares, text};
    use crate::parameters::Given;
    use std::fmt::Display;

    const SCALE_FACTOR: f64 = 0.01;

    fn parameters(scale_factor: f64) -> Parameters {
        Parameters::of([("scale", Given::Integer(1)), ("scale_factor", Given::Number(scale_factor))])
    }

    fn whole(table: Table) -> String {
        String::from_utf8(text(table.name(), &parameters(SCALE_FACTOR), Share::WHOLE, 1 << 20)).unwrap()
    }

    /// The crate's own rendering of the rows, with `|` behind every field.
    fn rendered<T: Display>(rows: impl Iterator<Item = T>) -> String {
        rows.map(|row| row.to_string().trim_end_matches('|').replace('|', "\t") + "\n").collect()
    }

    #[test]
    fn rows_are_those_of_the_crate_in_the_text_of_copy() {
        let (sf, part, parts) = (SCALE_FACTOR, 1, 1);
        let expected = [
            (Table::Region, rendered(RegionGenerator::default().iter())),
            (Table::Nation, rendered(NationGenerator::default().iter())),
            (Table::Supplier, rendered(SupplierGenerator::new(sf, part, parts).iter())),
            (Table::Customer, rendered(CustomerGenerator::new(sf, part, parts).iter())),
            (Table::Part, rendered(PartGenerator::new(sf, part, parts).iter())),
            (Table::PartSupp, rendered(PartSuppGenerator::new(sf, part, parts).iter())),
            (Table::Orders, rendered(OrderGenerator::new(sf, part, parts).iter())),
            (Table::LineItem, rendered(LineItemGenerator::new(sf, part, parts).iter())),
        ];
        for (table, rows) in expected {
            let text = whole(table);
            assert!(text == rows, "{table:?} begins {:?}", text.lines().next());
            assert!(!text.contains('\\'), "{table:?} has a character that COPY reads in its own way");
        }
    }

    #[test]
    fn suppliers_are_complained_of_and_recommended_where_the_crate_has_it() {
        let rows = text("tpch_supplier", &parameters(1.0), Share::WHOLE, 1 << 20);
        let expected = rendered(SupplierGenerator::new(1.0, 1, 1).iter());
        assert!(expected.contains("Complaints") && expected.contains("Recommends"));
        assert!(rows == expected.as_bytes());
    }

    #[test]
    fn shares_put_together_are_the_whole() {
        for table in Table::ALL {
            check_shares(table.name(), &parameters(SCALE_FACTOR_MIN));
        }
    }

    #[test]
    fn tables_have_the_rows_of_the_specification() {
        let counts = Table::ALL.map(|table| table.rows(1.0, Share::WHOLE));
        assert_eq!(counts, [5, 25, 10_000, 150_000, 200_000, 800_000, 1_500_000, 6_001_215]);
    }

    #[test]
    fn a_share_knows_how_many_rows_it_has() {
        for table in Table::ALL {
            for number in 0..3 {
                let share = Share { number, of: 3 };
                let mut rows = TpchRows::of(table, SCALE_FACTOR, share);
                rows.fill(&mut Vec::new(), usize::MAX);
                assert_eq!(rows.done(), rows.total(), "{table:?} {number}");
            }
        }
    }

    #[test]
    fn a_scale_is_so_many_scale_factors() {
        let parameters = Parameters::of([("scale", Given::Integer(100)), ("scale_factor", Given::Number(0.57))]);
        let rows = open("tpch_supplier", &parameters, Share::WHOLE).unwrap().unwrap();
        assert_eq!(rows.total(), 570_000);
    }

    #[test]
    fn no_row_is_longer_than_there_is_room_for() {
        for table in Table::ALL {
            let longest = whole(table).lines().map(str::len).max().unwrap();
            assert!(longest < ROW_BYTES_MAX, "{table:?}: {longest}");
        }
    }

    #[test]
    fn a_scale_factor_without_suppliers_is_refused() {
        let refused = open("tpch_supplier", &parameters(0.0), Share::WHOLE).unwrap().map(drop).unwrap_err();
        assert_eq!(refused, "parameter `scale_factor` is 0, not a number from 0.001 to 1");
    }
}
