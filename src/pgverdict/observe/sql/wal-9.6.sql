-- How much WAL there is, and where the last finished checkpoint is in it: the control file is readable since 9.6.
SELECT pg_catalog.pg_xlog_location_diff(pg_catalog.pg_current_xlog_insert_location(), '0/0')::bigint,
       c.checkpoint_location::text
FROM pg_catalog.pg_control_checkpoint() AS c;
