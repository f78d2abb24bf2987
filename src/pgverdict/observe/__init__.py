"""Counters of the servers and the host. SQL is in .sql files, one per step in what releases offer."""
