-- pg_stat_statements since 9.5: mean and standard deviation beside the total.
SELECT s.query, s.calls, s.mean_time, s.stddev_time, s.rows, s.shared_blks_hit, s.shared_blks_read, NULL::bigint
FROM pg_stat_statements AS s
JOIN pg_catalog.pg_database AS d ON d.oid = s.dbid
WHERE d.datname = pg_catalog.current_database();
