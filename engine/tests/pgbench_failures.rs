//! The engine in pgbench's place, against servers that misbehave.

mod fake;

use fake::{FakeServer, Manner, PORT};
use pgverdict_engine::drive::transport::EventLoop;
use std::fs;
use std::process::{Command, Stdio};

struct Said {
    code: i32,
    out: String,
    err: String,
}

const LOOPS: [&str; 2] = ["--event-loop=epoll", "--event-loop=io_uring"];

/// Both, or the one that this kernel has.
fn loops() -> impl Iterator<Item = &'static str> {
    let has_ring = EventLoop::IoUring.check(1).is_ok();
    if !has_ring {
        eprintln!("NOT TESTED: io_uring, which this kernel does not allow");
    }
    LOOPS.into_iter().take(if has_ring { 2 } else { 1 })
}

/// Runs a transaction of three statements five times, in prepared mode.
fn run(manner: Manner, more: &[&str]) -> Said {
    let server = FakeServer::start(manner);
    let script = server.folder().join("script.sql");
    fs::write(&script, "BEGIN;\nSELECT :client_id;\nEND;\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pgverdict-pgbench"))
        .args(["-n", "-M", "prepared", "-t", "5", "-U", "u", "-d", "d"])
        .args(["-h", server.folder().to_str().unwrap(), "-p", &PORT.to_string(), "-f", script.to_str().unwrap()])
        .args(more)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn check(manner: Manner, code: i32, err: &str) {
    for event_loop in loops() {
        let said = run(manner, &[event_loop]);
        assert_eq!(said.code, code, "{manner:?} {event_loop}: {}", said.err);
        assert!(said.err.contains(err), "{manner:?} {event_loop}: {}", said.err);
    }
}

#[test]
fn a_server_that_fails_ends_the_client() {
    let failed = "client 0 aborted in command 1 (SQL) of script 0; ";
    // Command 1 of the second transaction.
    let execution = 4;
    check(Manner::ClosesAt { execution }, 2, &format!("{failed}perhaps the backend died while processing"));
    check(Manner::TruncatesAt { execution }, 2, &format!("{failed}perhaps the backend died while processing"));
    check(
        Manner::SpeaksGarbageAt { execution },
        2,
        &format!("{failed}the server spoke nonsense: message of unknown type 0x01"),
    );
    check(
        Manner::AnswersTwiceAt { execution },
        2,
        &format!("{failed}the server spoke nonsense: message ReadyForQuery came and nothing was asked"),
    );
    check(
        Manner::ShutsDownAt { execution },
        2,
        "client 0 script 0 aborted in command 1 query 0: FATAL:  terminating connection due to administrator command\n",
    );
    check(
        Manner::FailsAt { execution },
        2,
        "client 0 script 0 aborted in command 1 query 0: ERROR:  division by zero\n",
    );
}

#[test]
fn a_server_that_lets_nobody_in_is_told() {
    check(Manner::GreetsWithGarbage, 1, "could not create connection for setup");
    let refused = ".s.PGSQL.5432\" failed: FATAL:  sorry, too many clients already\n";
    check(Manner::RefusesConnections { from: 0 }, 1, refused);
    check(Manner::RefusesConnections { from: 1 }, 1, "could not create connection for client 0");
}

#[test]
fn slow_and_talkative_servers_are_listened_to() {
    check(Manner::Drips, 0, "");
    check(Manner::Chatters, 0, "NOTICE:  hello\n");
}

#[test]
fn what_fails_in_a_harmless_way_is_tried_again() {
    for event_loop in loops() {
        let said = run(Manner::SerializesEvery { executions: 4 }, &["--max-tries=3", event_loop]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("number of transactions actually processed: 5/5\n"), "{}", said.out);
        assert!(said.out.contains("total number of retries: "), "{}", said.out);
        let said = run(Manner::SerializesEvery { executions: 1 }, &[event_loop]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("number of failed transactions: 5 (100.000%)\n"), "{}", said.out);
    }
}
