//! Everything around a run: what the tables are, the vacuum before, the clients, the results.

use super::database::{Database, Refused};
use super::options::BenchmarkPlan;
use super::report::{self, Tables};
use super::{PGBENCH_VERSION, PGBENCH_VERSION_NUMBER, fatal, hdr_log, json, percentiles};
use crate::drive::connection::Connection;
use crate::drive::dial::system_words;
use crate::drive::pgbench::client::{self, Client};
use crate::drive::pgbench::effort::{BUSY, DELAYED};
use crate::drive::pgbench::run::{self, Outcome, Trouble};
use crate::drive::pgbench::settings::Settings;
use crate::drive::pgbench::voice;
use crate::generate::pgbench::PartitionMethod;
use crate::script::random::Prng;
use crate::script::value::{Scalar, Value};
use std::fs;
use std::process::{self, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a run that was aborted ends with.
const ABORTED: u8 = 2;

pub fn benchmark(mut plan: BenchmarkPlan, mut connection: Connection) -> ExitCode {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as i64);
    let epoch_shift_us = since_1970 - client::now_us();
    let functions: Vec<Prng> = (0..plan.clients).map(|_| Prng::seeded(plan.seeds.draw())).collect();

    let Some(mut database) = Database::open(&mut connection) else { fatal("could not create connection for setup") };
    tell_versions(&database);
    tell_settings(&plan, &connection);
    let mut tables = Tables { scale: plan.scale.into(), method: None, partitions: 0 };
    if plan.uses_builtin {
        tables = look_at_tables(&mut database, &plan, &connection);
    }
    let defaults = define(&mut plan, tables.scale);
    if plan.vacuum {
        vacuum(&mut database, plan.vacuum_all);
    }
    database.close();

    let clients = functions.into_iter().enumerate().map(|(number, functions)| {
        if defaults.client_id {
            plan.program.define("client_id", Value::Scalar(Scalar::Integer(number as i64)));
        }
        Client::new(number, &plan.program, functions)
    });
    let clients = clients.collect();
    let scripts = plan.program.scripts.len();
    let open = Box::new(move || match connection.open() {
        Ok((conversation, _)) => Some(conversation),
        Err(refusal) => {
            voice::error(refusal.text);
            None
        }
    });
    let settings = Settings {
        clients: plan.clients,
        threads: plan.threads,
        mode: plan.mode,
        event_loop: plan.event_loop,
        binary_parameters: plan.binary_parameters,
        transactions: plan.transactions,
        duration_s: plan.duration_s,
        reconnects: plan.reconnects,
        throttle_us: plan.throttle_us,
        rate_plan: plan.rate_plan.map(|rates| rates.shared_by(plan.threads)),
        warm_up_us: plan.warm_up_us,
        think_us: plan.think_us,
        latency_limit_us: plan.latency_limit_us,
        tries_max: plan.tries_max,
        progress_s: plan.progress_s,
        progress_timestamp: plan.progress_timestamp,
        per_script: scripts > 1,
        per_command: plan.per_command,
        failures_detailed: plan.failures_detailed,
        verbose_errors: plan.verbose_errors,
        exit_on_abort: plan.exit_on_abort,
        log: plan.log,
        distributions: plan.percentiles || plan.json.is_some() || plan.hdr_log.is_some(),
        intervals: plan.hdr_log.is_some(),
        epoch_shift_us,
        open,
    };
    let mut outcome = run::run(settings, plan.program, clients, &mut plan.seeds, ended);
    print!("{}", report::text(&outcome, &tables));
    if plan.percentiles {
        print!("{}", percentiles::text(&outcome));
    }
    warn_if_limited(&outcome);
    if let Some(path) = &plan.json
        && let Err(error) = fs::write(path, json::text(&outcome, &tables))
    {
        fatal(format_args!("could not write file \"{}\": {}", path.display(), system_words(&error)));
    }
    if let Some(path) = &plan.hdr_log
        && let Err(error) = hdr_log::write(path, &mut outcome)
    {
        fatal(format_args!("could not write file \"{}\": {error}", path.display()));
    }
    if outcome.finished {
        return ExitCode::SUCCESS;
    }
    voice::error("Run was aborted; the above results are incomplete.");
    ExitCode::from(ABORTED)
}

/// Numbers of a client that was the limit are the client's and not the server's.
fn warn_if_limited(outcome: &Outcome) {
    let (busy, delayed) = outcome.effort_shares();
    if busy > BUSY {
        voice::warning(format_args!(
            "a client thread was busy {:.0}% of the time: it may have been the limit, not the server",
            100.0 * busy
        ));
        voice::hint("Use more threads (-j).");
    } else if delayed > DELAYED {
        voice::warning(format_args!(
            "a client thread waited for a core {:.0}% of the time: what it timed has that in it",
            100.0 * delayed
        ));
    }
}

