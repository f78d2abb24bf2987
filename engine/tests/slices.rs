//! Slices against a server that answers: what is counted, drawn, kept and added up.

mod child;
mod fake;

use child::{Engine, SELECT_ONLY, connect, setup, slice};
use fake::loops::{by_every_loop, event_loop};
use fake::{FakeServer, Manner};
use serde_json::{Value, json};
use std::time::Duration;

by_every_loop!(
    a_slice_bounded_by_transactions_does_exactly_those,
    a_slice_bounded_by_time_is_drained_and_counts_what_it_ran,
    a_stall_that_begins_in_the_discarded_time_is_counted,
    what_nobody_counts_has_no_latency,
    one_seed_draws_the_same_keys_for_every_arm_and_layout,
    a_second_slice_with_the_same_seed_repeats_the_first,
    variables_keep_their_types_and_are_reset_for_every_slice,
    failed_transactions_are_rolled_back_and_counted_apart,
    answers_in_pieces_and_notices_in_between_change_nothing,
    totals_add_up_the_kept_slices,
    a_slice_drives_one_arm_only,
);

fn ready(manner: Manner, clients: usize, threads: usize, script: &str) -> (FakeServer, Engine) {
    let (server, mut engine) = (FakeServer::start(manner), Engine::start());
    let answer = engine.ask(&setup(clients, threads, script));
    assert_eq!((&answer["message"], &answer["event_loop"]), (&json!("ready"), &json!(event_loop().name())));
    assert_eq!(engine.ask(&connect(0, &server))["message"], "connected");
    (server, engine)
}

fn a_slice_bounded_by_transactions_does_exactly_those() {
    for (clients, threads) in [(1, 1), (3, 2), (5, 1)] {
        let (server, mut engine) = ready(Manner::Polite, clients, threads, SELECT_ONLY);
        let mut request = slice(0, 1, 7);
        request["discard"] = json!({"transactions_per_client": 2});
        let done = engine.ask(&request);
        assert_eq!(done["transactions"], 7 * clients);
        assert_eq!(done["discarded"], 2 * clients);
        assert_eq!(done["failed"], 0);
        assert_eq!(done["statements"][0]["count"], 7 * clients);
        assert_eq!(done["engine"]["drain_ns_max"], 0);
        assert!(done["latency_ns"]["min"].as_u64() <= done["latency_ns"]["max"].as_u64());
        assert!(done["rate_hz"].as_f64().unwrap() > 0.0);
        server.look(|seen| assert!(seen.bound.iter().all(|bound| bound.len() == 9)));
    }
}

fn a_slice_bounded_by_time_is_drained_and_counts_what_it_ran() {
    for (clients, threads) in [(1, 1), (4, 2)] {
        let (server, mut engine) = ready(Manner::Polite, clients, threads, SELECT_ONLY);
        let mut request = slice(0, 1, 0);
        request["bound"] = json!({"duration_us": 20_000});
        request["discard"] = json!({"duration_us": 2_000});
        let done = engine.ask(&request);
        let executed = done["transactions"].as_u64().unwrap() + done["discarded"].as_u64().unwrap();
        server.look(|seen| assert_eq!(seen.bound.iter().map(Vec::len).sum::<usize>() as u64, executed));
        let lasted = done["ended_at_ns"].as_u64().unwrap() - done["begun_at_ns"].as_u64().unwrap();
        assert!(lasted >= 20_000_000);
    }
}

fn a_stall_that_begins_in_the_discarded_time_is_counted() {
    let stall = Duration::from_millis(40);
    let (_server, mut engine) = ready(Manner::StallsAt { execution: 0, stall }, 1, 1, SELECT_ONLY);
    let mut request = slice(0, 1, 0);
    request["bound"] = json!({"duration_us": 20_000});
    request["discard"] = json!({"duration_us": 10_000});
    let done = engine.ask(&request);
    assert_eq!((&done["discarded"], &done["transactions"]), (&json!(0), &json!(1)));
    assert!(done["latency_ns"]["max"].as_u64().unwrap() >= 40_000_000);
    assert!(done["busy_ns"].as_u64().unwrap() >= 40_000_000);
}

fn what_nobody_counts_has_no_latency() {
    let (_server, mut engine) = ready(Manner::Polite, 1, 1, SELECT_ONLY);
    let mut request = slice(0, 1, 0);
    request["discard"] = json!({"transactions_per_client": 3});
    let done = engine.ask(&request);
    // The bound of no transaction is reached before the first.
    assert_eq!((&done["discarded"], &done["transactions"]), (&json!(0), &json!(0)));
    assert_eq!((&done["latency_ns"], &done["rate_hz"]), (&Value::Null, &json!(0.0)));
    assert_eq!(done["statements"][0], json!({"statement": 0, "count": 0, "mean_ns": null, "p50_ns": null}));
}

