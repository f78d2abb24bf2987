-- pg_stat_statements since 9.5: mean and standard deviation beside the total.
SELECT s.query, s.calls, s.mean_time, s.stddev_time, s.shared_blks_read
FROM pg_stat_statements AS s
JOIN pg_catalog.pg_database AS d ON d.oid = s.dbid
WHERE d.datname = pg_catalog.current_database();