fn ended(trouble: Trouble) -> ! {
    match trouble {
        Trouble::Fatal(what) => fatal(what),
        Trouble::Aborted(thread) => {
            voice::error(format_args!("Run was aborted due to an error in thread {thread}"));
            process::exit(ABORTED.into())
        }
    }
}

fn tell_versions(database: &Database) {
    match database.version_number() == PGBENCH_VERSION_NUMBER {
        true => println!("pgbench ({PGBENCH_VERSION})"),
        false => println!("pgbench ({PGBENCH_VERSION}, server {})", database.greeting.server_version),
    }
}

fn tell_settings(plan: &BenchmarkPlan, connection: &Connection) {
    let (name, bound) = match plan.duration_s {
        Some(seconds) => ("duration", seconds),
        None => ("nxacts", plan.transactions),
    };
    voice::debug(format_args!(
        "pghost: {} pgport: {} nclients: {} {name}: {bound} dbName: {}",
        connection.host(),
        connection.port(),
        plan.clients,
        connection.database
    ));
}

/// The scale and the partitions of the tables that the built-in scripts use.
fn look_at_tables(database: &mut Database, plan: &BenchmarkPlan, connection: &Connection) -> Tables {
    let first = |rows: super::database::Rows| rows.into_iter().next().unwrap_or_default();
    let hint = || {
        let name = &connection.database;
        voice::hint(format_args!("Perhaps you need to do initialization (\"pgbench -i\") in database \"{name}\"."));
    };
    let counted = match database.query("select count(*) from pgbench_branches") {
        Ok(rows) => first(rows).into_iter().next().flatten().unwrap_or_default(),
        Err(Refused { text, sqlstate }) => {
            voice::error(format_args!("could not count number of branches: {text}"));
            if sqlstate.as_deref() == Some("42P01") {
                hint();
            }
            process::exit(1)
        }
    };
    let scale = counted.parse().unwrap_or_else(|_| {
        fatal(format_args!("invalid count(*) from pgbench_branches: \"{counted}\""));
    });
    if plan.scale_given {
        voice::warning(format_args!("scale option ignored, using count from pgbench_branches table ({scale})"));
    }
    // Of the first pgbench_accounts on the search path.
    let found = database.query(
        "select p.partstrat, (select pg_catalog.count(*) from pg_catalog.pg_inherits as i where i.inhparent = c.oid) \
         from pg_catalog.pg_class as c \
         join pg_catalog.pg_namespace as n on n.oid = c.relnamespace \
         left join pg_catalog.pg_partitioned_table as p on p.partrelid = c.oid \
         where c.relname = 'pgbench_accounts' and n.nspname = any (pg_catalog.current_schemas(true)) \
         order by pg_catalog.array_position(pg_catalog.current_schemas(true), n.nspname) limit 1",
    );
    let Ok(rows) = found else {
        // A server too old to have partitions.
        return Tables { scale, method: None, partitions: 0 };
    };
    let row = first(rows);
    let [method, partitions] = &row[..] else {
        voice::error("no pgbench_accounts table found in \"search_path\"");
        hint();
        process::exit(1)
    };
    let method = match method.as_deref() {
        None => None,
        Some("r") => Some(PartitionMethod::Range),
        Some("h") => Some(PartitionMethod::Hash),
        Some(other) => fatal(format_args!("unexpected partition method: \"{other}\"")),
    };
    let partitions = partitions.as_deref().and_then(|count| count.parse().ok()).unwrap_or(0);
    Tables { scale, method, partitions }
}

/// Which variables are those of each client.
struct Defaults {
    client_id: bool,
}

/// Variables that scripts may use though nobody set them, unless `-D` did.
fn define(plan: &mut BenchmarkPlan, scale: i64) -> Defaults {
    let given = |name: &str| plan.variables.iter().any(|(known, _)| known == name);
    let (scale_given, client_given) = (given("scale"), given("client_id"));
    let (default_given, random_given) = (given("default_seed"), given("random_seed"));
    let mut defined = plan.variables.clone();
    let mut add = |name: &str, value: i64| defined.push((name.to_owned(), Value::Scalar(Scalar::Integer(value))));
    if !scale_given {
        add("scale", scale);
    }
    if !default_given {
        add("default_seed", plan.seeds.draw() as i64);
    }
    if !random_given {
        add("random_seed", plan.seed as i64);
    }
    for (name, value) in defined {
        plan.program.define(&name, value);
    }
    Defaults { client_id: !client_given }
}

fn vacuum(database: &mut Database, all: bool) {
    use std::io::Write as _;
    let tell = |text: &str| drop(std::io::stderr().write_all(text.as_bytes()));
    tell("starting vacuum...");
    database.try_execute("vacuum pgbench_branches");
    database.try_execute("vacuum pgbench_tellers");
    database.try_execute("truncate pgbench_history");
    tell("end.\n");
    if all {
        tell("starting vacuum pgbench_accounts...");
        database.try_execute("vacuum analyze pgbench_accounts");
        tell("end.\n");
    }
}
