//! Slices whose transactions are asked for by name, one after the other, instead of being drawn.

mod child;
mod fake;

use child::{Engine, connect, setup, slice};
use fake::loops::by_every_loop;
use fake::{FakeServer, Manner};
use serde_json::{Value, json};

by_every_loop!(
    every_client_works_through_its_own_list,
    the_bound_and_what_is_discarded_hold_for_tasks_too,
    variables_of_tasks_are_gone_in_the_next_slice,
    tasks_that_do_not_fit_what_was_set_up_are_refused,
);

fn scripts(clients: usize) -> Value {
    let mut request = setup(clients, 1, "SELECT 1;");
    request["scripts"] = json!([
        {"name": "one", "weight": 1, "text": "SELECT :region, :scale;"},
        {"name": "two", "weight": 0, "text": "SELECT :region, :day, :region;"},
    ]);
    request["variables"] = json!({"scale": 10, "region": null, "day": null});
    request
}

fn ready(clients: usize) -> (FakeServer, Engine) {
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    let message = engine.ask(&scripts(clients));
    assert_eq!(message["kinds"], json!(["one", "two"]), "{message}");
    assert_eq!(engine.ask(&connect(0, &server))["message"], "connected");
    (server, engine)
}

fn task(script: &str, variables: Value) -> Value {
    json!({"script": script, "variables": variables})
}

fn texts(values: &[&str]) -> Vec<Option<String>> {
    values.iter().map(|value| Some((*value).to_owned())).collect()
}

fn every_client_works_through_its_own_list() {
    let (server, mut engine) = ready(2);
    let mut request = slice(0, 1, 9);
    request["tasks"] = json!([
        [task("two", json!({"region": "ASIA", "day": "1994-01-01"})), task("one", json!({"region": "EUROPE"}))],
        [task("one", json!({"region": 7}))],
    ]);
    let done = engine.ask(&request);
    assert_eq!(done["transactions"], 3);
    server.look(|seen| {
        assert_eq!(seen.bound[0], [texts(&["ASIA", "1994-01-01", "ASIA"]), texts(&["EUROPE", "10"])]);
        assert_eq!(seen.bound[1], [texts(&["7", "10"])]);
    });
    let counts: Vec<&Value> = done["kinds"].as_array().unwrap().iter().map(|kind| &kind["count"]).collect();
    assert_eq!(counts, [2, 1]);
    let totals = engine.ask(&json!({"request": "totals", "arm": 0, "reset": true}));
    assert_eq!(totals["kinds"][1]["count"], 1);
    let latency_ns = &totals["kinds"][1]["latency_ns"];
    assert_eq!(latency_ns["p50"].as_f64(), latency_ns["max"].as_f64(), "there was but one");
}

fn the_bound_and_what_is_discarded_hold_for_tasks_too() {
    let (server, mut engine) = ready(1);
    let mut request = slice(0, 1, 2);
    request["discard"] = json!({"transactions_per_client": 1});
    let asked = ["a", "b", "c", "d"].map(|region| task("one", json!({"region": region})));
    request["tasks"] = json!([asked]);
    let done = engine.ask(&request);
    assert_eq!((&done["transactions"], &done["discarded"]), (&json!(2), &json!(1)));
    server.look(|seen| assert_eq!(seen.bound[0].len(), 3));
}

fn variables_of_tasks_are_gone_in_the_next_slice() {
    let (server, mut engine) = ready(1);
    let mut request = slice(0, 1, 1);
    request["tasks"] = json!([[task("one", json!({"region": "ASIA"}))]]);
    engine.ask(&request);
    engine.ask(&slice(0, 1, 1));
    server.look(|seen| assert_eq!(seen.bound[0][1], [None, Some("10".to_owned())]));
}

fn tasks_that_do_not_fit_what_was_set_up_are_refused() {
    let (_server, mut engine) = ready(2);
    let mut refused = |tasks: Value| {
        let mut request = slice(0, 1, 1);
        request["tasks"] = tasks;
        let message = engine.ask(&request);
        assert_eq!(message["kind"], "request", "{message}");
        message["what"].as_str().unwrap().to_owned()
    };
    assert_eq!(refused(json!([[]])), "`tasks` has 1 lists, not one for each of 2 clients");
    assert_eq!(
        refused(json!([[], [task("three", json!({}))]])),
        "a task names a script that there is none of: `three`"
    );
    assert_eq!(
        refused(json!([[task("one", json!({"regoin": "ASIA"}))], []])),
        "a task of `one` names a variable that no script has: `regoin`"
    );
    assert_eq!(
        refused(json!([[task("one", json!({"region": []}))], []])),
        "variable \"region\" is neither a number nor a text"
    );
}
