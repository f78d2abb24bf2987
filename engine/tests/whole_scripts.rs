//! Slices of scripts that do more than compute and send one statement after the other.

mod child;
mod fake;

use child::{Engine, connect, setup, slice};
use fake::loops::by_every_loop;
use fake::{FakeServer, Manner};
use serde_json::{Value, json};

by_every_loop!(
    branches_are_taken_as_conditions_say,
    columns_become_variables,
    a_result_of_no_row_fails_the_script_and_leaves_the_arm,
    variables_that_no_column_sets_are_refused_when_columns_are_known,
    who_sleeps_holds_nobody,
    a_sleep_beyond_all_patience_is_refused,
    transactions_that_wait_for_nothing_leave_turns_to_others,
    a_pipeline_is_answered_as_a_whole,
    a_pipeline_larger_than_any_buffer_is_sent_and_heard,
    a_conflict_in_a_pipeline_fails_its_transaction_and_nothing_else,
    a_script_that_fails_inside_of_a_pipeline_leaves_the_arm,
    shell_commands_run_only_where_they_are_allowed,
    shell_commands_can_neither_read_nor_write_the_seam,
    a_shell_command_that_fails_fails_the_script,
    the_end_of_input_ends_shell_commands_too,
);

fn ready(manner: Manner, clients: usize, script: &str) -> (FakeServer, Engine) {
    let (server, mut engine) = (FakeServer::start(manner), Engine::start());
    let message = engine.ask(&setup(clients, 1, script));
    assert_eq!(message["message"], "ready", "{message}");
    let message = engine.ask(&connect(0, &server));
    assert_eq!(message["message"], "connected", "{message}");
    (server, engine)
}

/// The parameters of every statement that client 0 sent.
fn sent(server: &FakeServer) -> Vec<String> {
    let text = |bound: &Vec<Option<String>>| {
        bound.iter().map(|one| one.clone().unwrap_or("NULL".into())).collect::<Vec<_>>().join(" ")
    };
    server.look(|seen| seen.bound[0].iter().map(text).collect())
}

/// What client 0 sends in so many transactions of a script.
fn check(script: &str, transactions: u64, expect: &[&str]) {
    let (server, mut engine) = ready(Manner::Polite, 1, script);
    let done = engine.ask(&slice(0, 1, transactions));
    assert_eq!(done["transactions"], transactions, "{script}: {done}");
    assert_eq!(sent(&server), expect, "{script}");
}

fn branches_are_taken_as_conditions_say() {
    let script = "\\set n 0\n\\if :n\nSELECT 'a', :n;\n\\elif :client_id = 0\nSELECT 'b', :n;\n\\elif true\nSELECT 'c', :n;\n\
                  \\else\nSELECT 'd', :n;\n\\endif\n\\if false\n\\if true\nSELECT :n, 1;\n\\endif\n\\else\n\\set n 5\n\\endif\nSELECT :n;\n";
    check(script, 2, &["0", "5", "0", "5"]);
    // What follows an \endif may be the \elif of a condition around it.
    let nested = "\\if true\n\\if false\nSELECT 1;\n\\endif\n\\elif true\nSELECT :scale, 9;\n\\endif\nSELECT :scale;\n";
    check(nested, 1, &["10"]);
}

fn columns_become_variables() {
    let script = "SELECT 7 AS a, x AS b, NULL AS c \\gset p_\n\\set twice 2 * :p_a\nSELECT :twice, :p_b, :p_c;\n";
    check(script, 1, &["", "14 x "]);
    check("SELECT :scale AS scale \\gset\n\\set scale :scale + 1\nSELECT :scale;\n", 2, &["10", "11", "11", "12"]);
    // Without a row \aset leaves everything as it was.
    check("\\set a 3\nSELECT 4 AS a WHERE false \\aset\nSELECT :a;\n", 1, &["", "3"]);
}

