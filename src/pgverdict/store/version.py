"""Which version of the tables this is. Without SQLAlchemy, so that whoever only looks need not wait for it."""

VERSION = "0016"
"""The newest migration, which `tables` agree with (a test holds it). Versions sort as text."""

VERSION_TABLE = "store_version"
