-- New in 13: planning is counted apart, the execution's columns are renamed, and WAL is counted.
SELECT s.query, s.calls, s.mean_exec_time, s.stddev_exec_time, s.rows, s.shared_blks_hit, s.shared_blks_read,
       s.wal_bytes::bigint
FROM pg_stat_statements AS s
JOIN pg_catalog.pg_database AS d ON d.oid = s.dbid
WHERE d.datname = pg_catalog.current_database();
