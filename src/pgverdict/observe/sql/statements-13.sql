-- New in 13: planning is counted apart, the execution's columns are renamed.
SELECT s.query, s.calls, s.mean_exec_time, s.stddev_exec_time, s.shared_blks_read
FROM pg_stat_statements AS s
JOIN pg_catalog.pg_database AS d ON d.oid = s.dbid
WHERE d.datname = pg_catalog.current_database();
