-- New in 12: whether indexes are cleaned; from 14 on they are not where few rows are dead.
VACUUM (ANALYZE, INDEX_CLEANUP on)
