//! Everything that can go wrong, and what is still possible afterwards.

mod child;
mod fake;

use child::{Engine, SELECT_ONLY, connect, load, setup, slice};
use fake::loops::by_every_loop;
use fake::{FakeServer, Manner};
use pgverdict_engine::faces::seam::session;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

by_every_loop!(
    a_connection_that_cannot_be_opened_is_an_error,
    a_server_that_fails_in_a_slice_loses_its_connections_and_no_other_arms,
    the_servers_own_words_are_passed_on,
    a_script_that_fails_ends_the_slice_and_leaves_the_arm,
    a_script_must_not_end_inside_a_transaction,
    a_frozen_server_is_an_error,
    a_slice_says_how_long_a_statement_may_take,
    an_answer_that_never_ends_is_no_answer,
    the_end_of_standard_input_ends_all_load,
);

/// An error without its key `message`, which is checked here.
fn error(message: Value) -> (String, String, Value) {
    assert_eq!(message["message"], "error", "{message}");
    let text = |key: &str| message[key].as_str().unwrap().to_owned();
    (text("kind"), text("what"), message["sqlstate"].clone())
}

fn check(message: Value, kind: &str, what: &str, sqlstate: Value) {
    assert_eq!(error(message), (kind.to_owned(), what.to_owned(), sqlstate));
}

fn a_connection_that_cannot_be_opened_is_an_error() {
    for (manner, kind, what, sqlstate) in [
        (
            Manner::WantsPassword,
            "server",
            "connecting client 0 to arm 4: the server wants a SASL password; only trust authentication is supported \
             (hint: allow this user by `trust` for `local` in pg_hba.conf)",
            Value::Null,
        ),
        (
            Manner::RefusesConnections { from: 1 },
            "server",
            "connecting client 1 to arm 4: the server refused",
            json!("53300"),
        ),
        (
            Manner::GreetsWithGarbage,
            "server",
            "connecting client 0 to arm 4: the server spoke nonsense: message CopyOutResponse of 1414811695 bytes is \
             longer than the 1048576 we hold",
            Value::Null,
        ),
        (
            Manner::RefusesStatements,
            "server",
            "connecting client 0 to arm 4, preparing statement 0: the server refused",
            json!("42P01"),
        ),
        (
            Manner::SeesOneParameterTooMany,
            "request",
            "connecting client 0 to arm 4, preparing statement 0: the script gives 1 parameters and the server wants 2 \
             (hint: `:name` is replaced inside quotes too, where the server does not see a parameter)",
            Value::Null,
        ),
    ] {
        let (server, mut engine) = (FakeServer::start(manner), Engine::start());
        engine.ask(&setup(2, 1, SELECT_ONLY));
        check(engine.ask(&connect(4, &server)), kind, what, sqlstate);
        check(engine.ask(&slice(4, 1, 1)), "request", "arm 4 is not connected", Value::Null);
        // The same arm may be tried again, elsewhere.
        let polite = FakeServer::start(Manner::Polite);
        assert_eq!(engine.ask(&connect(4, &polite))["message"], "connected");
    }
}

#[test]
fn a_socket_that_is_not_there_is_the_hosts_fault() {
    let mut engine = Engine::start();
    engine.ask(&setup(1, 1, SELECT_ONLY));
    let mut request = connect(0, &FakeServer::start(Manner::Polite));
    request["socket_directory"] = json!("/nowhere");
    let what =
        "connecting client 0 to arm 0: cannot open /nowhere/.s.PGSQL.5432: No such file or directory (os error 2)";
    check(engine.ask(&request), "world", what, Value::Null);
    request["socket_directory"] = json!("/".repeat(100));
    let (kind, what, _) = error(engine.ask(&request));
    assert_eq!(kind, "world");
    assert!(what.ends_with("the path is longer than 107 bytes"), "{what}");
}

#[test]
fn a_processor_that_is_not_there_is_the_hosts_fault() {
    let mut engine = Engine::start();
    let mut request = setup(1, 1, SELECT_ONLY);
    request["cpus"] = json!([1023]);
    let (kind, what, _) = error(engine.ask(&request));
    assert_eq!(kind, "world");
    assert!(what.starts_with("cannot pin a thread to processor 1023: "), "{what}");
    request["cpus"] = engine.hello["cpus"].clone();
    assert_eq!(engine.ask(&request)["message"], "ready");
}

