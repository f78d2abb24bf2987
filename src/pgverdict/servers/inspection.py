"""Asking a build, before anything else is done with it, what it was made with and which settings it has.

It is asked on a new, empty cluster, which is the only place where all of a release's defaults are to be seen:
`postgres --describe-config` prints every number as 0 and every switch as off (9.6 to 18 do), and initdb chooses some
defaults itself. What a build answered is kept, since it never changes.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgverdict.plan.defaults import Default
from pgverdict.servers.account import Account
from pgverdict.servers.cluster import create_cluster
from pgverdict.servers.facts import Facts, ask_build
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.server import Server
from pgverdict.servers.settings import BY_INITDB, REFUSED, own_settings

if TYPE_CHECKING:
    import psycopg

_CHOSEN_BY_INITDB = (
    "DateStyle",
    "TimeZone",
    "default_text_search_config",
    "dynamic_shared_memory_type",
    "lc_messages",
    "lc_monetary",
    "lc_numeric",
    "lc_time",
    "log_timezone",
)
"""Where initdb writes something else than what is built in. Of a server that somebody has configured, what stands in
a file is a default for these alone."""

REVISION = 1
"""Part of the name under which answers are kept: whoever changes what is asked raises it."""


@dataclass(frozen=True)
class Inspection:
    """What a build is, and its settings by name, with the defaults of a new cluster."""

    facts: Facts
    settings: dict[str, Default]


def inspect(
    install: Install, home: Home, account: Account, workshop: Path, launch: Callable[[Install, Path], Server]
) -> Inspection:
    """Ask a build, or remember what it said. `workshop`: a directory of ours. `launch` gives a server, not started."""
    kept = home.inspections / f"{install.version}-{_digest(install.identity)}-r{REVISION}.json"
    if (known := _read(kept)) is not None:
        return known
    data = workshop / f"inspection-{install.version}"
    remove_tree(data)
    try:
        create_cluster(install, data, account)
        with launch(install, data) as server, server.connect() as connection:
            found = Inspection(ask_build(connection), ask_settings(connection))
    finally:
        remove_tree(data)
    temporary = kept.with_name(f".{kept.name}.{_digest(str(workshop))}")
    temporary.write_text(json.dumps(asdict(found), indent=1))
    temporary.replace(kept)
    return found


def ask_settings(connection: "psycopg.Connection[Any]", *, configured: bool = False) -> dict[str, Default]:
    """All settings of a new cluster that only has the settings the measuring needs.

    The default is what initdb wrote, else what is built in: what a server works out when it starts
    (wal_buffers, say) is no default, but follows from one. `configured`: somebody else wrote the files.
    """
    rows = connection.execute(
        "SELECT s.name, s.vartype, s.unit, s.enumvals, s.min_val, s.max_val, s.category, s.context, s.source,"
        " s.setting, coalesce(s.boot_val, '') FROM pg_catalog.pg_settings AS s WHERE s.name NOT LIKE '%.%'"
        ' ORDER BY s.name COLLATE "C"'
    ).fetchall()
    ours = own_settings(Path("/"))
    found = {}
    for name, kind, unit, choices, low, high, group, context, source, value, built_in in rows:
        by_initdb = name in BY_INITDB or (
            source == "configuration file"
            and name not in ours
            and (not configured or name in _CHOSEN_BY_INITDB)
        )
        found[name] = Default(
            name=name,
            value=value if by_initdb else built_in,
            kind=kind,
            unit=unit or None,
            choices=tuple(choices or ()),
            low=low,
            high=high,
            group=group,
            settable=name in BY_INITDB
            or not (
                context == "internal" or name in REFUSED or name in ours or _is_of_session(context, source)
            ),
        )
    return found


def _is_of_session(context: str, source: str) -> bool:
    """Whether the server itself sets it for every session or transaction, whatever a file says."""
    return context in ("user", "superuser") and source == "override"


def _read(path: Path) -> Inspection | None:
    """What was kept; None for nothing, or what another revision or a damaged disk left."""
    try:
        kept = json.loads(path.read_text())
        settings = {
            name: Default(**{**one, "choices": tuple(one["choices"])})
            for name, one in kept["settings"].items()
        }
        return Inspection(tuple((name, value) for name, value in kept["facts"]), settings)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