fn one_seed_draws_the_same_keys_for_every_arm_and_layout() {
    let keys = |clients, threads, seed| {
        let (server, mut engine) = ready(Manner::Polite, clients, threads, SELECT_ONLY);
        engine.ask(&slice(0, seed, 10));
        server.look(|seen| seen.bound.clone())
    };
    let first = keys(3, 1, 7);
    assert_eq!(first, keys(3, 3, 7), "threads do not matter");
    assert_eq!(first[..2], keys(2, 2, 7), "other clients do not matter");
    assert_ne!(first, keys(3, 1, 8));
    assert_ne!(first[0], first[1]);
    for key in first.iter().flatten().flatten() {
        let key: i64 = key.as_ref().unwrap().parse().unwrap();
        assert!((1..=1_000_000).contains(&key));
    }
}

fn a_second_slice_with_the_same_seed_repeats_the_first() {
    let (server, mut engine) = ready(Manner::Polite, 1, 1, SELECT_ONLY);
    engine.ask(&slice(0, 3, 5));
    engine.ask(&slice(0, 3, 5));
    server.look(|seen| assert_eq!(seen.bound[0][..5], seen.bound[0][5..]));
}

fn variables_keep_their_types_and_are_reset_for_every_slice() {
    let script = "\\set n :n + 1\n\\set h :half * 3\nSELECT :n, :h, :t, :yes, :nothing, :client_id;";
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    let mut request = setup(2, 1, script);
    request["variables"] = json!({"n": 1, "half": 0.5, "t": "it's", "yes": true, "nothing": null});
    engine.ask(&request);
    engine.ask(&connect(0, &server));
    engine.ask(&slice(0, 1, 2));
    engine.ask(&slice(0, 1, 1));
    let text = |text: &str| Some(text.to_owned());
    let expect = |n, client| vec![text(n), text("1.5"), text("it's"), text("true"), None, text(client)];
    server.look(|seen| {
        assert_eq!(seen.bound[0], [expect("2", "0"), expect("3", "0"), expect("2", "0")]);
        assert_eq!(seen.bound[1][0], expect("2", "1"));
    });
}

fn failed_transactions_are_rolled_back_and_counted_apart() {
    let script = "BEGIN;\nSELECT 1;\nEND;";
    // Three executions to a transaction: every fourth is a BEGIN, which opens nothing when it fails;
    // every fifth is a SELECT, which leaves a block to roll back.
    for (executions, in_block) in [(4, false), (5, true)] {
        let (server, mut engine) = ready(Manner::SerializesEvery { executions }, 1, 1, script);
        let done = engine.ask(&slice(0, 1, 10));
        assert_eq!((&done["transactions"], &done["failed"]), (&json!(5), &json!(5)));
        assert_eq!(done["statements"][2]["count"], 5, "every committed transaction has an END");
        server.look(|seen| assert_eq!(seen.queries, vec!["ROLLBACK"; if in_block { 5 } else { 0 }]));
    }
}

fn answers_in_pieces_and_notices_in_between_change_nothing() {
    for manner in [Manner::Drips, Manner::Chatters] {
        let (_server, mut engine) = ready(manner, 2, 1, "BEGIN; SELECT 1; END;");
        assert_eq!(engine.ask(&slice(0, 1, 5))["transactions"], 10, "{manner:?}");
    }
}

fn totals_add_up_the_kept_slices() {
    let (_server, mut engine) = ready(Manner::Polite, 2, 2, SELECT_ONLY);
    let mut warmup = slice(0, 1, 50);
    warmup["keep"] = json!(false);
    engine.ask(&warmup);
    let busy_ns: u64 = (0..3).map(|seed| engine.ask(&slice(0, seed, 10))["busy_ns"].as_u64().unwrap()).sum();
    let totals = engine.ask(&json!({"request": "totals", "arm": 0, "reset": true}));
    assert_eq!((&totals["slices"], &totals["transactions"]), (&json!(3), &json!(60)));
    assert_eq!(totals["busy_ns"], busy_ns);
    assert_eq!(totals["statements"][0]["count"], 60);
    assert!(totals["histogram"].as_str().unwrap().starts_with("HISTFAAAA"));
    let empty = engine.ask(&json!({"request": "totals", "arm": 0, "reset": false}));
    assert_eq!((&empty["slices"], &empty["latency_ns"]), (&json!(0), &Value::Null));
}

fn a_slice_drives_one_arm_only() {
    let (first, mut engine) = ready(Manner::Polite, 2, 2, SELECT_ONLY);
    let second = FakeServer::start(Manner::Polite);
    assert_eq!(engine.ask(&connect(1, &second))["backend_pids"], json!([1000, 1001]));
    engine.ask(&slice(1, 1, 4));
    first.look(|seen| assert!(seen.bound.iter().all(Vec::is_empty)));
    second.look(|seen| assert!(seen.bound.iter().all(|bound| bound.len() == 4)));
    assert_eq!(engine.ask(&json!({"request": "disconnect", "arm": 1}))["message"], "disconnected");
    second.wait_until(|seen| seen.closed == 2);
    assert_eq!(engine.ask(&slice(0, 1, 4))["transactions"], 8);
}
