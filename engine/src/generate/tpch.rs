//! The rows of TPC-H's tables, from the crate `tpchgen`, whose rows are those of the specification's
//! own generator. Here they become the text of COPY, and are counted and cut into shares.
//!
//! Texts and comments are cut from one pool of 300 MB, which the first table that has any makes.

mod refresh;

use super::{Opened, Rows, Share};
use crate::parameters::{Parameters, Reading};
use std::collections::VecDeque;
use std::fmt::Display;
use std::io::Write;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order, OrderGenerator, Part,
    PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator, Supplier, SupplierGenerator,
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

    /// How many rows a share has, at a scale factor.
    fn rows(self, scale_factor: f64, share: Share) -> u64 {
        let (part, parts) = part_of(share);
        let counted = match self {
            Table::Region | Table::Nation if share.number > 0 => 0,
            Table::Region => 5,
            Table::Nation => 25,
            Table::Supplier => SupplierGenerator::calculate_row_count(scale_factor, part, parts),
            Table::Customer => CustomerGenerator::calculate_row_count(scale_factor, part, parts),
            Table::Part | Table::PartSupp => PartGenerator::calculate_row_count(scale_factor, part, parts),
            Table::Orders | Table::LineItem => OrderGenerator::calculate_row_count(scale_factor, part, parts),
        } as u64;
        match self {
            Table::PartSupp => counted * SUPPLIERS_PER_PART,
            Table::LineItem => {
                let count = |part| OrderGenerator::calculate_row_count(scale_factor, part, parts);
                lines((1..part).map(count).sum(), counted)
            }
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
        let (part, parts) = part_of(share);
        let total = table.rows(scale_factor, share);
        let rows: Box<dyn Source> = match table {
            _ if table.is_fixed() && share.number > 0 => {
                drawn(std::iter::empty::<Region<'static>>(), |row| row.r_comment, region)
            }
            Table::Region => drawn(RegionGenerator::default().iter(), |row| row.r_comment, region),
            Table::Nation => drawn(NationGenerator::default().iter(), |row| row.n_comment, nation),
            Table::Supplier => {
                drawn(SupplierGenerator::new(scale_factor, part, parts).iter(), |row| &row.s_comment, supplier)
            }
            Table::Customer => {
                drawn(CustomerGenerator::new(scale_factor, part, parts).iter(), |row| row.c_comment, customer)
            }
            Table::Part => drawn(PartGenerator::new(scale_factor, part, parts).iter(), |row| row.p_comment, self::part),
            Table::PartSupp => {
                drawn(PartSuppGenerator::new(scale_factor, part, parts).iter(), |row| row.ps_comment, partsupp)
            }
            Table::Orders => drawn(OrderGenerator::new(scale_factor, part, parts).iter(), |row| row.o_comment, order),
            Table::LineItem => {
                drawn(LineItemGenerator::new(scale_factor, part, parts).iter(), |row| row.l_comment, lineitem)
            }
        };
        Self { rows, done: 0, total }
    }
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

/// Rows as they are drawn, where their comments are, and how one is written.
struct Drawn<I: Iterator> {
    rows: I,
    ahead: VecDeque<I::Item>,
    comment: fn(&I::Item) -> &str,
    write: fn(I::Item, &mut Fields<'_>),
}

fn drawn<I>(rows: I, comment: fn(&I::Item) -> &str, write: fn(I::Item, &mut Fields<'_>)) -> Box<dyn Source>
where
    I: Iterator<Item: Send> + Send + 'static,
{
    Box::new(Drawn { rows, ahead: VecDeque::with_capacity(DRAWN_AHEAD), comment, write })
}

impl<I: Iterator<Item: Send> + Send> Source for Drawn<I> {
    fn append(&mut self, out: &mut Vec<u8>) -> bool {
        while self.ahead.len() < DRAWN_AHEAD
            && let Some(row) = self.rows.next()
        {
            fetch((self.comment)(&row));
            self.ahead.push_back(row);
        }
        let Some(row) = self.ahead.pop_front() else { return false };
        (self.write)(row, &mut Fields(out));
        // What stands there is the separator behind the last field.
        *out.last_mut().expect("a row has fields") = b'\n';
        true
    }
}

const CACHE_LINE_BYTES: usize = 64;

/// Has a text brought into the cache, without waiting for it.
#[inline]
fn fetch(text: &str) {
    #[cfg(target_arch = "x86_64")]
    for place in (0..text.len()).step_by(CACHE_LINE_BYTES).chain(text.len().checked_sub(1)) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, of memory that is there.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const text.as_bytes()[place]).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = text;
}

/// Writes the fields of a row, each with a separator behind it. None of TPC-H's texts has a character that COPY
/// would have escaped.
struct Fields<'a>(&'a mut Vec<u8>);

impl Fields<'_> {
    fn text(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b'\t');
        self
    }

    fn number(&mut self, number: i64) -> &mut Self {
        self.text(itoa::Buffer::new().format(number))
    }

    fn amount(&mut self, amount: TPCHDecimal) -> &mut Self {
        let cents = amount.into_inner();
        if cents < 0 {
            self.0.push(b'-');
        }
        self.0.extend_from_slice(itoa::Buffer::new().format(cents.abs() / 100).as_bytes());
        let rest = (cents.abs() % 100) as u8;
        self.0.extend_from_slice(&[b'.', b'0' + rest / 10, b'0' + rest % 10, b'\t']);
        self
    }

    fn shown(&mut self, value: impl Display) -> &mut Self {
        write!(self.0, "{value}\t").expect("memory takes what is written");
        self
    }
}

fn region(row: Region<'static>, out: &mut Fields<'_>) {
    out.number(row.r_regionkey).text(row.r_name).text(row.r_comment);
}

fn nation(row: Nation<'static>, out: &mut Fields<'_>) {
    out.number(row.n_nationkey).text(row.n_name).number(row.n_regionkey).text(row.n_comment);
}

fn supplier(row: Supplier, out: &mut Fields<'_>) {
    out.number(row.s_suppkey).shown(row.s_name).shown(row.s_address).number(row.s_nationkey);
    out.shown(row.s_phone).amount(row.s_acctbal).text(&row.s_comment);
}

fn customer(row: Customer<'static>, out: &mut Fields<'_>) {
    out.number(row.c_custkey).shown(row.c_name).shown(row.c_address).number(row.c_nationkey);
    out.shown(row.c_phone).amount(row.c_acctbal).text(row.c_mktsegment).text(row.c_comment);
}

fn part(row: Part<'static>, out: &mut Fields<'_>) {
    out.number(row.p_partkey).shown(row.p_name).shown(row.p_mfgr).shown(row.p_brand).text(row.p_type);
    out.number(row.p_size.into()).text(row.p_container).amount(row.p_retailprice).text(row.p_comment);
}

fn partsupp(row: PartSupp<'static>, out: &mut Fields<'_>) {
    out.number(row.ps_partkey).number(row.ps_suppkey).number(row.ps_availqty.into());
    out.amount(row.ps_supplycost).text(row.ps_comment);
}

fn order(row: Order<'static>, out: &mut Fields<'_>) {
    out.number(row.o_orderkey).number(row.o_custkey).shown(row.o_orderstatus).amount(row.o_totalprice);
    out.shown(row.o_orderdate).text(row.o_orderpriority).shown(row.o_clerk);
    out.number(row.o_shippriority.into()).text(row.o_comment);
}

fn lineitem(row: LineItem<'static>, out: &mut Fields<'_>) {
    out.number(row.l_orderkey).number(row.l_partkey).number(row.l_suppkey).number(row.l_linenumber.into());
    out.number(row.l_quantity).amount(row.l_extendedprice).amount(row.l_discount).amount(row.l_tax);
    out.text(row.l_returnflag).text(row.l_linestatus);
    out.shown(row.l_shipdate).shown(row.l_commitdate).shown(row.l_receiptdate);
    out.text(row.l_shipinstruct).text(row.l_shipmode).text(row.l_comment);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::tests::{check_shares, text};
    use crate::parameters::Given;

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
