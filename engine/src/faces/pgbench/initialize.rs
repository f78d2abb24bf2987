//! `pgbench -i`: the tables of the built-in scripts, made in steps; [`filling`] puts the rows into them.

mod filling;

use super::database::Database;
use super::fatal;
use super::options::InitializePlan;
use crate::drive::connection::Connection;
use crate::drive::dial::system_words;
use crate::drive::login::Greeting;
use crate::drive::pgbench::voice;
use crate::drive::process;
use crate::generate::pgbench::PartitionMethod;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// From this scale on the numbers of accounts are not sure to fit 32 bits.
const SCALE_BIGINT: u32 = 20_000;
const TELLERS_PER_BRANCH: u64 = 10;
const ACCOUNTS_PER_BRANCH: u64 = 100_000;

const FOREIGN_KEYS: [(&str, &str, &str); 5] = [
    ("pgbench_tellers", "bid", "pgbench_branches"),
    ("pgbench_accounts", "bid", "pgbench_branches"),
    ("pgbench_history", "bid", "pgbench_branches"),
    ("pgbench_history", "tid", "pgbench_tellers"),
    ("pgbench_history", "aid", "pgbench_accounts"),
];

pub(super) const ALL_TABLES: &str = "pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";

/// The connections that are at work, for whoever interrupts them.
#[derive(Clone, Default)]
struct Busy(Arc<Mutex<Vec<Greeting>>>);

impl Busy {
    fn add(&self, database: &Database) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(database.greeting.clone());
    }

    fn each(&self, cancel: impl Fn(&Greeting)) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(cancel);
    }
}

pub fn initialize(plan: &InitializePlan, connection: &mut Connection) {
    let Some(mut database) = Database::open(connection) else {
        fatal("could not create connection for initialization");
    };
    let busy = Busy::default();
    busy.add(&database);
    let (canceling, canceled) = (connection.clone(), busy.clone());
    // The step under way then fails, and we end; a server that is left alone would go on with it.
    let heard = process::on_interrupt(move || {
        canceled.each(|greeting| canceling.cancel(greeting));
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
            'g' => filling::generate(&mut database, plan, connection, &busy),
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

/// Of partitions by range; the last may have fewer.
fn accounts_per_partition(plan: &InitializePlan) -> u64 {
    (ACCOUNTS_PER_BRANCH * u64::from(plan.scale)).div_ceil(u64::from(plan.partitions))
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
                let size = accounts_per_partition(plan);
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
