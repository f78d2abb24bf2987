//! What the engine says.

use serde::Serialize;

pub const PROTOCOL: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum Message {
    Hello(Hello),
    Ready { threads: usize, event_loop: &'static str, statements: Vec<StatementText>, kinds: Vec<String> },
    Connected { arm: u32, backend_pids: Vec<i32>, server_version: String },
    SliceDone(SliceDone),
    Totals(Totals),
    LoadProgress { rows: u64, rows_total: u64 },
    Loaded { tables: Vec<LoadedTable> },
    Disconnected { arm: u32 },
    End { reason: &'static str },
    Error(Error),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hello {
    pub protocol: u32,
    pub version: &'static str,
    pub build: Build,
    pub pid: u32,
    pub cpus: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Build {
    pub profile: &'static str,
    pub identity: &'static str,
    pub rustc: &'static str,
}

impl Build {
    /// As `build.rs` found it.
    pub const THIS: Build =
        Build { profile: env!("ENGINE_PROFILE"), identity: env!("ENGINE_IDENTITY"), rustc: env!("ENGINE_RUSTC") };
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatementText {
    pub statement: usize,
    pub script: String,
    pub text: String,
    pub prepared_text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SliceDone {
    pub arm: u32,
    pub begun_at_ns: u64,
    pub ended_at_ns: u64,
    pub transactions: u64,
    pub failed: u64,
    pub discarded: u64,
    pub busy_ns: u64,
    pub rate_hz: f64,
    pub latency_ns: Option<Latency>,
    pub rolled_back: u64,
    pub retried: u64,
    pub statements: Vec<StatementOfSlice>,
    pub kinds: Vec<KindOfSlice>,
    pub seconds: Option<Seconds>,
    pub engine: Engine,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Seconds {
    pub transactions: Vec<u64>,
    pub mean_ns: Vec<Option<f64>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Latency {
    pub min: u64,
    pub mean: f64,
    pub sd: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementOfSlice {
    pub statement: usize,
    pub count: u64,
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindOfSlice {
    pub kind: usize,
    pub count: u64,
    pub failed: u64,
    pub rolled_back: u64,
    pub retried: u64,
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<f64>,
    pub seconds: Option<Seconds>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Engine {
    pub cpu_ns: u64,
    pub run_delay_ns: u64,
    pub begin_late_ns_max: u64,
    pub drain_ns_max: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Totals {
    pub arm: u32,
    pub slices: u64,
    pub transactions: u64,
    pub failed: u64,
    pub busy_ns: u64,
    pub latency_ns: Option<Latency>,
    pub histogram: String,
    pub rolled_back: u64,
    pub retried: u64,
    pub statements: Vec<StatementOfTotals>,
    pub kinds: Vec<KindOfTotals>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementOfTotals {
    pub statement: usize,
    pub count: u64,
    pub mean_ns: Option<f64>,
    pub sd_ns: Option<f64>,
    pub histogram: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindOfTotals {
    pub kind: usize,
    pub count: u64,
    pub failed: u64,
    pub rolled_back: u64,
    pub retried: u64,
    pub latency_ns: Option<Latency>,
    pub histogram: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Share {
    pub number: u32,
    pub of: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoadedTable {
    pub rows_of: String,
    pub share: Share,
    pub rows: u64,
    pub bytes: u64,
    pub sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Error {
    pub request: Option<String>,
    pub kind: Kind,
    pub arm: Option<u32>,
    pub what: String,
    pub sqlstate: Option<String>,
    pub detail: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Request,
    Server,
    World,
}
