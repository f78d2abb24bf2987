//! `pgbench -i`: the tables of the built-in scripts, made in steps.

use super::connection::Connection;
use super::database::Database;
use super::fatal;
use super::options::InitializePlan;
use crate::drive::dial::system_words;
use crate::drive::pgbench::voice;
use crate::drive::process;
use crate::generate::pgbench::{PartitionMethod, Rows, Table};
use crate::wire::frontend;
use bytes::BytesMut;
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

/// From this scale on the numbers of accounts are not sure to fit 32 bits.
const SCALE_BIGINT: u32 = 20_000;
const TELLERS_PER_BRANCH: u64 = 10;
const ACCOUNTS_PER_BRANCH: u64 = 100_000;
const CHUNK_BYTES: usize = 64 * 1024;
/// Progress is told each time so many rows are sent, or so many seconds are over.
const ROWS_TOLD: u64 = 100_000;
const SECONDS_TOLD: f64 = 5.0;
/// The first release whose COPY can freeze.
const FREEZE_VERSION: u32 = 140_000;

const FOREIGN_KEYS: [(&str, &str, &str); 5] = [
    ("pgbench_tellers", "bid", "pgbench_branches"),
    ("pgbench_accounts", "bid", "pgbench_branches"),
    ("pgbench_history", "bid", "pgbench_branches"),
    ("pgbench_history", "tid", "pgbench_tellers"),
    ("pgbench_history", "aid", "pgbench_accounts"),
];

const ALL_TABLES: &str = "pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";

pub fn initialize(plan: &InitializePlan, connection: &mut Connection) {
    let Some(mut database) = Database::open(connection) else {
        fatal("could not create connection for initialization");
    };
    let (canceling, greeting) = (connection.clone(), database.greeting.clone());
    // The step under way then fails, and we end; a server that is left alone would go on with it.
    let heard = process::on_interrupt(move || {
        canceling.cancel(&greeting);
        voice::raw("Cancel request sent");
    });
    if let Err(error) = heard {
        fatal(format_args!("could not wait for interrupts: {}", system_words(&error)));
    }
    let (mut told, mut total_s) = (Vec::new(), 0.0);
    for step in plan.steps.chars() {
        let begun = Instant::now();
        let name = match step {
            'd' => drop_tables(&mut database),
            't' => create_tables(&mut database, plan),
            'g' => generate(&mut database, plan),
            'G' => generate_on_server(&mut database, plan),
            'v' => vacuum(&mut database),
            'p' => create_primary_keys(&mut database, plan),
            'f' => create_foreign_keys(&mut database),
            _ => continue,
        };
        let elapsed_s = begun.elapsed().as_secs_f64();
        told.push(format!("{name} {elapsed_s:.2} s"));
        total_s += elapsed_s;
    }
    voice::raw(&format!("done in {total_s:.2} s ({}).", told.join(", ")));
    database.close();
}

fn drop_tables(database: &mut Database) -> &'static str {
    voice::raw("dropping old tables...");
    // At once, because of foreign keys between them.
    database.execute(&format!("drop table if exists {ALL_TABLES}"));
    "drop tables"
}

/// A name that may have to be quoted, quoted.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// pgbench's tables as they always were, so that results can be compared over the releases: only
/// the accounts' filler takes any space, and the types' widths differ by scale.
fn create_tables(database: &mut Database, plan: &InitializePlan) -> &'static str {
    voice::raw("creating tables...");
    let account = if plan.scale >= SCALE_BIGINT { "aid bigint" } else { "aid    int" };
    let tables = [
        ("pgbench_history", format!("tid int,bid int,{account},delta int,mtime timestamp,filler char(22)"), false),
        ("pgbench_tellers", "tid int not null,bid int,tbalance int,filler char(84)".to_owned(), true),
        ("pgbench_accounts", format!("{account} not null,bid int,abalance int,filler char(84)"), true),
        ("pgbench_branches", "bid int not null,bbalance int,filler char(88)".to_owned(), true),
    ];
    for (table, columns, fills) in tables {
        let unlogged = if plan.unlogged && plan.method.is_none() { " unlogged" } else { "" };
        let mut sql = format!("create{unlogged} table {table}({columns})");
        match plan.method {
            Some(method) if table == "pgbench_accounts" => sql += &format!(" partition by {} (aid)", method.name()),
            _ if fills => sql += &format!(" with (fillfactor={})", plan.fillfactor),
            _ => {}
        }
        if let Some(tablespace) = &plan.tablespace {
            sql += &format!(" tablespace {}", quoted(tablespace));
        }
        database.execute(&sql);
    }
    if let Some(method) = plan.method {
        create_partitions(database, plan, method);
    }
    "create tables"
}

fn create_partitions(database: &mut Database, plan: &InitializePlan, method: PartitionMethod) {
    let count = u64::from(plan.partitions);
    voice::raw(&format!("creating {count} partitions..."));
    let unlogged = if plan.unlogged { " unlogged" } else { "" };
    for number in 1..=count {
        let values = match method {
            PartitionMethod::Hash => format!("with (modulus {count}, remainder {})", number - 1),
            PartitionMethod::Range => {
                let size = (ACCOUNTS_PER_BRANCH * u64::from(plan.scale)).div_ceil(count);
                // Open at both ends: any key has a place.
                let from = if number == 1 { "minvalue".to_owned() } else { ((number - 1) * size + 1).to_string() };
                let to = if number == count { "maxvalue".to_owned() } else { (number * size + 1).to_string() };
                format!("from ({from}) to ({to})")
            }
        };
        database.execute(&format!(
            "create{unlogged} table pgbench_accounts_{number}\n  partition of pgbench_accounts\n  for values {values} \
             with (fillfactor={})",
            plan.fillfactor
        ));
    }
}

