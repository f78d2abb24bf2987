//! Loading: the rows that arrive, and what can go wrong on their way.

mod child;
mod fake;

use child::{Engine, load};
use fake::{FakeServer, Manner};
use serde_json::json;
use sha2::{Digest, Sha256};

#[test]
fn rows_arrive_as_they_were_counted_and_digested() {
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    let steps = json!([
        {"sql": "BEGIN"},
        {"copy": "COPY pgbench_accounts FROM STDIN", "rows": "pgbench_accounts", "parameters": {"scale": 3},
         "share": {"number": 0, "of": 1}},
        {"sql": "COMMIT"},
    ]);
    let heard = engine.ask_all(&load(&server, json!([steps])));
    let table = &heard.last().unwrap()["tables"][0];
    server.look(|seen| {
        assert_eq!(seen.queries, ["BEGIN", "COPY pgbench_accounts FROM STDIN", "COMMIT"]);
        assert_eq!(seen.copied.iter().filter(|&&byte| byte == b'\n').count(), 300_000);
        assert!(seen.copied.ends_with(b"\n300000\t3\t0\t\n"));
        let digest: String = Sha256::digest(&seen.copied).iter().map(|byte| format!("{byte:02x}")).collect();
        let expect =
            json!({"rows_of": "pgbench_accounts", "share": {"number": 0, "of": 1}, "rows": 300_000, "bytes": seen.copied.len(), "sha256": digest});
        assert_eq!(*table, expect);
        assert_eq!(&seen.startup[..4], ["user", "u", "database", "d"]);
    });
    for progress in &heard[..heard.len() - 1] {
        assert_eq!(progress["rows_total"], 300_000);
        assert!(progress["rows"].as_u64().unwrap() <= 300_000);
    }
    // A load ends its connection.
    server.wait_until(|seen| seen.closed == 1);
}

#[test]
fn a_load_that_fails_says_at_which_step() {
    let whole = json!({"number": 0, "of": 1});
    let copy = json!({"copy": "COPY b FROM STDIN", "rows": "pgbench_branches", "parameters": {"scale": 1},
                      "share": whole});
    for (manner, step, kind, what, sqlstate) in [
        (
            Manner::RefusesRows,
            copy.clone(),
            "server",
            "step 0 of a load (`COPY b FROM STDIN`): the server refused",
            json!("53100"),
        ),
        (
            Manner::NeverTakesRows,
            copy.clone(),
            "request",
            "step 0 of a load (`COPY b FROM STDIN`): the server wants no rows for this",
            json!(null),
        ),
        (
            Manner::Polite,
            json!({"sql": "COPY b FROM STDIN"}),
            "server",
            "step 0 of a load (`COPY b FROM STDIN`): the server began a COPY that nobody feeds",
            json!(null),
        ),
        (
            Manner::Polite,
            json!({"copy": "COPY b FROM STDIN", "rows": "b", "parameters": {"scale": 1}, "share": whole}),
            "request",
            "unknown rows `b`",
            json!(null),
        ),
        (
            Manner::Polite,
            json!({"copy": "COPY b FROM STDIN", "rows": "pgbench_branches", "parameters": {"scale": 0}, "share": whole}),
            "request",
            "rows `pgbench_branches`: parameter `scale` is 0, not a whole number from 1 to 4294967295",
            json!(null),
        ),
        (
            Manner::Polite,
            json!({"copy": "COPY b FROM STDIN", "rows": "pgbench_branches", "parameters": {"scale": 1, "size": 2},
                   "share": whole}),
            "request",
            "rows `pgbench_branches`: unknown parameter `size`, expected `scale`",
            json!(null),
        ),
        (
            Manner::Polite,
            json!({"copy": "COPY b FROM STDIN", "rows": "pgbench_branches", "parameters": {"scale": 1},
                   "share": {"number": 1, "of": 1}}),
            "request",
            "share 1 of 1 does not exist: they count from 0",
            json!(null),
        ),
    ] {
        let (server, mut engine) = (FakeServer::start(manner), Engine::start());
        let error = engine.ask(&load(&server, json!([[step]])));
        assert_eq!((&error["kind"], &error["what"]), (&json!(kind), &json!(what)));
        assert_eq!((&error["sqlstate"], &error["request"], &error["arm"]), (&sqlstate, &json!("load"), &json!(null)));
    }
}

#[test]
fn a_large_load_notices_a_refusal_before_its_end() {
    let (server, mut engine) = (FakeServer::start(Manner::RefusesRows), Engine::start());
    let step = json!([[{"copy": "COPY a FROM STDIN", "rows": "pgbench_accounts", "parameters": {"scale": 1_000_000},
                         "share": {"number": 0, "of": 1}}]]);
    assert_eq!(engine.ask(&load(&server, step))["sqlstate"], "53100");
}

#[test]
fn lanes_load_shares_side_by_side() {
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    let lane = |number| {
        json!([{"copy": format!("COPY a FROM STDIN -- {number}"), "rows": "pgbench_accounts", "parameters": {"scale": 3},
                "share": {"number": number, "of": 3}}])
    };
    let heard = engine.ask_all(&load(&server, json!([lane(0), lane(1), lane(2)])));
    let tables = heard.last().unwrap()["tables"].as_array().unwrap();
    let numbers: Vec<_> = tables.iter().map(|table| table["share"]["number"].as_u64().unwrap()).collect();
    assert_eq!((numbers, &tables[1]["rows"]), (vec![0, 1, 2], &json!(100_000)));
    let expect: Vec<u8> =
        (1..=300_000).flat_map(|aid| format!("{aid}\t{}\t0\t\n", (aid - 1) / 100_000 + 1).into_bytes()).collect();
    let sorted = |bytes: &[u8]| {
        let mut lines: Vec<Vec<u8>> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        lines.sort();
        lines
    };
    server.look(|seen| {
        assert_eq!(seen.bound.len(), 3, "a connection for each");
        assert_eq!(sorted(&seen.copied), sorted(&expect));
    });
    for (table, bytes) in
        tables.iter().zip(expect.split_inclusive(|&byte| byte == b'\n').collect::<Vec<_>>().chunks(100_000))
    {
        let digest: String = Sha256::digest(bytes.concat()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(table["sha256"], digest);
    }
}

#[test]
fn a_lane_that_fails_stops_the_others() {
    let (server, mut engine) = (FakeServer::start(Manner::RefusesRows), Engine::start());
    let copy = |table: &str, scale: u32| {
        json!([{"copy": format!("COPY {table} FROM STDIN"), "rows": "pgbench_accounts", "parameters": {"scale": scale},
                "share": {"number": 0, "of": 1}}])
    };
    let endless = json!([{"sql": "SELECT 1"}]);
    let error = engine.ask(&load(&server, json!([endless, copy("a", 1_000_000), copy("b", 1_000_000)])));
    assert_eq!(error["sqlstate"], "53100");
    assert!(error["what"].as_str().unwrap().starts_with("step 0 of lane "), "{error}");
    server.wait_until(|seen| seen.closed == 3);
}

#[test]
fn a_load_has_lanes() {
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    for (count, what) in
        [(0, "there are 0 lanes, not between 1 and 64"), (65, "there are 65 lanes, not between 1 and 64")]
    {
        let lanes = vec![json!([]); count];
        assert_eq!(engine.ask(&load(&server, json!(lanes)))["what"], what);
    }
}