fn a_server_that_fails_in_a_slice_loses_its_connections_and_no_other_arms() {
    for (manner, what, sqlstate) in [
        (Manner::ClosesAt { execution: 3 }, "arm 0 closed the connection of client 0 in a slice", Value::Null),
        (Manner::ShutsDownAt { execution: 3 }, "arm 0 closed the connection of client 0 in a slice", json!("57P01")),
        (Manner::TruncatesAt { execution: 3 }, "arm 0 closed the connection of client 0 in a slice", Value::Null),
        (
            Manner::SpeaksGarbageAt { execution: 3 },
            "arm 0 spoke nonsense to client 0 in a slice: message of unknown type 0x01",
            Value::Null,
        ),
        (
            Manner::AnswersTwiceAt { execution: 3 },
            "arm 0 spoke nonsense to client 0 in a slice: message ReadyForQuery came after ReadyForQuery",
            Value::Null,
        ),
        (Manner::FailsAt { execution: 3 }, "arm 0 refused statement 0 of client 0 in a slice", json!("22012")),
    ] {
        // Alone, and while others are being answered.
        for clients in [1, 3] {
            let (bad, good, mut engine) =
                (FakeServer::start(manner), FakeServer::start(Manner::Polite), Engine::start());
            engine.ask(&setup(clients, 1, SELECT_ONLY));
            engine.ask(&connect(0, &bad));
            engine.ask(&connect(1, &good));
            let found = error(engine.ask(&slice(0, 1, 10)));
            let mut expect = ("server".to_owned(), what.to_owned(), sqlstate.clone());
            if clients > 1 {
                // Which client fails first is up to the scheduler.
                let client = found.1.split("client ").nth(1).unwrap().chars().next().unwrap();
                expect.1 = expect.1.replace("client 0", &format!("client {client}"));
            }
            assert_eq!(found, expect, "{manner:?}");
            bad.wait_until(|seen| seen.closed == clients);
            check(engine.ask(&slice(0, 1, 1)), "request", "arm 0 is not connected", Value::Null);
            assert_eq!(engine.ask(&slice(1, 1, 5))["transactions"], 5 * clients);
        }
    }
}

fn the_servers_own_words_are_passed_on() {
    let (server, mut engine) = (FakeServer::start(Manner::ShutsDownAt { execution: 0 }), Engine::start());
    engine.ask(&setup(1, 1, SELECT_ONLY));
    engine.ask(&connect(2, &server));
    assert_eq!(
        engine.ask(&slice(2, 1, 1)),
        json!({"message": "error", "request": "slice", "kind": "server", "arm": 2,
               "what": "arm 2 closed the connection of client 0 in a slice", "sqlstate": "57P01",
               "detail": "terminating connection due to administrator command"})
    );
}

fn a_script_that_fails_ends_the_slice_and_leaves_the_arm() {
    let script = "BEGIN;\n\\set x 1 / (2 - :client_id)\nSELECT :x;\nEND;";
    for threads in [1, 3] {
        let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
        engine.ask(&setup(3, threads, script));
        engine.ask(&connect(0, &server));
        let what = "script \"script\" line 2 column 8: division by zero (client 2)";
        check(engine.ask(&slice(0, 1, 100)), "request", what, Value::Null);
        server.look(|seen| assert_eq!(seen.queries, ["ROLLBACK"]));
        check(engine.ask(&slice(0, 1, 100)), "request", what, Value::Null);
    }
}

fn a_script_must_not_end_inside_a_transaction() {
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    engine.ask(&setup(1, 1, "BEGIN;\nSELECT 1;"));
    engine.ask(&connect(0, &server));
    let what = "client 0 of arm 0 came to the end of script \"script\" inside a transaction";
    check(engine.ask(&slice(0, 1, 1)), "server", what, Value::Null);
}

