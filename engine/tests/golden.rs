//! The golden streams in tests/seam of the repository, which the Python side parses too. Each is a
//! whole session. Its requests are sent to the engine again, and what comes back must have the same
//! keys, and the same values but for those that differ from run to run.
//!
//! `PGVERDICT_RECORD=1 cargo test --release --test golden` writes the engine's side of them anew.

mod child;
mod fake;

use child::Engine;
use fake::{FakeServer, Manner};
use pgverdict_engine::faces::seam::request::Request;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::{env, fs};

/// What stands in the streams for the folders of the fake servers.
const FOLDERS: [&str; 2] = ["/run/pgverdict/0", "/run/pgverdict/1"];

fn recording() -> bool {
    env::var_os("PGVERDICT_RECORD").is_some()
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/seam").join(name)
}

/// Plays one stream against two servers of these manners.
fn check(name: &str, manners: [Manner; 2]) {
    let servers = manners.map(FakeServer::start);
    let text = fs::read_to_string(path(name)).unwrap();
    let (mut recorded, mut heard, mut record) = (Vec::new(), Vec::new(), String::new());
    let mut engine = Engine::start();
    heard.push(engine.hello.clone());
    for line in text.lines() {
        let mut line_read: Value = serde_json::from_str(line).unwrap();
        if let Some(message) = line_read.get("from_engine") {
            recorded.push(message.clone());
            continue;
        }
        let request = &mut line_read["to_engine"];
        for (folder, server) in FOLDERS.iter().zip(&servers) {
            if request["socket_directory"] == *folder {
                request["socket_directory"] = json!(server.folder());
            }
            if let Some(dsn) = request.get("dsn").and_then(Value::as_str) {
                request["dsn"] = json!(dsn.replace(folder, &server.folder().to_string_lossy()));
            }
        }
        write_heard(&mut engine, &mut record);
        record += &format!("{line}\n");
        heard.extend(engine.ask_all(request));
    }
    let (last, status) = engine.finish();
    heard.extend(last);
    assert!(status.success());
    write_heard(&mut engine, &mut record);
    if recording() {
        return fs::write(path(name), record).unwrap();
    }
    let without_progress = |messages: &[Value]| -> Vec<Value> {
        // How often progress is told depends on the host.
        messages.iter().filter(|message| message["message"] != "load_progress").map(steady).collect()
    };
    let (expect, found) = (without_progress(&recorded), without_progress(&heard));
    assert_eq!(expect.len(), found.len(), "{name}");
    for (expect, found) in expect.iter().zip(&found) {
        assert_eq!(expect, found, "{name}");
    }
}

/// Moves what the engine said into the record, word for word.
fn write_heard(engine: &mut Engine, record: &mut String) {
    for line in engine.heard.drain(..) {
        *record += &format!("{{\"from_engine\": {line}}}\n");
    }
}

/// A message with what differs from run to run replaced by its type.
fn steady(message: &Value) -> Value {
    let Value::Object(keys) = message else { panic!("a message is an object: {message}") };
    Value::Object(keys.iter().map(|(key, value)| (key.clone(), steady_value(key, value))).collect())
}

fn steady_value(key: &str, value: &Value) -> Value {
    const UNSTEADY: [&str; 8] = ["pid", "cpus", "profile", "identity", "rustc", "version", "histogram", "rate_hz"];
    let timed = ["_ns", "_ns_max"].iter().any(|suffix| key.ends_with(suffix)) && !value.is_object();
    match value {
        Value::Null => Value::Null,
        _ if UNSTEADY.contains(&key) || timed => json!(format!("a {}", type_name(value))),
        Value::Object(inner) if key.ends_with("_ns") => {
            let steady: Map<String, Value> =
                inner.iter().map(|(key, value)| (key.clone(), json!(format!("a {}", type_name(value))))).collect();
            Value::Object(steady)
        }
        Value::Object(_) => steady(value),
        Value::Array(values) => Value::Array(values.iter().map(|value| steady_value(key, value)).collect()),
        _ => value.clone(),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "text",
        Value::Number(number) if number.is_f64() => "floating point number",
        Value::Number(_) => "integer",
        Value::Array(_) => "list",
        _ => "value",
    }
}

#[test]
fn a_comparison() {
    check("comparison.jsonl", [Manner::Polite, Manner::Polite]);
}

#[test]
fn failed_transactions() {
    check("failed_transactions.jsonl", [Manner::SerializesEvery { executions: 5 }, Manner::Polite]);
}

#[test]
fn a_native_program() {
    check("native.jsonl", [Manner::Polite, Manner::Polite]);
}

#[test]
fn a_load() {
    check("load.jsonl", [Manner::Polite, Manner::RefusesRows]);
}

#[test]
fn errors_of_servers() {
    check("errors_server.jsonl", [Manner::ShutsDownAt { execution: 3 }, Manner::RefusesStatements]);
}

#[test]
fn errors_of_the_world() {
    check("errors_world.jsonl", [Manner::Polite, Manner::Polite]);
}

#[test]
fn servers_by_connection_strings() {
    check("named.jsonl", [Manner::Polite, Manner::Polite]);
}

#[test]
fn errors_of_requests() {
    check("errors_request.jsonl", [Manner::Polite, Manner::Polite]);
}

#[test]
fn every_kind_of_message_and_of_error_is_recorded() {
    if recording() {
        return; // the files are being written
    }
    let mut seen = Vec::new();
    for entry in fs::read_dir(path("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        for line in fs::read_to_string(path).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            if let Some(message) = line.get("from_engine") {
                seen.push(text(&message["message"]) + &text(&message["kind"]));
            }
            if let Some(request) = line.get("to_engine") {
                seen.push(match Request::parse(request.to_string().as_bytes()) {
                    Ok(request) => request.name().to_owned(),
                    Err(_) => "refused".to_owned(),
                });
            }
        }
    }
    for wanted in [
        "setup",
        "connect",
        "slice",
        "totals",
        "load",
        "disconnect",
        "refused",
        "hello",
        "ready",
        "connected",
        "slice_done",
        "totals",
        "load_progress",
        "loaded",
        "disconnected",
        "end",
        "errorrequest",
        "errorserver",
        "errorworld",
    ] {
        assert!(seen.iter().any(|seen| seen == wanted), "no {wanted} in tests/seam");
    }
}
