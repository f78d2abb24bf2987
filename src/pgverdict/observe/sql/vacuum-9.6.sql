-- Indexes are always cleaned.
VACUUM (ANALYZE)