fn a_result_of_no_row_fails_the_script_and_leaves_the_arm() {
    let (server, mut engine) = ready(Manner::Polite, 1, "BEGIN;\nSELECT 4 AS a WHERE false \\gset\nSELECT :a;\nEND;");
    let error = engine.ask(&slice(0, 1, 1));
    assert_eq!(error["kind"], "request");
    assert_eq!(error["what"], "script \"script\" line 2 column 1: \\gset: expected one row, got 0 (client 0)");
    server.look(|seen| assert_eq!(seen.queries, ["ROLLBACK"]));
    assert_eq!(engine.ask(&json!({"request": "disconnect", "arm": 0}))["message"], "disconnected");
}

fn variables_that_no_column_sets_are_refused_when_columns_are_known() {
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    assert_eq!(engine.ask(&setup(1, 1, "SELECT 1 AS a \\gset\nSELECT :b;"))["message"], "ready");
    let error = engine.ask(&connect(0, &server));
    assert_eq!(error["kind"], "request");
    let what = "connecting to arm 0: script \"script\" line 2 column 8: undefined variable \"b\", which no column sets \
                either";
    assert_eq!(error["what"], what);
    assert_eq!(engine.ask(&setup(1, 1, "SELECT 1 AS a \\gset\nSELECT :a;"))["message"], "ready");
    assert_eq!(engine.ask(&connect(0, &server))["message"], "connected");
}

fn who_sleeps_holds_nobody() {
    let script = "\\if :client_id = 0\n\\sleep 1500 ms\n\\endif\nSELECT 1;\n";
    let (server, mut engine) = ready(Manner::Polite, 2, script);
    let done = engine.ask(&slice(0, 1, 1));
    assert_eq!(done["transactions"], 2);
    server.look(|seen| assert_eq!(seen.order, [1, 0]));
    assert!(done["latency_ns"]["max"].as_u64().unwrap() >= 1_500_000_000, "a sleep is part of its transaction");
}

fn a_sleep_beyond_all_patience_is_refused() {
    let (_server, mut engine) = ready(Manner::Polite, 1, "SELECT 1;\n\\sleep 61\n");
    let error = engine.ask(&slice(0, 1, 1));
    let what = "script \"script\" line 2 column 1: a sleep of 61 s is longer than the 60 s that a client waits for \
                anything (client 0)";
    assert_eq!(error["what"], what);
}

fn transactions_that_wait_for_nothing_leave_turns_to_others() {
    // Client 0 would go on for ever.
    for instead in ["", "\\else\n\\shell true\n"] {
        let script = format!("\\if :client_id = 1\nSELECT 1;\n{instead}\\endif\n");
        let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
        let mut request = setup(2, 1, &script);
        request["allow"] = json!(["shell"]);
        engine.ask(&request);
        engine.ask(&connect(0, &server));
        let mut request = slice(0, 1, 0);
        request["bound"] = json!({"duration_us": 500_000});
        let done = engine.ask(&request);
        assert_eq!(done["message"], "slice_done", "{done}");
        server.look(|seen| assert!(seen.bound[1].len() > 1));
        assert!(done["transactions"].as_u64().unwrap() > done["statements"][0]["count"].as_u64().unwrap());
    }
}

fn a_pipeline_is_answered_as_a_whole() {
    let script = "\\startpipeline\nSELECT :scale, 1;\n\\syncpipeline\n\\set n 3\nSELECT :n;\n\\endpipeline\n\
                  \\startpipeline\n\\endpipeline\nSELECT :scale;\n";
    for manner in [Manner::Polite, Manner::Drips, Manner::Chatters] {
        let (server, mut engine) = ready(manner, 1, script);
        let done = engine.ask(&slice(0, 1, 2));
        assert_eq!(done["transactions"], 2, "{manner:?}: {done}");
        assert_eq!(sent(&server), ["10", "3", "10", "10", "3", "10"]);
        let statements = done["statements"].as_array().unwrap();
        assert!(statements.iter().all(|one| one["count"] == 2));
        assert_eq!(statements[0]["mean_ns"], statements[1]["mean_ns"], "they share the time");
    }
}

