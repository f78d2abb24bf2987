"""Keeps what was measured, run by run, in SQLite or PostgreSQL; the only package that knows SQLAlchemy.

Raw observations only, and only ever added to: verdicts are recomputed from them.
Start at `opening.open_store`.
"""
