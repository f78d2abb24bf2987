//! Rows from here into the tables, by COPY: over one connection as pgbench does it, or over several side by side.
//!
//! One server process is what limits a load over one connection. Over several, tables that were truncated in the same
//! transaction may still be frozen while they are filled: partitions by range are, each by one connection. A table
//! that several fill cannot be.

use super::{ALL_TABLES, Busy, accounts_per_partition};
use crate::drive::connection::Connection;
use crate::drive::pgbench::voice;
use crate::faces::pgbench::database::Database;
use crate::faces::pgbench::fatal;
use crate::faces::pgbench::options::InitializePlan;
use crate::generate::pgbench::{PartitionMethod, Rows, Table};
use crate::wire::frontend;
use bytes::BytesMut;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

const CHUNK_BYTES: usize = 64 * 1024;
/// Progress is told each time so many rows are sent, or so many seconds are over.
const ROWS_TOLD: u64 = 100_000;
const SECONDS_TOLD: f64 = 5.0;
/// The first release whose COPY can freeze.
const FREEZE_VERSION: u32 = 140_000;

pub(super) fn generate(
    database: &mut Database,
    plan: &InitializePlan,
    connection: &Connection,
    busy: &Busy,
) -> &'static str {
    voice::raw("generating data (client-side)...");
    // In one transaction, which lets the server load faster; others see the tables only when it is over.
    database.execute("begin");
    database.execute(&format!("truncate table {ALL_TABLES}"));
    // In the order that foreign keys want.
    copy_all(database, plan, Table::Branches);
    copy_all(database, plan, Table::Tellers);
    if plan.jobs == 1 {
        copy_all(database, plan, Table::Accounts);
    }
    database.execute("commit");
    if plan.jobs > 1 {
        copy_side_by_side(plan, connection, busy);
    }
    "client-side generate"
}

fn copy_all(database: &mut Database, plan: &InitializePlan, table: Table) {
    let progress = Progress::of(table, plan);
    let freezes = can_freeze(database) && is_ordinary(database, table.name());
    copy(database, table.name(), freezes, Rows::of(table, plan.scale), &progress);
    progress.end();
}

/// What one COPY is to fill: accounts behind the first so many, up to so many.
struct Share {
    table: String,
    accounts: (u64, u64),
    /// Nobody else fills this table.
    alone: bool,
}

fn shares(plan: &InitializePlan) -> Vec<Share> {
    let total = Table::Accounts.rows(plan.scale);
    if plan.method == Some(PartitionMethod::Range) {
        let size = accounts_per_partition(plan);
        let partition = |number: u64| {
            let accounts = (total.min(number * size), total.min((number + 1) * size));
            Share { table: format!("{}_{}", Table::Accounts.name(), number + 1), accounts, alone: true }
        };
        return (0..u64::from(plan.partitions)).map(partition).collect();
    }
    let size = total.div_ceil(plan.jobs as u64);
    let share = |number: u64| {
        let accounts = (total.min(number * size), total.min((number + 1) * size));
        Share { table: Table::Accounts.name().to_owned(), accounts, alone: false }
    };
    (0..plan.jobs as u64).map(share).collect()
}

/// Every connection takes the next share that nobody has taken. Trouble in one ends the process.
fn copy_side_by_side(plan: &InitializePlan, connection: &Connection, busy: &Busy) {
    let (shares, next) = (shares(plan), AtomicUsize::new(0));
    let progress = Progress::of(Table::Accounts, plan);
    let work = || {
        let Some(mut database) = Database::open(&mut connection.clone()) else {
            fatal("could not create connection for initialization");
        };
        busy.add(&database);
        let freezes = can_freeze(&database);
        while let Some(Share { table, accounts, alone }) = shares.get(next.fetch_add(1, Ordering::Relaxed)) {
            let rows = Rows::between(Table::Accounts, accounts.0, accounts.1);
            if *alone {
                database.execute("begin");
                database.execute(&format!("truncate table {table}"));
                copy(&mut database, table, freezes, rows, &progress);
                database.execute("commit");
            } else {
                copy(&mut database, table, false, rows, &progress);
            }
        }
        database.close();
    };
    thread::scope(|scope| {
        for _ in 0..plan.jobs.min(shares.len()) {
            scope.spawn(work);
        }
    });
    progress.end();
}

fn copy(database: &mut Database, table: &str, freezes: bool, mut rows: Rows, progress: &Progress) {
    let options = if freezes { " with (freeze on)" } else { "" };
    if let Err(refused) = database.query(&format!("copy {table} from stdin{options}")) {
        fatal(format_args!("unexpected copy in result: {}", refused.text));
    }
    let (mut chunk, mut message) = (Vec::with_capacity(CHUNK_BYTES), BytesMut::with_capacity(CHUNK_BYTES));
    loop {
        let before = rows.done();
        chunk.clear();
        rows.fill(&mut chunk, CHUNK_BYTES);
        if chunk.is_empty() {
            break;
        }
        message.clear();
        frontend::copy_data(&chunk, &mut message);
        if let Err(refused) = database.send(&message) {
            voice::error(refused.text);
            fatal("PQputline failed");
        }
        progress.add(rows.done() - before);
    }
    if let Err(refused) = database.end_copy() {
        voice::error(refused.text);
        fatal("PQendcopy failed");
    }
}

