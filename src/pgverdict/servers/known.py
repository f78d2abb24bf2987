"""Which settings an install knows: what `postgres --describe-config` lists, and what loaded libraries add.

A server takes any name with a dot for the setting of a library that may come yet. A slip of the pen there
would be measured as if it were a setting, so it is looked for in the running server.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgverdict.errors import UserError
from pgverdict.servers.account import Account
from pgverdict.servers.install import Install

if TYPE_CHECKING:
    import psycopg

_LOADED_WHEN_USED = ("plpgsql",)
"""Libraries that a session loads by itself when it needs them."""

_found_loaded: set[tuple[str, frozenset[str], str]] = set()
"""What was looked for and found: later starts are not disturbed by one more session."""


@dataclass(frozen=True)
class Known:
    install: Install
    account: Account

    def offer_nearest(self, complaint: str) -> UserError | None:
        """The error for a name that the server does not know, if that is its complaint."""
        unknown = re.search(r'unrecognized configuration parameter "([^"]+)"', complaint)
        if unknown is None:
            return None
        return UserError(
            f"PostgreSQL {self.install.version} refuses the setting {unknown[1]}: {complaint}",
            hint=_nearest(unknown[1], self._names())
            or f"`--set '{unknown[1]}?=...'` leaves it out on arms that do not know it",
        )

    def require_loaded(
        self, settings: Mapping[str, str], connect: "Callable[[], psycopg.Connection[tuple[Any, ...]]]"
    ) -> None:
        """UserError for a setting with a dot in its name that no loaded library knows."""
        dotted = frozenset(name for name in settings if "." in name)
        key = (str(self.install.root), dotted, str(sorted(settings.items())))
        if not dotted or key in _found_loaded:
            return
        with connect() as connection:
            for library in _LOADED_WHEN_USED:
                if any(name.startswith(f"{library}.") for name in dotted):
                    connection.execute(f"LOAD '{library}'".encode())
            rows = connection.execute("SELECT lower(name) FROM pg_catalog.pg_settings").fetchall()
        known = {str(row[0]) for row in rows}
        for name in sorted(dotted - known):
            library = name.partition(".")[0]
            loads = f"does `shared_preload_libraries` load {library}?"
            near = _nearest(name, (other for other in known if "." in other))
            raise UserError(
                f"no library that PostgreSQL {self.install.version} loaded knows the setting: {name}",
                hint=near or loads,
            )
        _found_loaded.add(key)

    def _names(self) -> list[str]:
        answer = self.account.run([str(self.install.postgres), "--describe-config"], cwd=self.install.root)
        return [line.split("\t")[0].lower() for line in answer.stdout.splitlines() if "\t" in line]


def _nearest(name: str, known: Iterable[str]) -> str | None:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}?" if near else None
