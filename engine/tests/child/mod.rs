//! The engine as Python starts it: a child process with a pipe at each end.

#![allow(dead_code)]

use super::fake::loops::event_loop;
use super::fake::{FakeServer, PORT};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// A test that waits longer than this has found the engine stuck.
const STUCK: Duration = Duration::from_secs(30);

pub struct Engine {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    pub hello: Value,
    /// Every line so far, as it was said.
    pub heard: Vec<String>,
}

impl Engine {
    pub fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pgverdict-engine"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut engine = Self { stdin: child.stdin.take(), child, lines, hello: Value::Null, heard: Vec::new() };
        engine.hello = engine.hear().expect("the engine says hello");
        engine
    }

    /// The next message; `None` at the end.
    pub fn hear(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(STUCK) {
            Ok(line) => {
                let message = serde_json::from_str(&line).expect("the engine speaks JSON");
                self.heard.push(line);
                Some(message)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the engine said nothing for {STUCK:?}"),
        }
    }

    pub fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The closing message of a request, and the progress before it.
    pub fn ask_all(&mut self, request: &Value) -> Vec<Value> {
        self.say(&request.to_string());
        let mut heard = Vec::new();
        loop {
            heard.push(self.hear().expect("the engine answers every request"));
            if heard.last().unwrap()["message"] != "load_progress" {
                return heard;
            }
        }
    }

    pub fn ask(&mut self, request: &Value) -> Value {
        self.ask_all(request).pop().unwrap()
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Closes standard input; what is said from there on, and how the engine ended.
    pub fn finish(&mut self) -> (Vec<Value>, ExitStatus) {
        self.close_stdin();
        let mut heard = Vec::new();
        while let Some(message) = self.hear() {
            heard.push(message);
        }
        (heard, self.child.wait().unwrap())
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stdin = None;
        // Already gone in most tests.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub const SELECT_ONLY: &str =
    "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";

pub fn setup(clients: usize, threads: usize, script: &str) -> Value {
    json!({"request": "setup", "clients": clients, "threads": threads, "cpus": null, "mode": "prepared",
           "event_loop": event_loop().name(),
           "scripts": [{"name": "script", "weight": 1, "text": script}], "variables": {"scale": 10}})
}

pub fn connect(arm: u32, server: &FakeServer) -> Value {
    json!({"request": "connect", "arm": arm, "socket_directory": server.folder(), "port": PORT, "user": "u",
           "database": "d"})
}

pub fn slice(arm: u32, seed: u64, transactions: u64) -> Value {
    json!({"request": "slice", "arm": arm, "seed": seed, "keep": true,
           "bound": {"transactions_per_client": transactions}, "discard": {"transactions_per_client": 0}})
}

pub fn load(server: &FakeServer, lanes: Value) -> Value {
    json!({"request": "load", "socket_directory": server.folder(), "port": PORT, "user": "u", "database": "d",
           "lanes": lanes})
}
