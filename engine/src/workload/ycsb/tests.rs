use super::*;
use crate::generate::ycsb::tests::parameters;
use crate::keys;
use crate::parameters::Given;
use crate::workload::request::Prepared;
use std::collections::{HashMap, HashSet};

fn given(mix: &str, requests: &str) -> Parameters {
    let rows = parameters("columns", "constant", 2, 5);
    with(&rows, [("mix", Given::Text(mix.into())), ("requests", Given::Text(requests.into()))])
}

fn with<const N: usize>(rows: &Parameters, more: [(&str, Given); N]) -> Parameters {
    let more = more.into_iter().map(|(name, value)| (name.to_owned(), value));
    let common = [
        ("read_all_fields".to_owned(), Given::Boolean(true)),
        ("write_all_fields".to_owned(), Given::Boolean(false)),
        ("scan_length".to_owned(), Given::Integer(100)),
        ("operations".to_owned(), Given::Integer(10_000)),
        ("target".to_owned(), Given::Integer(0)),
    ];
    rows.clone().into_iter().chain(common).chain(more).collect()
}

fn players(parameters: &Parameters, clients: usize, opening: &[Option<String>]) -> Vec<Box<dyn Player>> {
    open("ycsb", parameters).unwrap().unwrap().players(clients, opening).unwrap()
}

