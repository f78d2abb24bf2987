-- Changes, dead rows and vacuums of every table, with its size on disk. Backends report once a second.
SELECT s.relname, s.n_tup_upd + s.n_tup_del, s.n_live_tup, s.n_dead_tup, s.autovacuum_count,
       pg_catalog.pg_table_size(s.relid) + pg_catalog.pg_indexes_size(s.relid)
FROM pg_catalog.pg_stat_user_tables AS s
WHERE s.schemaname = 'public'
ORDER BY s.relname;
