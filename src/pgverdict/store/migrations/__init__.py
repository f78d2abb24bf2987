"""How a store of any earlier version becomes one of today's. Alembic, run from inside the program.

A new version: change `tables.py`, add `versions/v000N_*.py`, raise `version.VERSION`; a test compares the two.
"""

from pathlib import Path

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from pgverdict.store.tables import VERSION_TABLE


def migrate(connection: Connection) -> None:
    """Bring the tables to the newest version within the connection's transaction."""
    script = ScriptDirectory(str(Path(__file__).parent))
    with EnvironmentContext(
        Config(), script, fn=lambda revision, _: script._upgrade_revs("head", revision)
    ) as environment:
        environment.configure(connection=connection, version_table=VERSION_TABLE)
        environment.run_migrations()
