-- New in 10: what was xlog and location is called wal and lsn.
SELECT pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), '0/0')::bigint, c.checkpoint_lsn::text
FROM pg_catalog.pg_control_checkpoint() AS c;