/// Runs transactions to their ends; statement and text of the parameters of each request.
fn play(player: &mut dyn Player, parameters: &Parameters, transactions: usize) -> Vec<(usize, Vec<String>)> {
    let workload = open("ycsb", parameters).unwrap().unwrap();
    let statements = workload.statements().iter().enumerate();
    let prepared: Vec<Prepared> = statements.map(|(number, sql)| Prepared::new(sql, &format!("P_{number}"))).collect();
    let (mut out, mut sent, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..transactions {
        player.begin();
        loop {
            let mut request = Request::new(&prepared, &mut out, &mut sent);
            match player.next(&Rows::default(), &mut request).unwrap() {
                Next::Send => {
                    assert!(request.end());
                    let text = String::from_utf8_lossy(&out).into_owned();
                    let keys = text.split("user").skip(1).map(|rest| {
                        let digits = rest.chars().take_while(char::is_ascii_digit);
                        format!("user{}", digits.collect::<String>())
                    });
                    seen.push((sent[0], keys.collect()));
                }
                _ => break,
            }
        }
    }
    seen
}

fn key(number: u64) -> String {
    format!("user{}", keys::hash(number))
}

#[test]
fn popular_records_are_those_of_java_ycsb_as_often_as_its_formula_says() {
    let parameters = given("c", "zipfian");
    let mut player = players(&parameters, 1, &[]).remove(0);
    player.reseed(11);
    let draws = 200_000;
    let mut counts: HashMap<String, u32> = HashMap::new();
    for (_, keys) in play(player.as_mut(), &parameters, draws) {
        *counts.entry(keys[0].clone()).or_default() += 1;
    }
    // The most popular value of ten billion is 0, and then 1: they go to the records that their hashes
    // say, among one more than there are (CoreWorkload), where those beyond the last are drawn again.
    let zeta = 26.469_028_201_783_02;
    for (rank, tolerance) in [(0u64, 0.03), (1, 0.05)] {
        let record = keys::hash(rank) % 10_001;
        let expect = draws as f64 / (((rank + 1) as f64).powf(0.99) * zeta);
        let found = f64::from(counts[&key(record)]);
        assert!((found / expect - 1.0).abs() < tolerance, "{rank}: {found} of {expect}");
    }
    let top = counts.values().max().unwrap();
    assert_eq!(*top, counts[&key(keys::hash(0) % 10_001)]);
}

/// The share of requests for records whose numbers are below each of these.
fn shares_below<const N: usize>(requests: &str, numbers: [u64; N]) -> [f64; N] {
    let parameters = given("c", requests);
    let mut player = players(&parameters, 1, &[]).remove(0);
    player.reseed(12);
    let numbers_of: HashMap<String, u64> = (0..10_000).map(|number| (key(number), number)).collect();
    let draws = 100_000;
    let drawn: Vec<u64> =
        play(player.as_mut(), &parameters, draws).iter().map(|(_, keys)| numbers_of[&keys[0]]).collect();
    numbers.map(|number| drawn.iter().filter(|&&one| one < number).count() as f64 / draws as f64)
}

#[test]
fn a_hotspot_gets_four_fifths_of_the_requests_and_all_in_it_alike() {
    let [half, whole, rest] = shares_below("hotspot", [1000, 2000, 6000]);
    assert!(
        (half - 0.4).abs() < 0.01 && (whole - 0.8).abs() < 0.01 && (rest - 0.9).abs() < 0.01,
        "{half} {whole} {rest}"
    );
}

#[test]
fn exponential_requests_go_back_from_the_newest_as_the_formula_of_java_ycsb_says() {
    // P(back < x) = 1 - 0.05^(x / (0.8571428571 n)), of those numbers that are below n.
    let within = |share: f64| 1.0 - 0.05f64.powf(share / 0.857_142_857_1);
    let found = shares_below("exponential", [5000, 9000]);
    for (found, back) in found.into_iter().zip([0.5, 0.1]) {
        let expect = 1.0 - within(back) / within(1.0);
        assert!((found - expect).abs() < 0.01, "{back}: {found}, not {expect}");
    }
}

#[test]
fn with_a_target_operations_wait_for_their_time_and_late_ones_are_due_when_they_were() {
    let parameters: Parameters =
        given("c", "uniform").into_iter().chain([("target".to_owned(), Given::Integer(2000))]).collect();
    let mut player = players(&parameters, 2, &[]).remove(1);
    player.reseed(1);
    // The second of two clients: a thousand a second, half a step behind the first.
    assert_eq!(player.ready(1_000), Ready::At(501_000));
    assert_eq!(player.ready(501_000), Ready::Now);
    player.begin();
    assert_eq!(player.due_ns(), Some(501_000));
    assert_eq!(player.ready(9_000_000), Ready::Now);
    player.begin();
    assert_eq!(player.due_ns(), Some(1_501_000));
    player.reseed(2);
    assert_eq!(player.ready(20_000_000), Ready::At(20_500_000));
}

#[test]
fn a_mix_has_its_shares() {
    for (mix, expect) in [("a", vec![50, 50]), ("b", vec![95, 5]), ("f", vec![50, 50]), ("e", vec![95, 5])] {
        let mut player = players(&given(mix, "uniform"), 1, &[Some("10000".into())]).remove(0);
        player.reseed(3);
        let mut counts = vec![0; 2];
        (0..20_000).for_each(|_| counts[player.begin()] += 1);
        for (count, percent) in counts.iter().zip(expect) {
            assert!((f64::from(*count) / 200.0 - f64::from(percent)).abs() < 1.0, "{mix}: {counts:?}");
        }
    }
}

#[test]
fn read_modify_write_updates_the_record_it_has_read() {
    let parameters = given("f", "zipfian");
    let mut player = players(&parameters, 1, &[]).remove(0);
    player.reseed(3);
    let seen = play(player.as_mut(), &parameters, 200);
    let updates: Vec<usize> = (0..seen.len()).filter(|&place| seen[place].0 > 0).collect();
    assert!((60..140).contains(&updates.len()));
    assert!(updates.iter().all(|&place| seen[place - 1].0 == 0 && seen[place - 1].1 == seen[place].1));
}

#[test]
fn inserted_keys_are_new_whatever_the_slices_and_known_records_are_there() {
    let parameters = given("d", "latest");
    let mut players = players(&parameters, 3, &[Some("10000".into())]);
    let mut there: HashSet<String> = (0..10_000).map(key).collect();
    let mut inserted = 0;
    for slice in 0..4 {
        players.iter_mut().for_each(|player| player.reseed(slice));
        for player in &mut players {
            for (statement, keys) in play(player.as_mut(), &parameters, 500) {
                match statement {
                    0 => assert!(there.contains(&keys[0]), "a record that was not inserted"),
                    _ => {
                        assert!(there.insert(keys[0].clone()), "a key twice");
                        inserted += 1;
                    }
                }
            }
        }
    }
    assert!((200..400).contains(&inserted), "{inserted}");
}

#[test]
fn both_arms_get_the_same_keys() {
    for (mix, requests) in [("d", "latest"), ("e", "zipfian"), ("d", "exponential"), ("e", "hotspot")] {
        let parameters = given(mix, requests);
        let run = || {
            let mut players = players(&parameters, 2, &[Some("10000".into())]);
            let mut seen = Vec::new();
            for slice in 0..3 {
                players.iter_mut().for_each(|player| player.reseed(slice));
                for player in &mut players {
                    seen.push(play(player.as_mut(), &parameters, 100));
                }
            }
            seen
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn a_table_that_was_inserted_into_before_gets_other_keys() {
    let parameters = given("d", "latest");
    let inserts = |count: &str| {
        let mut player = players(&parameters, 1, &[Some(count.into())]).remove(0);
        player.reseed(1);
        let seen = play(player.as_mut(), &parameters, 400);
        seen.into_iter().filter(|(statement, _)| *statement > 0).flat_map(|(_, keys)| keys).collect::<HashSet<_>>()
    };
    let (fresh, aged) = (inserts("10000"), inserts("10020"));
    assert!(!fresh.is_empty() && fresh.len() == aged.len());
    assert!(fresh.is_disjoint(&aged));
    let workload = open("ycsb", &parameters).unwrap().unwrap();
    let refused = workload.players(1, &[Some("9999".into())]).map(drop).unwrap_err();
    assert_eq!(refused, "usertable has 9999 records and 10000 were loaded");
}

#[test]
fn bad_parameters_say_what_is_wrong() {
    for (name, value, what) in [
        ("mix", Given::Text("g".into()), "parameter `mix` is \"g\", not one of a, b, c, d, e, f"),
        ("scan_length", Given::Integer(0), "parameter `scan_length` is 0, not a whole number from 1 to 1000000"),
        ("target", Given::Integer(-1), "parameter `target` is -1, not a whole number from 0 to 100000000"),
        ("scale", Given::Integer(0), "parameter `scale` is 0, not a whole number from 1 to 1000000"),
        ("more", Given::Integer(0), "unknown parameter `more`"),
    ] {
        let parameters = given("a", "zipfian").into_iter().chain([(name.to_owned(), value)]).collect();
        let refused = open("ycsb", &parameters).unwrap().map(drop).unwrap_err();
        assert!(refused.starts_with(what), "{refused}");
    }
}