/// With little patience, which only the library lets one choose.
fn impatient(requests: &[Value]) -> Vec<Value> {
    let (input, mut to_engine) = io::pipe().unwrap();
    let (from_engine, output) = io::pipe().unwrap();
    let engine = thread::spawn(move || session::run(BufReader::new(input), output, Duration::from_millis(150)));
    let mut lines = BufReader::new(from_engine).lines();
    let mut hear = || serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let _: Value = hear();
    let heard = requests.iter().map(|request| {
        writeln!(to_engine, "{request}").unwrap();
        hear()
    });
    let heard = heard.collect();
    drop(to_engine);
    engine.join().unwrap().unwrap();
    heard
}

fn a_frozen_server_is_an_error() {
    for clients in [1, 2] {
        let server = FakeServer::start(Manner::FallsSilentAt { execution: 0 });
        let mut by_time = slice(0, 1, 0);
        by_time["bound"] = json!({"duration_us": 10_000});
        for request in [slice(0, 1, 5), by_time] {
            let heard = impatient(&[setup(clients, 1, SELECT_ONLY), connect(0, &server), request]);
            check(heard[2].clone(), "server", "arm 0 gave client 0 no answer for 0.15 s in a slice", Value::Null);
        }
    }
}

fn a_slice_says_how_long_a_statement_may_take() {
    let (frozen, mut engine) = (FakeServer::start(Manner::FallsSilentAt { execution: 2 }), Engine::start());
    engine.ask(&setup(1, 1, SELECT_ONLY));
    engine.ask(&connect(0, &frozen));
    let mut request = slice(0, 1, 5);
    request["statement_limit_us"] = json!(0);
    check(engine.ask(&request), "request", "`statement_limit_us` is 0: no answer is that fast", Value::Null);
    request["statement_limit_us"] = json!(250_000);
    check(engine.ask(&request), "server", "arm 0 gave client 0 no answer for 0.25 s in a slice", Value::Null);
}

fn an_answer_that_never_ends_is_no_answer() {
    let (babbler, mut engine) = (FakeServer::start(Manner::BabblesAt { execution: 2 }), Engine::start());
    engine.ask(&setup(1, 1, SELECT_ONLY));
    engine.ask(&connect(0, &babbler));
    let mut request = slice(0, 1, 5);
    request["statement_limit_us"] = json!(100_000);
    check(engine.ask(&request), "server", "arm 0 gave client 0 no answer for 0.1 s in a slice", Value::Null);
}

fn the_end_of_standard_input_ends_all_load() {
    for (clients, manner) in [(1, Manner::Polite), (3, Manner::Polite), (1, Manner::FallsSilentAt { execution: 5 })] {
        let (server, mut engine) = (FakeServer::start(manner), Engine::start());
        engine.ask(&setup(clients, 1, SELECT_ONLY));
        engine.ask(&connect(0, &server));
        let mut request = slice(0, 1, 0);
        request["bound"] = json!({"duration_us": 3_600_000_000u64});
        engine.say(&request.to_string());
        server.wait_until(|seen| seen.bound.iter().all(|bound| bound.len() > 5));
        let closed = Instant::now();
        let (heard, status) = engine.finish();
        // 100 ms are promised; the rest is for the scheduler of a busy test host.
        assert!(closed.elapsed() < Duration::from_secs(2), "{:?}", closed.elapsed());
        assert_eq!(heard, [json!({"message": "end", "reason": "stdin closed"})]);
        assert!(status.success());
    }
}

#[test]
fn the_end_of_standard_input_ends_a_load() {
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    let step = json!([[{"copy": "COPY a FROM STDIN", "rows": "pgbench_accounts", "parameters": {"scale": 100_000},
                         "share": {"number": 0, "of": 1}}]]);
    engine.say(&load(&server, step).to_string());
    server.wait_until(|seen| !seen.copied.is_empty());
    let (heard, status) = engine.finish();
    assert_eq!(heard.last().unwrap()["message"], "end");
    assert!(heard.iter().all(|message| message["message"] != "loaded"));
    assert!(status.success());
}

