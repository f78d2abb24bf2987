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
        {"copy": "COPY pgbench_accounts FROM STDIN", "rows": "pgbench_accounts", "scale": 3},
        {"sql": "COMMIT"},
    ]);
    let heard = engine.ask_all(&load(&server, steps));
    let table = &heard.last().unwrap()["tables"][0];
    server.look(|seen| {
        assert_eq!(seen.queries, ["BEGIN", "COPY pgbench_accounts FROM STDIN", "COMMIT"]);
        assert_eq!(seen.copied.iter().filter(|&&byte| byte == b'\n').count(), 300_000);
        assert!(seen.copied.ends_with(b"\n300000\t3\t0\t\n"));
        let digest: String = Sha256::digest(&seen.copied).iter().map(|byte| format!("{byte:02x}")).collect();
        let expect =
            json!({"rows_of": "pgbench_accounts", "rows": 300_000, "bytes": seen.copied.len(), "sha256": digest});
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
    let copy = json!({"copy": "COPY b FROM STDIN", "rows": "pgbench_branches", "scale": 1});
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
            json!({"copy": "COPY b FROM STDIN", "rows": "b", "scale": 1}),
            "request",
            "unknown rows `b`, expected one of `pgbench_accounts`, `pgbench_branches`, `pgbench_tellers`",
            json!(null),
        ),
    ] {
        let (server, mut engine) = (FakeServer::start(manner), Engine::start());
        let error = engine.ask(&load(&server, json!([step])));
        assert_eq!((&error["kind"], &error["what"]), (&json!(kind), &json!(what)));
        assert_eq!((&error["sqlstate"], &error["request"], &error["arm"]), (&sqlstate, &json!("load"), &json!(null)));
    }
}

#[test]
fn a_large_load_notices_a_refusal_before_its_end() {
    let (server, mut engine) = (FakeServer::start(Manner::RefusesRows), Engine::start());
    let step = json!([{"copy": "COPY a FROM STDIN", "rows": "pgbench_accounts", "scale": 1_000_000}]);
    assert_eq!(engine.ask(&load(&server, step))["sqlstate"], "53100");
}
