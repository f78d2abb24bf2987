//! What `--help` prints.

pub fn text(program: &str) -> String {
    format!(
        "{program} is a benchmarking tool for PostgreSQL: pgverdict's load engine in pgbench's place.

Usage:
  {program} [OPTION]... [DBNAME]

Initialization options:
  -i, --initialize         load the tables instead of running scripts
  -I, --init-steps=[dtgGvpf]+ (default \"dtgvp\")
                           what to do, in this order:
                           d: drop the tables
                           t: create the tables
                           g: send generated rows
                           G: have the server generate the rows
                           v: vacuum the tables
                           p: create the primary keys
                           f: create the foreign keys
  -F, --fillfactor=NUM     fill factor of the tables
  -n, --no-vacuum          leave out the step v
  -q, --quiet              tell progress every 5 seconds only
  -s, --scale=NUM          how many branches, each of 100000 accounts
  --foreign-keys           add the step f
  --index-tablespace=TABLESPACE
                           where the indexes go
  --partition-method=(range|hash)
                           how pgbench_accounts is partitioned (default: range)
  --partitions=NUM         how many partitions pgbench_accounts has (default: 0)
  --tablespace=TABLESPACE  where the tables go
  --unlogged-tables        make the tables unlogged

Options to select what to run:
  -b, --builtin=NAME[@W]   a builtin script, of weight W (default: 1)
                           (\"-b list\" lists them)
  -f, --file=FILENAME[@W]  a script from a file, of weight W (default: 1)
  -N, --skip-some-updates  the same as \"-b simple-update\"
  -S, --select-only        the same as \"-b select-only\"

Benchmarking options:
  -c, --client=NUM         how many clients (default: 1)
  -C, --connect            a new connection for every transaction
  -D, --define=VARNAME=VALUE
                           give a variable of scripts a value
  -j, --jobs=NUM           how many threads (default: 1)
  -l, --log                write a log of transactions
  -L, --latency-limit=NUM  count transactions that take longer than NUM ms
  -M, --protocol=simple|extended|prepared
                           how statements are sent (default: simple)
  -n, --no-vacuum          no vacuum before the run
  -P, --progress=NUM       tell progress every NUM seconds
  -r, --report-per-command report times, failures and retries of every command
  -R, --rate=NUM           begin NUM transactions per second
  -s, --scale=NUM          the scale to report
  -t, --transactions=NUM   how many transactions each client runs (default: 10)
  -T, --time=NUM           how many seconds to run
  -v, --vacuum-all         vacuum all four tables before the run
  --aggregate-interval=NUM one line in the log for every NUM seconds
  --exit-on-abort          end as soon as a client is aborted
  --failures-detailed      tell serialization failures and deadlocks apart
  --log-prefix=PREFIX      what names of logs begin with (default: \"pgbench_log\")
  --max-tries=NUM          how often a transaction is tried (default: 1)
  --progress-timestamp     tell progress with the time since 1970
  --random-seed=SEED       what random numbers come from (\"time\", \"rand\", integer)
  --sampling-rate=NUM      the share of transactions to log
  --show-script=NAME       print a builtin script
  --verbose-errors         print every error

Options that pgbench does not have:
  --binary-parameters      send numbers as the server stores them (with -M prepared)
  --event-loop=auto|epoll|io_uring
                           how threads wait for sockets (default: io_uring where it
                           can be had)
  --hdr-log=FILE           write histograms of every second to FILE (HdrHistogram log)
  -i -j, --jobs=NUM        load the accounts over NUM connections
  --json=FILE              write the results to FILE too
  --rate-plan=PLAN         rates that change, instead of -R and -T: SECONDS@RATE or
                           SECONDS@RATE-RATE, separated by commas
  --think-time=MS          wait between transactions of a client, exponential with
                           this mean
  --warm-up=SECONDS        run so long before -T begins, and count nothing of it
  --percentiles            report percentiles, from when transactions were to begin
                           and from when they began; with -r of every command

Common options:
  --debug                  print everything that is done
  -d, --dbname=DBNAME      the database, or a connection string
  -h, --host=HOSTNAME      the server's host, or the folder of its socket
  -p, --port=PORT          the server's port
  -U, --username=USERNAME  who connects
  -V, --version            print the version
  -?, --help               print this

Report bugs to pgverdict, not to PostgreSQL: docs/pgbench.md says what is the same and what is not.
"
    )
}
