use super::*;
use crate::parameters::Given as Value;
use crate::workload::request::Prepared;

fn parameters<const N: usize>(event: &str, more: [(&str, Value); N]) -> Parameters {
    let counts =
        ["simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges", "index_updates", "non_index_updates"];
    let counts = counts.map(|name| (name, Value::Integer(1)));
    let others = [
        ("scale", Value::Integer(1)),
        ("tables", Value::Integer(3)),
        ("event", Value::Text(event.into())),
        ("transaction", Value::Boolean(true)),
        ("point_selects", Value::Integer(10)),
        ("delete_inserts", Value::Integer(1)),
        ("range_size", Value::Integer(100)),
        ("list_size", Value::Integer(10)),
        ("distribution", Value::Text("uniform".into())),
        ("iterations", Value::Integer(12)),
        ("special_percent", Value::Integer(1)),
        ("special_repeated", Value::Integer(75)),
        ("pareto_h", Value::Number(0.2)),
        ("zipfian_exponent", Value::Number(0.8)),
    ];
    let all = counts.into_iter().chain(others).chain(more);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The texts of the statements of an event, in order.
fn event(parameters: &Parameters) -> Vec<String> {
    let workload = open("sysbench", parameters).unwrap().unwrap();
    let prepared: Vec<Prepared> = workload.statements().iter().map(|sql| Prepared::new(sql, "P")).collect();
    let mut player = workload.players(2, &[]).unwrap().remove(1);
    player.reseed(5);
    player.begin();
    let (mut out, mut sent, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let mut request = Request::new(&prepared, &mut out, &mut sent);
        match player.next(&Rows::default(), &mut request).unwrap() {
            Next::Send => texts.push(workload.statements()[sent[0]].text.clone()),
            _ => return texts,
        }
    }
}

fn tables_of(texts: &[String]) -> Vec<char> {
    let table = |text: &String| text.split("sbtest").nth(1).and_then(|rest| rest.chars().next());
    texts.iter().filter_map(table).collect()
}

#[test]
fn an_event_of_reads_and_writes_is_sysbenchs() {
    let texts = event(&parameters("read_write", []));
    assert_eq!((texts.len(), &*texts[0], &*texts[19]), (20, "BEGIN", "COMMIT"));
    let tables = tables_of(&texts);
    assert!(tables[..10].iter().all(|table| *table == tables[0]), "point selects ask one table");
    assert_eq!(tables[16], tables[17], "what is deleted is inserted again");
    let verbs: Vec<&str> = texts[1..19].iter().map(|text| text.split(' ').next().unwrap()).collect();
    assert_eq!(verbs, [["SELECT"; 14].to_vec(), vec!["UPDATE", "UPDATE", "DELETE", "INSERT"]].concat());
}

#[test]
fn without_a_transaction_there_is_no_block() {
    let texts = event(&parameters("read_only", [("transaction", Value::Boolean(false))]));
    assert!(texts.len() == 14 && texts.iter().all(|text| text.starts_with("SELECT")));
    assert_eq!(event(&parameters("write_only", [])).len(), 6);
}

#[test]
fn every_event_sends_something() {
    for name in EVENTS {
        assert!(!event(&parameters(name, [])).is_empty(), "{name}");
    }
    assert!(event(&parameters("select_random_points", []))[0].contains("sbtest1 WHERE k IN ($1, $2,"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (more, what) in [
        (("point_selects", Value::Integer(0)), "an event `point_select` of no statements does nothing"),
        (("tables", Value::Integer(0)), "parameter `tables` is 0, not a whole number from 1 to 1000"),
        (("range_size", Value::Integer(10_001)), "ranges of 10001 rows in tables of 10000"),
        (("zipfian_exponent", Value::Integer(11)), "parameter `zipfian_exponent` is 11, not a number from 0 to 10"),
    ] {
        let name = if more.0 == "point_selects" { "read_only" } else { "point_select" };
        let zeroes = ["simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges"];
        let mut all = parameters(name, [more]);
        if name == "read_only" {
            all = all.into_iter().chain(zeroes.map(|name| (name.to_owned(), Value::Integer(0)))).collect();
        }
        let refused = open("sysbench", &all).unwrap().map(drop).unwrap_err();
        assert_eq!(
            refused,
            what.replace("point_select`", if name == "read_only" { "read_only`" } else { "point_select`" })
        );
    }
}