fn a_pipeline_larger_than_any_buffer_is_sent_and_heard() {
    let script = format!("\\startpipeline\n{}\\endpipeline\n", "SELECT :text;\n".repeat(200));
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    let mut request = setup(1, 1, &script);
    request["variables"] = json!({"text": "x".repeat(10_000)});
    engine.ask(&request);
    engine.ask(&connect(0, &server));
    assert_eq!(engine.ask(&slice(0, 1, 2))["transactions"], 2);
    server.look(|seen| assert_eq!(seen.bound[0].len(), 400));
}

fn a_conflict_in_a_pipeline_fails_its_transaction_and_nothing_else() {
    let script = "\\startpipeline\nBEGIN;\nSELECT 1;\nEND;\n\\endpipeline\n";
    // The second execution of every pipeline fails, and the server skips the third.
    let (server, mut engine) = ready(Manner::SerializesEvery { executions: 2 }, 1, script);
    let done = engine.ask(&slice(0, 1, 3));
    assert_eq!((&done["transactions"], &done["failed"]), (&json!(0), &json!(3)), "{done}");
    server.look(|seen| assert_eq!(seen.queries, ["ROLLBACK"; 3]));
}

fn a_script_that_fails_inside_of_a_pipeline_leaves_the_arm() {
    for before in ["SELECT 1;\n".to_owned(), "SELECT :text;\n".repeat(10) + "\\syncpipeline\nSELECT 1;\n"] {
        let script = format!("\\startpipeline\n{before}\\set n 1 / (:scale - 10)\nSELECT :n;\n\\endpipeline\n");
        let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
        let mut request = setup(1, 1, &script);
        request["variables"] = json!({"scale": 10, "text": "x".repeat(10_000)});
        engine.ask(&request);
        engine.ask(&connect(0, &server));
        let error = engine.ask(&slice(0, 1, 2));
        assert_eq!(error["kind"], "request", "{error}");
        assert!(error["what"].as_str().unwrap().contains("division by zero"), "{error}");
        assert_eq!(engine.ask(&json!({"request": "disconnect", "arm": 0}))["message"], "disconnected");
    }
}

fn with_shell(script: &str) -> Value {
    let mut request = setup(1, 1, script);
    request["allow"] = json!(["shell"]);
    request
}

fn shell_commands_run_only_where_they_are_allowed() {
    let script = "\\setshell n echo :scale 2>/dev/null; true\n\\shell test :n -eq 10\nSELECT :n;\n";
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    let error = engine.ask(&setup(1, 1, script));
    assert!(error["what"].as_str().unwrap().ends_with("is refused unless `shell` is allowed"), "{error}");
    assert_eq!(engine.ask(&with_shell(script))["message"], "ready");
    engine.ask(&connect(0, &server));
    assert_eq!(engine.ask(&slice(0, 1, 2))["transactions"], 2);
    assert_eq!(sent(&server), ["10", "10"]);
}

fn shell_commands_can_neither_read_nor_write_the_seam() {
    let script = "\\shell cat; echo nonsense\n\\setshell n cat; echo 4; seq 100000\nSELECT :n;\n";
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    engine.ask(&with_shell(script));
    engine.ask(&connect(0, &server));
    assert_eq!(engine.ask(&slice(0, 1, 1))["message"], "slice_done");
    assert_eq!(sent(&server), ["4"]);
}

fn a_shell_command_that_fails_fails_the_script() {
    for (command, what) in [
        ("\\shell exit 3", "shell command `exit 3` ended with exit status: 3"),
        ("\\setshell n true", "shell command `true` printed nothing"),
        ("\\setshell n echo x", "shell command must return an integer (not \"x\n\")"),
    ] {
        let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
        engine.ask(&with_shell(&format!("SELECT 1;\n{command}\n")));
        engine.ask(&connect(0, &server));
        let error = engine.ask(&slice(0, 1, 1));
        assert_eq!(error["what"], format!("script \"script\" line 2 column 1: {what} (client 0)"));
    }
}

fn the_end_of_input_ends_shell_commands_too() {
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    engine.ask(&with_shell("SELECT 1;\n\\shell sleep 1000\n"));
    engine.ask(&connect(0, &server));
    engine.say(&slice(0, 1, 1).to_string());
    server.wait_until(|seen| !seen.order.is_empty());
    let (heard, status) = engine.finish();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(status.success());
}
