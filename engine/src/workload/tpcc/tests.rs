use super::super::request::{Prepared, Request};
use super::*;
use crate::parameters::Given;
use crate::wire::answer::Answer;
use crate::wire::rows::Rows;

fn given(changes: &[(&str, Given)]) -> Parameters {
    let text = |text: &str| Given::Text(text.to_owned());
    let defaults = [
        ("scale", Given::Integer(2)),
        ("terminals", text("shared")),
        ("variant", text("statements")),
        ("isolation", text("read-committed")),
        ("deck", Given::Boolean(true)),
        ("waits", Given::Number(0.0)),
        ("tries", Given::Integer(3)),
    ];
    let all = defaults.into_iter().chain(changes.iter().cloned());
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn opened(changes: &[(&str, Given)]) -> Arc<dyn Workload> {
    open("tpcc", &given(changes)).unwrap().unwrap()
}

/// What each client's player sends at the beginning of so many transactions, in full.
fn sent(workload: &dyn Workload, clients: usize, transactions: usize, seed: u64) -> Vec<Vec<u8>> {
    let prepared: Vec<_> = workload.statements().iter().map(|sql| Prepared::new(sql, "P")).collect();
    let mut players = workload.players(clients, &[]).unwrap();
    let (mut out, mut places) = (Vec::new(), Vec::new());
    let all = players.iter_mut().map(|player| {
        player.reseed(seed);
        let mut all = Vec::new();
        for _ in 0..transactions {
            assert_eq!(player.pause(), std::time::Duration::ZERO);
            player.begin();
            let mut request = Request::new(&prepared, &mut out, &mut places);
            assert_eq!(player.next(&Rows::default(), &mut request), Ok(super::super::Next::Send));
            assert!(request.end());
            all.extend_from_slice(&out);
        }
        all
    });
    all.collect()
}

#[test]
fn one_seed_gives_the_same_work_and_clients_have_their_own() {
    for variant in ["statements", "functions"] {
        let workload = opened(&[("variant", Given::Text(variant.to_owned()))]);
        let first = sent(&*workload, 4, 30, 1);
        assert_eq!(first, sent(&*workload, 4, 30, 1));
        assert_ne!(first, sent(&*workload, 4, 30, 2));
        assert_ne!(first[0], first[1]);
    }
}

#[test]
fn a_transaction_that_met_another_begins_again_with_the_same_input_and_is_given_up_at_last() {
    let workload = opened(&[]);
    let prepared: Vec<_> = workload.statements().iter().map(|sql| Prepared::new(sql, "P")).collect();
    let player = &mut workload.players(1, &[]).unwrap()[0];
    let (mut out, mut places) = (Vec::new(), Vec::new());
    player.reseed(1);
    for _ in 0..46 {
        player.begin();
        let mut begun = Vec::new();
        for tries in 1..=3 {
            let mut request = Request::new(&prepared, &mut out, &mut places);
            player.next(&Rows::default(), &mut request).unwrap();
            request.end();
            begun.push(out.clone());
            assert_eq!(player.tries_again(tries), tries < 3);
        }
        assert!(begun.iter().all(|other| *other == begun[0]));
    }
}

#[test]
fn data_that_are_not_there_are_told() {
    let workload = opened(&[]);
    let prepared: Vec<_> = workload.statements().iter().map(|sql| Prepared::new(sql, "P")).collect();
    let player = &mut workload.players(1, &[]).unwrap()[0];
    let (mut out, mut places) = (Vec::new(), Vec::new());
    player.reseed(1);
    while KINDS[player.begin()] != "stock_level" {}
    let mut request = Request::new(&prepared, &mut out, &mut places);
    player.next(&Rows::default(), &mut request).unwrap();
    let mut answer = Answer::<Rows>::default();
    answer.taker.expect([false, true].into_iter());
    answer.feed(b"2\0\0\0\x04C\0\0\0\x0aBEGIN\x002\0\0\0\x04C\0\0\0\x0dSELECT 0\0Z\0\0\0\x05T").unwrap();
    let mut request = Request::new(&prepared, &mut out, &mut places);
    assert_eq!(player.next(&answer.taker, &mut request).unwrap_err(), "the district of a stock level is not there");
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let refused = |changes: &[(&str, Given)]| open("tpcc", &given(changes)).unwrap().map(drop).unwrap_err();
    assert_eq!(refused(&[("scale", Given::Integer(0))]), "parameter `scale` is 0, not a whole number from 1 to 100000");
    assert_eq!(refused(&[("deck", Given::Boolean(false))]), "missing parameter `weight_new_order`");
    let weights =
        ["weight_new_order", "weight_payment", "weight_order_status", "weight_delivery", "weight_stock_level"];
    let zero: Vec<_> = weights.map(|name| (name, Given::Integer(0))).into();
    assert_eq!(refused(&[&zero[..], &[("deck", Given::Boolean(false))]].concat()), "all weights are 0");
    let many = opened(&[]).players(21, &[]).map(drop).unwrap_err();
    assert_eq!(many, "21 terminals at 2 warehouses: more than their 20 districts");
    assert!(open("ycsb", &given(&[])).is_none());
}