#[test]
fn wrong_requests_change_nothing() {
    let (server, mut engine) = (FakeServer::start(Manner::Polite), Engine::start());
    for (line, request, what) in [
        ("nonsense", Value::Null, "the line is not JSON: expected ident at line 1 column 2"),
        ("[]", Value::Null, "the line is not a JSON object"),
        (r#"{"request": "disconnect", "arm": 1}"#, json!("disconnect"), "arm 1 is not connected"),
    ] {
        engine.say(line);
        let message = engine.hear().unwrap();
        assert_eq!((&message["request"], &message["kind"]), (&request, &json!("request")));
        assert_eq!(message["what"], what);
    }
    check(engine.ask(&connect(0, &server)), "request", "there was no `setup` yet", Value::Null);
    for (key, value, what) in [
        ("clients", json!(0), "`clients` is 0, not between 1 and 10000"),
        ("threads", json!(3), "`threads` is 3, not between 1 and the number of clients, 2"),
        ("cpus", json!([]), "`cpus` names no processor (hint: null leaves the threads unpinned)"),
        ("mode", json!("simple"), "unknown variant `simple`, expected `prepared`"),
        ("scripts", json!([]), "there are 0 scripts, not between 1 and 128"),
        (
            "scripts",
            json!([{"name": "s", "weight": 0, "text": "SELECT 1"}]),
            "the weights of the scripts add up to nothing",
        ),
        (
            "scripts",
            json!([{"name": "s", "weight": 1, "text": "SELECT 1;\n\\st x 1"}]),
            "script \"s\" line 2 column 1: meta command \"\\st\" is unknown",
        ),
        ("variables", json!({"1a": 1}), "invalid variable name: \"1a\""),
        ("variables", json!({"a": [1]}), "variable \"a\" is neither a number nor a text"),
        ("variables", json!({"a": u64::MAX}), "variable \"a\" is out of range for a bigint"),
        (
            "workload",
            json!({"name": "ycsb", "parameters": {}}),
            "a setup has either the key `workload`, or `scripts` and `variables`",
        ),
    ] {
        let mut request = setup(2, 2, SELECT_ONLY);
        request[key] = value;
        check(engine.ask(&request), "request", what, Value::Null);
    }
    let native = |name: &str, parameters: Value| {
        json!({"request": "setup", "clients": 1, "threads": 1, "cpus": null, "mode": "prepared",
               "workload": {"name": name, "parameters": parameters}})
    };
    for (request, what) in [
        (native("nothing", json!({})), "unknown workload `nothing`"),
        (native("nothing", json!({"a": [1]})), "parameter `a` is neither a number nor a text: [1]"),
        (native("nothing", json!({"a": u64::MAX})), "parameter `a` is out of range: 18446744073709551615"),
    ] {
        check(engine.ask(&request), "request", what, Value::Null);
    }
    engine.ask(&setup(2, 2, SELECT_ONLY));
    engine.ask(&connect(0, &server));
    check(engine.ask(&connect(0, &server)), "request", "arm 0 is already connected", Value::Null);
    let what = "an arm is still connected (hint: send `disconnect` for every arm first)";
    check(engine.ask(&setup(2, 2, SELECT_ONLY)), "request", what, Value::Null);
    assert_eq!(engine.ask(&slice(0, 1, 3))["transactions"], 6);
}

#[test]
fn a_parent_that_is_killed_takes_the_engine_with_it() {
    // The shell keeps its own standard input open for the engine, so that nothing but the death of
    // the shell can end it.
    let mut shell = Command::new("sh")
        .args(["-c", "exec 3<&0; \"$0\" <&3 >/dev/null & echo $!; wait", env!("CARGO_BIN_EXE_pgverdict-engine")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pid = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut pid).unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    // Until the engine has said so to the kernel, killing the shell would prove nothing.
    let threads = format!("/proc/{}/task", pid.trim());
    wait_until(|| fs::read_dir(&threads).is_ok_and(|threads| threads.count() > 1));
    let stdin = shell.stdin.take();
    shell.kill().unwrap();
    shell.wait().unwrap();
    // Gone, or dead and not yet buried by whoever inherits it.
    wait_until(|| fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z ")));
    drop(stdin);
}

/// Looks again and again, since the kernel tells nobody but a parent.
fn wait_until(condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain");
        thread::yield_now();
    }
}
