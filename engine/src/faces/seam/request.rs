//! What Python may ask. A key too many or too few is an error, never a default; the
//! one that may be left out is `statement_limit_us`.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Setup(Setup),
    Connect(Connect),
    Slice(Slice),
    Totals(Totals),
    Load(Load),
    Disconnect(Disconnect),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    pub clients: usize,
    pub threads: usize,
    #[serde(deserialize_with = "required")]
    pub cpus: Option<Vec<usize>>,
    pub mode: Mode,
    pub scripts: Vec<Script>,
    pub variables: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Prepared,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub name: String,
    pub weight: u32,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    pub arm: u32,
    pub socket_directory: String,
    pub port: u16,
    pub user: String,
    pub database: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    pub arm: u32,
    pub seed: u64,
    pub keep: bool,
    pub bound: Amount,
    pub discard: Amount,
    /// `None`: 60 s.
    pub statement_limit_us: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    DurationUs(u64),
    TransactionsPerClient(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    pub arm: u32,
    pub reset: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub socket_directory: String,
    pub port: u16,
    pub user: String,
    pub database: String,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Sql { sql: String },
    Copy { copy: String, rows: String, scale: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disconnect {
    pub arm: u32,
}

/// Why a line is no request, and the name and arm it gave as far as it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub request: Option<String>,
    pub arm: Option<u32>,
    pub what: String,
}

impl Request {
    pub fn parse(line: &[u8]) -> Result<Self, Refusal> {
        let plain = |what| Refusal { request: None, arm: None, what };
        let value: Value =
            serde_json::from_slice(line).map_err(|error| plain(format!("the line is not JSON: {error}")))?;
        let Value::Object(mut keys) = value else { return Err(plain("the line is not a JSON object".to_owned())) };
        let arm = keys.get("arm").and_then(Value::as_u64).and_then(|arm| u32::try_from(arm).ok());
        let Some(Value::String(name)) = keys.remove("request") else {
            return Err(Refusal { arm, ..plain("there is no key `request` with a text".to_owned()) });
        };
        let rest = Value::Object(keys);
        let parsed = match name.as_str() {
            "setup" => read(rest).map(Request::Setup),
            "connect" => read(rest).map(Request::Connect),
            "slice" => read(rest).map(Request::Slice),
            "totals" => read(rest).map(Request::Totals),
            "load" => read(rest).map(Request::Load),
            "disconnect" => read(rest).map(Request::Disconnect),
            _ => Err(format!(
                "unknown request `{name}`, expected one of `setup`, `connect`, `slice`, `totals`, `load`, `disconnect`"
            )),
        };
        parsed.map_err(|what| Refusal { request: Some(name), arm, what })
    }

    pub fn name(&self) -> &'static str {
        match self {
            Request::Setup(_) => "setup",
            Request::Connect(_) => "connect",
            Request::Slice(_) => "slice",
            Request::Totals(_) => "totals",
            Request::Load(_) => "load",
            Request::Disconnect(_) => "disconnect",
        }
    }

    pub fn arm(&self) -> Option<u32> {
        match self {
            Request::Setup(_) | Request::Load(_) => None,
            Request::Connect(Connect { arm, .. })
            | Request::Slice(Slice { arm, .. })
            | Request::Totals(Totals { arm, .. })
            | Request::Disconnect(Disconnect { arm }) => Some(*arm),
        }
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// An option whose `null` has to be written down.
fn required<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

/// By its keys: serde's own untagged enum could not say which key is wrong.
impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Keys {
            sql: Option<String>,
            copy: Option<String>,
            rows: Option<String>,
            scale: Option<u32>,
        }
        match Keys::deserialize(deserializer)? {
            Keys { sql: Some(sql), copy: None, rows: None, scale: None } => Ok(Step::Sql { sql }),
            Keys { sql: None, copy: Some(copy), rows: Some(rows), scale: Some(scale) } => {
                Ok(Step::Copy { copy, rows, scale })
            }
            _ => Err(D::Error::custom("a step has either the key `sql`, or `copy`, `rows` and `scale`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, what: &str) {
        assert_eq!(Request::parse(line.as_bytes()).unwrap_err().what, what, "{line}");
    }

    #[test]
    fn typing_errors_are_errors() {
        check("{", "the line is not JSON: EOF while parsing an object at line 1 column 1");
        check("3", "the line is not a JSON object");
        check("{}", "there is no key `request` with a text");
        check(
            r#"{"request": "slide"}"#,
            "unknown request `slide`, expected one of `setup`, `connect`, `slice`, `totals`, `load`, `disconnect`",
        );
        check(r#"{"request": "disconnect", "amr": 0}"#, "unknown field `amr`, expected `arm`");
        check(r#"{"request": "totals", "arm": 0}"#, "missing field `reset`");
        check(r#"{"request": "totals", "arm": -1, "reset": true}"#, "invalid value: integer `-1`, expected u32");
        check(
            r#"{"request": "setup", "clients": 1, "threads": 1, "mode": "prepared", "scripts": [], "variables": {}}"#,
            "missing field `cpus`",
        );
        let load = |step| {
            format!(
                r#"{{"request": "load", "socket_directory": "", "port": 1, "user": "", "database": "",
                "steps": [{step}]}}"#
            )
        };
        let neither = "a step has either the key `sql`, or `copy`, `rows` and `scale`";
        check(&load(r#"{"copy": "x", "rows": "y"}"#), neither);
        check(&load(r#"{"sql": "x", "scale": 1}"#), neither);
        check(&load(r#"{"sqll": "x"}"#), "unknown field `sqll`, expected one of `sql`, `copy`, `rows`, `scale`");
    }

    #[test]
    fn a_refusal_keeps_what_was_readable() {
        let refusal = Request::parse(br#"{"request": "slice", "arm": 3}"#).unwrap_err();
        assert_eq!((refusal.request.as_deref(), refusal.arm), (Some("slice"), Some(3)));
    }
}
