//! One row of a table in the text of COPY.

use std::fmt::Display;
use std::io::Write;
use std::sync::LazyLock;
use tpchgen::dates::{MIN_GENERATE_DATE, TOTAL_DATE_RANGE, TPCHDate};
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{Customer, LineItem, Nation, Order, Part, PartSupp, Region, Supplier, SupplierGenerator};

/// As the crate writes them, whose formatting each of which takes longer than to look it up.
static DATES: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..TOTAL_DATE_RANGE).map(|day| TPCHDate::new(MIN_GENERATE_DATE + day).to_string()).collect());

/// Writes the fields of a row, each with a separator behind it. None of TPC-H's texts has a character that COPY
/// would have escaped.
pub(super) struct Fields<'a>(pub(super) &'a mut Vec<u8>);

impl Fields<'_> {
    pub(super) fn bytes(&mut self, text: &[u8]) -> &mut Self {
        self.0.extend_from_slice(text);
        self.0.push(b'\t');
        self
    }

    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    pub(super) fn date(&mut self, date: TPCHDate) -> &mut Self {
        self.text(&DATES[date.into_inner() as usize])
    }

    pub(super) fn number(&mut self, number: i64) -> &mut Self {
        self.text(itoa::Buffer::new().format(number))
    }

    pub(super) fn amount(&mut self, amount: TPCHDecimal) -> &mut Self {
        let cents = amount.into_inner();
        if cents < 0 {
            self.0.push(b'-');
        }
        self.0.extend_from_slice(itoa::Buffer::new().format(cents.abs() / 100).as_bytes());
        let rest = (cents.abs() % 100) as u8;
        self.0.extend_from_slice(&[b'.', b'0' + rest / 10, b'0' + rest % 10, b'\t']);
        self
    }

    pub(super) fn shown(&mut self, value: impl Display) -> &mut Self {
        write!(self.0, "{value}\t").expect("memory takes what is written");
        self
    }
}

pub(super) fn region(row: Region<'static>, comment: &[u8], out: &mut Fields<'_>) {
    out.number(row.r_regionkey).text(row.r_name).bytes(comment);
}

pub(super) fn nation(row: Nation<'static>, comment: &[u8], out: &mut Fields<'_>) {
    out.number(row.n_nationkey).text(row.n_name).number(row.n_regionkey).bytes(comment);
}

/// A few suppliers are complained of or recommended, in words that take the place of others in the comment. They are
/// where the crate has put them, and the only ones with capitals.
pub(super) fn supplier(row: Supplier, comment: &[u8], out: &mut Fields<'_>) {
    let mut comment = comment.to_vec();
    if let Some(at) = row.s_comment.find(SupplierGenerator::BBB_BASE_TEXT) {
        for word in [
            SupplierGenerator::BBB_BASE_TEXT,
            SupplierGenerator::BBB_COMPLAINT_TEXT,
            SupplierGenerator::BBB_RECOMMEND_TEXT,
        ] {
            if let Some(behind) = row.s_comment[at..].find(word) {
                comment[at + behind..at + behind + word.len()].copy_from_slice(word.as_bytes());
            }
        }
    }
    out.number(row.s_suppkey).shown(row.s_name).shown(row.s_address).number(row.s_nationkey);
    out.shown(row.s_phone).amount(row.s_acctbal).bytes(&comment);
}

pub(super) fn customer(row: Customer<'static>, comment: &[u8], out: &mut Fields<'_>) {
    out.number(row.c_custkey).shown(row.c_name).shown(row.c_address).number(row.c_nationkey);
    out.shown(row.c_phone).amount(row.c_acctbal).text(row.c_mktsegment).bytes(comment);
}

pub(super) fn part(row: Part<'static>, comment: &[u8], out: &mut Fields<'_>) {
    out.number(row.p_partkey).shown(row.p_name).shown(row.p_mfgr).shown(row.p_brand).text(row.p_type);
    out.number(row.p_size.into()).text(row.p_container).amount(row.p_retailprice).bytes(comment);
}

pub(super) fn partsupp(row: PartSupp<'static>, comment: &[u8], out: &mut Fields<'_>) {
    out.number(row.ps_partkey).number(row.ps_suppkey).number(row.ps_availqty.into());
    out.amount(row.ps_supplycost).bytes(comment);
}

pub(super) fn order(row: Order<'static>, comment: &[u8], out: &mut Fields<'_>) {
    out.number(row.o_orderkey).number(row.o_custkey).shown(row.o_orderstatus).amount(row.o_totalprice);
    out.date(row.o_orderdate).text(row.o_orderpriority).shown(row.o_clerk);
    out.number(row.o_shippriority.into()).bytes(comment);
}

pub(super) fn lineitem(row: LineItem<'static>, comment: &[u8], out: &mut Fields<'_>) {
    out.number(row.l_orderkey).number(row.l_partkey).number(row.l_suppkey).number(row.l_linenumber.into());
    out.number(row.l_quantity).amount(row.l_extendedprice).amount(row.l_discount).amount(row.l_tax);
    out.text(row.l_returnflag).text(row.l_linestatus);
    out.date(row.l_shipdate).date(row.l_commitdate).date(row.l_receiptdate);
    out.text(row.l_shipinstruct).text(row.l_shipmode).bytes(comment);
}
