-- New in 13: planning is counted, where it is tracked. The statement that counts locks is none of the workload's.
SELECT coalesce(sum(s.plans), 0)::bigint, coalesce(sum(s.total_plan_time), 0)::float8
FROM pg_stat_statements AS s
JOIN pg_catalog.pg_database AS d ON d.oid = s.dbid
WHERE d.datname = pg_catalog.current_database() AND s.query NOT LIKE '%pg_catalog.pg_locks%';
