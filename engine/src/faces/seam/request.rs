//! What Python may ask. A key too many or too few is an error, never a default; those
//! that may be left out are `allow`, `event_loop`, `statement_limit_us` and `tasks`.

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

#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    pub clients: usize,
    pub threads: usize,
    pub cpus: Option<Vec<usize>>,
    pub mode: Mode,
    pub allow: Vec<Risk>,
    pub event_loop: EventLoop,
    pub work: Work,
}

/// What the clients do.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    Scripts { scripts: Vec<Script>, variables: BTreeMap<String, Value> },
    Native { name: String, parameters: BTreeMap<String, Value> },
}

/// What scripts may do only where it is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    Shell,
}

/// How threads wait for their sockets: by io_uring only where the kernel allows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventLoop {
    #[default]
    Epoll,
    IoUring,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect {
    pub arm: u32,
    pub server: Server,
    pub database: String,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    Socket { socket_directory: String, port: u16, user: String },
    Dsn { dsn: String, password: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    pub arm: u32,
    pub seed: u64,
    pub keep: bool,
    pub bound: Amount,
    pub discard: Amount,
    /// `None`: 60 s.
    pub statement_limit_us: Option<u64>,
    /// `None`: scripts are drawn by their weights.
    pub tasks: Option<Vec<Vec<Task>>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub script: String,
    pub variables: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    DurationUs(u64),
    TransactionsPerClient(u64),
    Program,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    pub arm: u32,
    pub reset: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    pub server: Server,
    pub database: String,
    pub lanes: Vec<Vec<Step>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Sql { sql: String },
    Copy { copy: String, rows: String, parameters: BTreeMap<String, Value>, share: Share },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    pub number: u32,
    pub of: u32,
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
            "connect" => connect(rest).map(Request::Connect),
            "slice" => read(rest).map(Request::Slice),
            "totals" => read(rest).map(Request::Totals),
            "load" => load(rest).map(Request::Load),
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

/// A request that has the keys of a server among its own: what is left without them, and the server. Those of a
/// connection string are the ones that are asked for where there is the key `dsn`.
fn with_server<T: DeserializeOwned>(value: Value) -> Result<(T, Server), String> {
    #[derive(Deserialize)]
    struct Socket {
        socket_directory: String,
        port: u16,
        user: String,
    }
    #[derive(Deserialize)]
    struct Dsn {
        dsn: String,
        #[serde(deserialize_with = "required")]
        password: Option<String>,
    }
    let Value::Object(mut keys) = value else { unreachable!("a request is an object") };
    let names: &[&str] =
        if keys.contains_key("dsn") { &["dsn", "password"] } else { &["socket_directory", "port", "user"] };
    let of_server = names.iter().filter_map(|&name| Some((name.to_owned(), keys.remove(name)?)));
    let of_server = Value::Object(of_server.collect());
    let server = match names[0] {
        "dsn" => read(of_server).map(|Dsn { dsn, password }| Server::Dsn { dsn, password })?,
        _ => read(of_server).map(|Socket { socket_directory, port, user }| Server::Socket {
            socket_directory,
            port,
            user,
        })?,
    };
    Ok((read(Value::Object(keys))?, server))
}

fn connect(value: Value) -> Result<Connect, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Rest {
        arm: u32,
        database: String,
    }
    let (Rest { arm, database }, server) = with_server(value)?;
    Ok(Connect { arm, server, database })
}

fn load(value: Value) -> Result<Load, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Rest {
        database: String,
        lanes: Vec<Vec<Step>>,
    }
    let (Rest { database, lanes }, server) = with_server(value)?;
    Ok(Load { server, database, lanes })
}

/// An option whose `null` has to be written down.
fn required<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

/// By its keys: serde's own untagged enum could not say which key is wrong.
impl<'de> Deserialize<'de> for Setup {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Keys {
            clients: usize,
            threads: usize,
            #[serde(deserialize_with = "required")]
            cpus: Option<Vec<usize>>,
            mode: Mode,
            #[serde(default)]
            allow: Vec<Risk>,
            #[serde(default)]
            event_loop: EventLoop,
            scripts: Option<Vec<Script>>,
            variables: Option<BTreeMap<String, Value>>,
            workload: Option<Native>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Native {
            name: String,
            parameters: BTreeMap<String, Value>,
        }
        let Keys { clients, threads, cpus, mode, allow, event_loop, scripts, variables, workload } =
            Keys::deserialize(deserializer)?;
        let work = match (scripts, variables, workload) {
            (Some(scripts), Some(variables), None) => Work::Scripts { scripts, variables },
            (None, None, Some(Native { name, parameters })) => Work::Native { name, parameters },
            _ => return Err(D::Error::custom("a setup has either the key `workload`, or `scripts` and `variables`")),
        };
        Ok(Self { clients, threads, cpus, mode, allow, event_loop, work })
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Keys {
            sql: Option<String>,
            copy: Option<String>,
            rows: Option<String>,
            parameters: Option<BTreeMap<String, Value>>,
            share: Option<Share>,
        }
        match Keys::deserialize(deserializer)? {
            Keys { sql: Some(sql), copy: None, rows: None, parameters: None, share: None } => Ok(Step::Sql { sql }),
            Keys {
                sql: None,
                copy: Some(copy),
                rows: Some(rows),
                parameters: Some(parameters),
                share: Some(share),
            } => Ok(Step::Copy { copy, rows, parameters, share }),
            _ => Err(D::Error::custom("a step has either the key `sql`, or `copy`, `rows`, `parameters` and `share`")),
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
        let either = "a setup has either the key `workload`, or `scripts` and `variables`";
        for work in [
            r#""scripts": []"#,
            r#""scripts": [], "variables": {}, "workload": {"name": "ycsb", "parameters": {}}"#,
            r#""variables": {}, "workload": {"name": "ycsb", "parameters": {}}"#,
        ] {
            let line = r#"{"request": "setup", "clients": 1, "threads": 1, "cpus": null, "mode": "prepared", "#;
            check(&format!("{line}{work}}}"), either);
        }
        let load = |step| {
            format!(
                r#"{{"request": "load", "socket_directory": "", "port": 1, "user": "", "database": "",
                "lanes": [[{step}]]}}"#
            )
        };
        let neither = "a step has either the key `sql`, or `copy`, `rows`, `parameters` and `share`";
        let connect = |keys| format!(r#"{{"request": "connect", "arm": 0, {keys}}}"#);
        check(&connect(r#""port": 1, "user": "", "database": "x""#), "missing field `socket_directory`");
        check(&connect(r#""dsn": "", "database": "x""#), "missing field `password`");
        check(
            &connect(r#""dsn": "", "password": null, "user": "", "database": "x""#),
            "unknown field `user`, expected `arm` or `database`",
        );
        check(&load(r#"{"copy": "x", "rows": "y"}"#), neither);
        check(&load(r#"{"sql": "x", "parameters": {}}"#), neither);
        check(
            &load(r#"{"sqll": "x"}"#),
            "unknown field `sqll`, expected one of `sql`, `copy`, `rows`, `parameters`, `share`",
        );
    }

    #[test]
    fn a_refusal_keeps_what_was_readable() {
        let refusal = Request::parse(br#"{"request": "slice", "arm": 3}"#).unwrap_err();
        assert_eq!((refusal.request.as_deref(), refusal.arm), (Some("slice"), Some(3)));
    }
}
