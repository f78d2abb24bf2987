//! The scripts that pgbench brings along.

use super::fatal;
use crate::drive::pgbench::voice;
use std::process;

#[derive(Debug, PartialEq, Eq)]
pub struct Builtin {
    pub name: &'static str,
    pub description: &'static str,
    pub script: &'static str,
}

const BUILTINS: [Builtin; 3] = [
    Builtin {
        name: "tpcb-like",
        description: "<builtin: TPC-B (sort of)>",
        script: "\\set aid random(1, 100000 * :scale)\n\
                 \\set bid random(1, 1 * :scale)\n\
                 \\set tid random(1, 10 * :scale)\n\
                 \\set delta random(-5000, 5000)\n\
                 BEGIN;\n\
                 UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
                 SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
                 UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n\
                 UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n\
                 INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
                 END;\n",
    },
    Builtin {
        name: "simple-update",
        description: "<builtin: simple update>",
        script: "\\set aid random(1, 100000 * :scale)\n\
                 \\set bid random(1, 1 * :scale)\n\
                 \\set tid random(1, 10 * :scale)\n\
                 \\set delta random(-5000, 5000)\n\
                 BEGIN;\n\
                 UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
                 SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
                 INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
                 END;\n",
    },
    Builtin {
        name: "select-only",
        description: "<builtin: select only>",
        script: "\\set aid random(1, 100000 * :scale)\n\
                 SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
    },
];

pub fn list() {
    voice::raw("Available builtin scripts:");
    for Builtin { name, description, .. } in &BUILTINS {
        voice::raw(&format!("  {name:>13}: {description}"));
    }
    voice::raw("");
}

/// The one script whose name begins so.
pub fn named(prefix: &str) -> &'static Builtin {
    let found: Vec<&Builtin> = BUILTINS.iter().filter(|builtin| builtin.name.starts_with(prefix)).collect();
    match found[..] {
        [only] => return only,
        [] => voice::error(format_args!("no builtin script found for name \"{prefix}\"")),
        _ => voice::error(format_args!(
            "ambiguous builtin name: {} builtin scripts found for prefix \"{prefix}\"",
            found.len()
        )),
    }
    list();
    process::exit(1)
}

/// `name@weight` in two; the weight is 1 where none is given.
pub fn weighted(option: &str) -> (&str, u32) {
    let Some(at) = option.rfind('@') else { return (option, 1) };
    let written = &option[at + 1..];
    let Ok(weight) = written.trim_ascii_start().parse::<i64>() else {
        fatal(format_args!("invalid weight specification: {}", &option[at..]));
    };
    match u32::try_from(weight).ok().filter(|&weight| weight <= i32::MAX as u32) {
        Some(weight) => (&option[..at], weight),
        None => fatal(format_args!("weight specification out of range (0 .. {}): {weight}", i32::MAX)),
    }
}
