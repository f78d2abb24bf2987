//! Which options there are, and the keys they are read by. A key is the option's letter; long options without a letter
//! have a sign that nobody types.

use crate::faces::pgbench::getopt::Known;

pub(super) const UNLOGGED_TABLES: char = '\x01';
pub(super) const TABLESPACE: char = '\x02';
pub(super) const INDEX_TABLESPACE: char = '\x03';
pub(super) const SAMPLING_RATE: char = '\x04';
pub(super) const AGGREGATE_INTERVAL: char = '\x05';
pub(super) const PROGRESS_TIMESTAMP: char = '\x06';
pub(super) const LOG_PREFIX: char = '\x07';
pub(super) const FOREIGN_KEYS: char = '\x08';
pub(super) const RANDOM_SEED: char = '\x09';
pub(super) const SHOW_SCRIPT: char = '\x0a';
pub(super) const PARTITIONS: char = '\x0b';
pub(super) const PARTITION_METHOD: char = '\x0c';
pub(super) const FAILURES_DETAILED: char = '\x0d';
pub(super) const MAX_TRIES: char = '\x0e';
pub(super) const VERBOSE_ERRORS: char = '\x0f';
pub(super) const EXIT_ON_ABORT: char = '\x10';
pub(super) const DEBUG: char = '\x11';
pub(super) const PERCENTILES: char = '\x12';
pub(super) const JSON: char = '\x13';
pub(super) const HDR_LOG: char = '\x14';
pub(super) const WARM_UP: char = '\x15';
pub(super) const RATE_PLAN: char = '\x16';
pub(super) const THINK_TIME: char = '\x17';
pub(super) const EVENT_LOOP: char = '\x18';
pub(super) const BINARY_PARAMETERS: char = '\x19';

const fn known(long: &'static str, key: char, has_value: bool) -> Known {
    Known { long, key, has_value, can_be_short: true }
}

pub(super) const KNOWN: [Known; 52] = [
    known("builtin", 'b', true),
    known("client", 'c', true),
    known("connect", 'C', false),
    known("dbname", 'd', true),
    known("define", 'D', true),
    known("file", 'f', true),
    known("fillfactor", 'F', true),
    known("host", 'h', true),
    known("initialize", 'i', false),
    known("init-steps", 'I', true),
    known("jobs", 'j', true),
    known("log", 'l', false),
    known("latency-limit", 'L', true),
    known("no-vacuum", 'n', false),
    known("port", 'p', true),
    known("progress", 'P', true),
    known("protocol", 'M', true),
    known("quiet", 'q', false),
    known("report-per-command", 'r', false),
    known("rate", 'R', true),
    known("scale", 's', true),
    known("select-only", 'S', false),
    known("skip-some-updates", 'N', false),
    known("time", 'T', true),
    known("transactions", 't', true),
    known("username", 'U', true),
    known("vacuum-all", 'v', false),
    known("unlogged-tables", UNLOGGED_TABLES, false),
    known("tablespace", TABLESPACE, true),
    known("index-tablespace", INDEX_TABLESPACE, true),
    known("sampling-rate", SAMPLING_RATE, true),
    known("aggregate-interval", AGGREGATE_INTERVAL, true),
    known("progress-timestamp", PROGRESS_TIMESTAMP, false),
    known("log-prefix", LOG_PREFIX, true),
    known("foreign-keys", FOREIGN_KEYS, false),
    known("random-seed", RANDOM_SEED, true),
    known("show-script", SHOW_SCRIPT, true),
    known("partitions", PARTITIONS, true),
    known("partition-method", PARTITION_METHOD, true),
    known("failures-detailed", FAILURES_DETAILED, false),
    known("max-tries", MAX_TRIES, true),
    known("verbose-errors", VERBOSE_ERRORS, false),
    known("exit-on-abort", EXIT_ON_ABORT, false),
    known("debug", DEBUG, false),
    // pgbench has none of these.
    Known { long: "percentiles", key: PERCENTILES, has_value: false, can_be_short: false },
    Known { long: "json", key: JSON, has_value: true, can_be_short: false },
    Known { long: "hdr-log", key: HDR_LOG, has_value: true, can_be_short: false },
    Known { long: "warm-up", key: WARM_UP, has_value: true, can_be_short: false },
    Known { long: "rate-plan", key: RATE_PLAN, has_value: true, can_be_short: false },
    Known { long: "think-time", key: THINK_TIME, has_value: true, can_be_short: false },
    Known { long: "event-loop", key: EVENT_LOOP, has_value: true, can_be_short: false },
    Known { long: "binary-parameters", key: BINARY_PARAMETERS, has_value: false, can_be_short: false },
];
