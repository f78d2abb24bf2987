use super::super::Rows as _;
use super::super::tests::{check_shares, text as generated};
use super::*;
use crate::parameters::Given;
use std::collections::{HashMap, HashSet};

const SEED: u64 = 7;

fn parameters(warehouses: i64) -> Parameters {
    Parameters::of([("scale", Given::Integer(warehouses)), ("seed", Given::Integer(SEED as i64))])
}

fn text(table: Table, warehouses: i64) -> String {
    let whole = generated(table.name(), &parameters(warehouses), Share::WHOLE, 64 * 1024);
    String::from_utf8(whole).unwrap()
}

fn table(table: Table) -> String {
    text(table, 1)
}

fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().map(|line| line.split('\t').collect())
}

#[test]
fn cardinalities_are_those_of_the_standard() {
    for (which, expected) in [
        (Table::Warehouse, 1),
        (Table::District, 10),
        (Table::Customer, 30_000),
        (Table::History, 30_000),
        (Table::Oorder, 30_000),
        (Table::NewOrder, 9_000),
        (Table::Item, 100_000),
        (Table::Stock, 100_000),
    ] {
        assert_eq!(Rows::of(which, 1, SEED, Share::WHOLE).total(), expected, "{}", which.name());
        let of_three = Rows::of(which, 3, SEED, Share::WHOLE).total();
        assert_eq!(of_three, if which == Table::Item { expected } else { 3 * expected }, "{}", which.name());
    }
    // 30 000 orders of 5 to 15 lines: a standard deviation of 548.
    assert!((297_000..=303_000).contains(&Rows::of(Table::OrderLine, 1, SEED, Share::WHOLE).total()));
}

#[test]
fn shares_put_together_are_the_whole_however_it_is_cut() {
    for which in Table::ALL {
        check_shares(which.name(), &parameters(2));
    }
}

#[test]
fn a_warehouse_is_the_same_alone_as_among_others() {
    for which in Table::ALL {
        let (alone, among) = (table(which), text(which, 2));
        assert!(among.starts_with(&alone), "{}", which.name());
    }
}

#[test]
fn another_seed_gives_other_rows_but_the_same_keys() {
    let other = Rows::of(Table::Customer, 1, SEED + 1, Share::WHOLE);
    let mut out = Vec::new();
    super::super::Rows::fill(&mut { other }, &mut out, 4096);
    let other = String::from_utf8(out).unwrap();
    let ours = table(Table::Customer);
    for (ours, other) in rows(&ours).zip(rows(&other)) {
        assert_eq!(ours[..3], other[..3]);
        assert_ne!(ours[3], other[3]);
    }
}

#[test]
fn every_customer_of_a_district_ordered_once_in_no_order() {
    let orders = table(Table::Oorder);
    let mut buyers: HashMap<&str, Vec<u16>> = HashMap::new();
    for row in rows(&orders) {
        buyers.entry(row[1]).or_default().push(row[3].parse().unwrap());
    }
    assert_eq!(buyers.len(), 10);
    for of_district in buyers.values() {
        assert_eq!(of_district.iter().collect::<HashSet<_>>().len(), 3000);
        assert!(!of_district.is_sorted());
    }
    assert_ne!(buyers["1"], buyers["2"]);
}

#[test]
fn lines_are_those_of_their_orders() {
    let (orders, lines) = (table(Table::Oorder), table(Table::OrderLine));
    let mut of_order: HashMap<(&str, &str), Vec<Vec<&str>>> = HashMap::new();
    for row in rows(&lines) {
        of_order.entry((row[1], row[2])).or_default().push(row);
    }
    for order in rows(&orders) {
        let lines = &of_order[&(order[1], order[2])];
        assert_eq!(lines.len().to_string(), order[5]);
        let delivered = order[4] != "\\N";
        assert_eq!(delivered, order[2].parse::<u64>().unwrap() <= 2100);
        for (number, line) in lines.iter().enumerate() {
            assert_eq!(line[3], (number + 1).to_string());
            assert_eq!((line[5] != "\\N", line[6] == "0.00"), (delivered, delivered));
            assert_eq!((line[7], line[8], line[9].len()), ("1", "5", 24));
        }
    }
}

#[test]
fn values_are_in_the_ranges_of_the_standard() {
    let customers = table(Table::Customer);
    let mut bad = 0;
    for (number, row) in rows(&customers).enumerate() {
        assert_eq!(row.len(), 21);
        assert!((8..=16).contains(&row[3].len()));
        assert_eq!((row[4], row[9].len(), row[10].len(), row[11].len()), ("OE", 2, 9, 16));
        assert!(row[6..9].iter().all(|address| (10..=20).contains(&address.len())));
        assert!(row[10].ends_with("11111"));
        assert!(row[15].parse::<f64>().unwrap() <= 0.5 && row[15].len() == 6);
        assert_eq!(row[14], "50000");
        assert_eq!(row[16..20], ["-10.00", "10.00", "1", "0"]);
        assert!((300..=500).contains(&row[20].len()));
        bad += usize::from(row[13] == "BC");
        if number == 371 {
            assert_eq!(row[5], "PRICALLYOUGHT");
        }
    }
    assert!((2700..=3300).contains(&bad), "{bad}");
    let stock = table(Table::Stock);
    for row in rows(&stock) {
        assert_eq!(row.len(), 17);
        assert!((10..=100).contains(&row[2].parse::<u64>().unwrap()));
        assert!(row[7..].iter().all(|info| info.len() == 24));
    }
    let items = table(Table::Item);
    for row in rows(&items) {
        assert!((1.0..=100.0).contains(&row[2].parse::<f64>().unwrap()));
        assert!((1..=10_000).contains(&row[4].parse::<u64>().unwrap()));
    }
    let warehouses = table(Table::Warehouse);
    assert!(warehouses.ends_with("\t300000.00\n"));
    assert!(table(Table::District).lines().all(|line| line.ends_with("\t30000.00\t3001")));
}

#[test]
fn no_warehouses_are_refused() {
    let refused = super::super::open("tpcc_item", &parameters(0), Share::WHOLE).map(drop).unwrap_err();
    assert_eq!(refused, "rows `tpcc_item`: parameter `scale` is 0, not a whole number from 1 to 100000");
}