fn can_freeze(database: &Database) -> bool {
    database.version_number() >= FREEZE_VERSION
}

/// Whether it is a table and not, for example, the parent of partitions, which cannot be frozen.
fn is_ordinary(database: &mut Database, table: &str) -> bool {
    let sql = format!("select relkind from pg_catalog.pg_class where oid = '{table}'::pg_catalog.regclass");
    match database.query(&sql) {
        Ok(rows) => rows.first().and_then(|row| row.first()) == Some(&Some("r".to_owned())),
        Err(refused) => {
            voice::error(format_args!("query failed: {}", refused.text));
            voice::detail(format_args!("Query was: {sql}"));
            std::process::exit(1)
        }
    }
}

/// Tells how far a table is, whoever fills it: on one line of a terminal, else on a line each.
struct Progress {
    rows: AtomicU64,
    told: Mutex<Told>,
}

impl Progress {
    fn of(table: Table, plan: &InitializePlan) -> Self {
        let told = Told {
            table,
            total: table.rows(plan.scale),
            begun: Instant::now(),
            quiet: plan.quiet,
            rows: 0,
            times: 1.0,
            line_end: if io::stderr().is_terminal() { '\r' } else { '\n' },
            characters: 0,
        };
        Self { rows: AtomicU64::new(0), told: Mutex::new(told) }
    }

    fn add(&self, rows: u64) {
        let rows = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        self.told.lock().unwrap_or_else(PoisonError::into_inner).tell(rows);
    }

    fn end(&self) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// What was said last, and how.
struct Told {
    table: Table,
    total: u64,
    begun: Instant,
    quiet: bool,
    rows: u64,
    times: f64,
    line_end: char,
    characters: usize,
}

impl Told {
    fn tell(&mut self, rows: u64) {
        if !self.quiet {
            while self.rows + ROWS_TOLD <= rows {
                self.rows += ROWS_TOLD;
                self.line(self.rows);
            }
            return;
        }
        let elapsed_s = self.begun.elapsed().as_secs_f64();
        // pgbench looks at every hundredth row.
        let last = rows == self.total && self.total.is_multiple_of(100);
        if last || elapsed_s >= self.times * SECONDS_TOLD {
            self.line(rows);
            self.times = (elapsed_s / SECONDS_TOLD).ceil();
        }
    }

    fn line(&mut self, rows: u64) {
        let (total, elapsed_s) = (self.total, self.begun.elapsed().as_secs_f64());
        let remaining_s = (total - rows) as f64 * elapsed_s / rows as f64;
        let line = format!(
            "{rows} of {total} tuples ({}%) of {} done (elapsed {elapsed_s:.2} s, remaining {remaining_s:.2} s)",
            rows * 100 / total,
            self.table.name()
        );
        // What a longer line before would leave on the terminal is overwritten.
        let padding = " ".repeat(self.characters.saturating_sub(line.len()));
        self.characters = line.len();
        let _ = io::stderr().write_all(format!("{line}{padding}{}", self.line_end).as_bytes());
    }

    fn clear(&self) {
        if self.characters > 0 && self.line_end == '\r' {
            let _ = io::stderr().write_all(format!("{}\r", " ".repeat(self.characters)).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(scale: u32, jobs: usize, partitions: u32, method: Option<PartitionMethod>) -> InitializePlan {
        InitializePlan {
            steps: "g".to_owned(),
            jobs,
            scale,
            fillfactor: 100,
            partitions,
            method,
            tablespace: None,
            index_tablespace: None,
            unlogged: false,
            quiet: true,
        }
    }

    #[test]
    fn every_account_is_in_one_share() {
        for plan in [
            plan(1, 3, 0, None),
            plan(7, 2, 0, None),
            plan(3, 2, 7, Some(PartitionMethod::Range)),
            plan(3, 5, 7, Some(PartitionMethod::Hash)),
        ] {
            let shares = shares(&plan);
            let mut next = 0;
            for share in &shares {
                assert_eq!(share.accounts.0, next);
                assert_eq!(share.alone, plan.method == Some(PartitionMethod::Range));
                next = share.accounts.1;
            }
            assert_eq!(next, Table::Accounts.rows(plan.scale));
        }
    }

    #[test]
    fn a_partition_has_a_connection_to_itself_and_its_own_accounts() {
        let shares = shares(&plan(1, 2, 3, Some(PartitionMethod::Range)));
        let told: Vec<_> = shares.iter().map(|share| (share.table.as_str(), share.accounts)).collect();
        assert_eq!(
            told,
            [
                ("pgbench_accounts_1", (0, 33_334)),
                ("pgbench_accounts_2", (33_334, 66_668)),
                ("pgbench_accounts_3", (66_668, 100_000)),
            ]
        );
    }
}
