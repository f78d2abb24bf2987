"""A run's stay on a server that somebody else runs: its session there, and the databases that it made.

    with Stay("postgresql://me@db.example/postgres") as stay:
        name = stay.create()
        stay.connect(name)

Nothing of it is started, stopped or configured. All databases of a stay carry its token in their names and our mark
as their comment, and go when it ends. Those of a run that was killed are found by the next one: a stay has a session
whose application name says its token, and databases of a token that no session says are remains.
"""

import re
import secrets
from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from pgverdict.errors import WorldError
from pgverdict.servers.facts import Facts, ask_build
from pgverdict.servers.inspection import Inspection, ask_settings
from pgverdict.servers.interruption import shield
from pgverdict.servers.refusal import refused
from pgverdict.servers.suitable import require_session_settings, require_usable

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql

    Connection = psycopg.Connection[tuple[Any, ...]]

CONNECT_S = 30
MARK = "made by pgverdict for a run that is over when no session says pgverdict"
_NAME = re.compile(r"pgverdict_([0-9a-f]{12})_\d+")


class Stay:
    """Open while a run lasts. `version` as the server says it, `identity` tells servers apart."""

    def __init__(self, dsn: str, password: str | None = None, *, started_for_us: bool = False) -> None:
        """UserError or WorldError for a server that cannot be measured on, and why.

        `dsn`: without a password. `password`: where it is not for libpq to find. `started_for_us`: with the arm's
        settings, which databases then need not have.
        """
        self.dsn = dsn
        self.password = password
        self.started_for_us = started_for_us
        self.token = secrets.token_hex(6)
        self._count = 0
        self._made: dict[str, None] = {}
        with refused(f"cannot connect to {dsn}"):
            self._keeper: Connection | None = self._connect(None)
        try:
            info = self._keeper.info
            self.identity = f"outside {info.host}:{info.port}"
            self.user = info.user
            self.version = str(info.parameter_status("server_version")).split(" ")[0]
            with refused(f"{dsn} failed when asked"):
                require_usable(self._keeper, self.dsn)
        except BaseException:
            self._keeper.close()
            raise

    def connect(self, database: str | None = None) -> "Connection":
        """A session that commits each statement; `None`: the database that the URI names, in which nothing is made."""
        return self._connect(database)

    def inspect(self) -> Inspection:
        """What the build is, and its settings with the defaults that are built in: what its owner set is no default."""
        with refused(f"{self.dsn} failed when asked"):
            return Inspection(self._ask_facts(), ask_settings(self._sure(), configured=True))

    def require_settings(self, arm: str, settings: Mapping[str, str]) -> None:
        """UserError for one that a session cannot have, or that the server does not take."""
        require_session_settings(self._sure(), arm, self.version, settings)

    def free_connections(self) -> int:
        """How many more sessions there may be, as far as it can be seen."""
        row = self._ask(
            "SELECT least(pg_catalog.current_setting('max_connections')::int"
            " - pg_catalog.current_setting('superuser_reserved_connections')::int"
            " - (SELECT count(*)::int FROM pg_catalog.pg_stat_activity AS a WHERE a.datname IS NOT NULL),"
            " (SELECT CASE r.rolconnlimit WHEN -1 THEN 2147483647 ELSE r.rolconnlimit - 1 END"
            "  FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user))"
        )
        return int(row[0])

    def create(
        self, *, template: str | None = None, settings: Mapping[str, str] = MappingProxyType({})
    ) -> str:
        """A new database: empty, with what clusters of ours have for locale and encoding, or a copy of one of ours."""
        from psycopg import sql

        name = f"pgverdict_{self.token}_{self._count}"
        self._count += 1
        self._made[name] = None  # before it is there: it may come to be while we are interrupted
        what = f"cannot create a database on {self.dsn}"
        with refused(what):
            if template is None:
                # Since 15 the provider may be another by default, for which these names mean nothing.
                since_15 = sql.SQL(" LOCALE_PROVIDER libc" if self._number >= 150000 else "")
                like = sql.SQL("TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'{}").format(
                    since_15
                )
            else:
                like = sql.SQL("TEMPLATE {}").format(sql.Identifier(template))
            self._run(sql.SQL("CREATE DATABASE {} WITH {}").format(sql.Identifier(name), like))
            self._run(sql.SQL("COMMENT ON DATABASE {} IS {}").format(sql.Identifier(name), sql.Literal(MARK)))
            for setting, value in () if self.started_for_us else settings.items():
                self._run(
                    sql.SQL("ALTER DATABASE {} SET {} = {}").format(
                        sql.Identifier(name), sql.Identifier(setting), sql.Literal(value)
                    )
                )
        return name

    def drop(self, name: str) -> None:
        """Remove a database of this stay, whoever is still connected to it."""
        assert name in self._made, f"not ours: {name}"
        with refused(f"cannot drop the database {name} on {self.dsn}"):
            self._drop(name)
        del self._made[name]

    def checkpoint(self) -> bool:
        """Have what was written so far brought to storage; False where we may not ask for that."""
        import psycopg

        try:
            self._sure().execute("CHECKPOINT")
        except psycopg.errors.InsufficientPrivilege:
            return False
        return True

    def sweep(self) -> list[str]:
        """Remove the databases of runs that were killed; what was found, in sentences."""
        with refused(f"{self.dsn} failed when asked"):
            rows = (
                self._sure()
                .execute(
                    "SELECT d.datname, pg_catalog.shobj_description(d.oid, 'pg_database')"
                    " FROM pg_catalog.pg_database AS d WHERE d.datname LIKE 'pgverdict\\_%'"
                    " AND pg_catalog.pg_get_userbyid(d.datdba) = current_user ORDER BY d.datname"
                )
                .fetchall()
            )
            alive = self._tokens_alive()
        found = {name: match[1] for name, _ in rows if (match := _NAME.fullmatch(name))}
        marked = {found[name] for name, comment in rows if name in found and comment == MARK}
        removed, left = [], []
        for name, token in found.items():
            if token in alive:
                continue
            # A kill while a database was made left it without the mark; another of its run has one.
            if token in marked:
                with refused(f"cannot drop the remains {name} on {self.dsn}"):
                    self._drop(name)
                removed.append(name)
            else:
                left.append(name)
        said = (
            [f"found remains of killed runs on {self.dsn}: removed {', '.join(removed)}"] if removed else []
        )
        return said + [f"{name} on {self.dsn} looks like ours and has no mark: it stays" for name in left]

    def leave(self) -> None:
        """Go, and leave the databases to whoever removes the whole server."""
        self._made.clear()
        self.close()

    def close(self) -> None:
        """Remove the databases of this stay, and leave. Where that fails, a WorldError says what remains."""
        if self._keeper is None:
            return
        remain: list[str] = []
        story = ""
        with shield():
            try:
                for name in list(self._made):
                    try:
                        self.drop(name)
                    except WorldError as error:
                        remain.append(name)
                        story = error.message
            finally:
                self._keeper.close()
                self._keeper = None
        if remain:
            raise WorldError(f"databases remain on {self.dsn}: {', '.join(remain)}; {story}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _number(self) -> int:
        return self._sure().info.server_version

    def _sure(self) -> "Connection":
        """The session of the stay; another one if the server was restarted meanwhile."""
        if self._keeper is None or self._keeper.closed:
            self._keeper = self._connect(None)
        return self._keeper

    def _connect(self, database: str | None) -> "Connection":
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        said = conninfo_to_dict(self.dsn)
        ours: dict[str, Any] = {"options": "", "client_encoding": "UTF8", "connect_timeout": CONNECT_S}
        given = {**ours, **said, "application_name": f"pgverdict {self.token}"}
        if database is not None:
            given["dbname"] = database
        if self.password is not None:
            given["password"] = self.password
        return psycopg.connect(**given, autocommit=True)

    def _tokens_alive(self) -> set[str]:
        rows = self._sure().execute(
            "SELECT a.application_name FROM pg_catalog.pg_stat_activity AS a"
            " WHERE a.application_name LIKE 'pgverdict %'"
        )
        return {name.removeprefix("pgverdict ") for (name,) in rows.fetchall()}

    def _drop(self, name: str) -> None:
        from psycopg import sql

        if self._number >= 130000:
            self._run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
            return
        self._sure().execute(
            "SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_stat_activity AS a"
            " WHERE a.datname = %s",
            (name,),
        )
        self._run(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))

    def _run(self, statement: "sql.Composed") -> None:
        self._sure().execute(statement)

    def _ask(self, query: str) -> tuple[Any, ...]:
        row = self._sure().execute(query.encode()).fetchone()
        assert row is not None
        return tuple(row)

    def _ask_facts(self) -> Facts:
        return ask_build(self._sure())