/// In one transaction, which lets the server load faster.
fn generate(database: &mut Database, plan: &InitializePlan) -> &'static str {
    voice::raw("generating data (client-side)...");
    database.execute("begin");
    database.execute(&format!("truncate table {ALL_TABLES}"));
    // In the order that foreign keys want.
    for table in [Table::Branches, Table::Tellers, Table::Accounts] {
        copy(database, plan, table);
    }
    database.execute("commit");
    "client-side generate"
}

fn copy(database: &mut Database, plan: &InitializePlan, table: Table) {
    let name = table.name();
    let freezes = database.version_number() >= FREEZE_VERSION && is_ordinary(database, name);
    let options = if freezes { " with (freeze on)" } else { "" };
    if let Err(refused) = database.query(&format!("copy {name} from stdin{options}")) {
        fatal(format_args!("unexpected copy in result: {}", refused.text));
    }
    let mut rows = Rows::of(table, plan.scale);
    let mut progress = Progress::of(table, plan);
    let (mut chunk, mut message) = (Vec::with_capacity(CHUNK_BYTES), BytesMut::with_capacity(CHUNK_BYTES));
    loop {
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
        progress.tell(rows.done());
    }
    progress.clear();
    if let Err(refused) = database.end_copy() {
        voice::error(refused.text);
        fatal("PQendcopy failed");
    }
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

/// Tells how far a COPY is: on one line of a terminal, else on a line each.
struct Progress {
    table: Table,
    total: u64,
    begun: Instant,
    quiet: bool,
    told_rows: u64,
    told_times: f64,
    line_end: char,
    characters: usize,
}

impl Progress {
    fn of(table: Table, plan: &InitializePlan) -> Self {
        Self {
            table,
            total: table.rows(plan.scale),
            begun: Instant::now(),
            quiet: plan.quiet,
            told_rows: 0,
            told_times: 1.0,
            line_end: if io::stderr().is_terminal() { '\r' } else { '\n' },
            characters: 0,
        }
    }

    fn tell(&mut self, rows: u64) {
        if !self.quiet {
            while self.told_rows + ROWS_TOLD <= rows {
                self.told_rows += ROWS_TOLD;
                self.line(self.told_rows);
            }
            return;
        }
        let elapsed_s = self.begun.elapsed().as_secs_f64();
        // pgbench looks at every hundredth row.
        let last = rows == self.total && self.total.is_multiple_of(100);
        if last || elapsed_s >= self.told_times * SECONDS_TOLD {
            self.line(rows);
            self.told_times = (elapsed_s / SECONDS_TOLD).ceil();
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

fn generate_on_server(database: &mut Database, plan: &InitializePlan) -> &'static str {
    voice::raw("generating data (server-side)...");
    let scale = u64::from(plan.scale);
    database.execute("begin");
    database.execute(&format!("truncate table {ALL_TABLES}"));
    database.execute(&format!(
        "insert into pgbench_branches(bid,bbalance) select bid, 0 from generate_series(1, {scale}) as bid"
    ));
    database.execute(&format!(
        "insert into pgbench_tellers(tid,bid,tbalance) select tid, (tid - 1) / {TELLERS_PER_BRANCH} + 1, 0 from \
         generate_series(1, {}) as tid",
        TELLERS_PER_BRANCH * scale
    ));
    database.execute(&format!(
        "insert into pgbench_accounts(aid,bid,abalance,filler) select aid, (aid - 1) / {ACCOUNTS_PER_BRANCH} + 1, 0, '' \
         from generate_series(1, {}) as aid",
        ACCOUNTS_PER_BRANCH * scale
    ));
    database.execute("commit");
    "server-side generate"
}

fn vacuum(database: &mut Database) -> &'static str {
    voice::raw("vacuuming...");
    for table in ["pgbench_branches", "pgbench_tellers", "pgbench_accounts", "pgbench_history"] {
        database.execute(&format!("vacuum analyze {table}"));
    }
    "vacuum"
}

fn create_primary_keys(database: &mut Database, plan: &InitializePlan) -> &'static str {
    voice::raw("creating primary keys...");
    let tablespace = plan.index_tablespace.as_ref();
    let tablespace = tablespace.map_or_else(String::new, |name| format!(" using index tablespace {}", quoted(name)));
    for (table, key) in [("pgbench_branches", "bid"), ("pgbench_tellers", "tid"), ("pgbench_accounts", "aid")] {
        database.execute(&format!("alter table {table} add primary key ({key}){tablespace}"));
    }
    "primary keys"
}

fn create_foreign_keys(database: &mut Database) -> &'static str {
    voice::raw("creating foreign keys...");
    for (table, key, referenced) in FOREIGN_KEYS {
        database.execute(&format!(
            "alter table {table} add constraint {table}_{key}_fkey foreign key ({key}) references {referenced}"
        ));
    }
    "foreign keys"
}
