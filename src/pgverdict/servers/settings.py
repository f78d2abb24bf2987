"""What a server is told by its configuration: the measuring's own settings, then the user's.

They go into `pgverdict.conf`, which postgresql.conf includes last. All else stays as the release ships it.

>>> print(render_settings({"work_mem": "8MB"}, socket_directory=Path("/tmp/s")), end="")
# What the measuring needs.
listen_addresses = ''
unix_socket_directories = '/tmp/s'
unix_socket_permissions = '0700'
port = '5432'
log_destination = 'stderr'
logging_collector = 'off'
log_line_prefix = '%m [%p] '
shared_preload_libraries = 'pg_stat_statements'
pg_stat_statements.track = 'top'
# What the user asks for.
work_mem = '8MB'
"""

import re
from collections.abc import Mapping
from pathlib import Path

from pgverdict.errors import UserError

INCLUDED = "pgverdict.conf"
PORT = 5432

REFUSED = {
    "listen_addresses": "servers listen on a private Unix socket only",
    "port": "servers listen on a private Unix socket only",
    "unix_socket_directories": "servers listen on a private Unix socket only",
    "unix_socket_group": "servers listen on a private Unix socket only",
    "unix_socket_permissions": "servers listen on a private Unix socket only",
    "bonjour": "servers listen on a private Unix socket only",
    "data_directory": "servers keep to a directory that pgverdict made",
    "config_file": "servers keep to a directory that pgverdict made",
    "hba_file": "servers keep to a directory that pgverdict made",
    "ident_file": "servers keep to a directory that pgverdict made",
    "external_pid_file": "servers keep to a directory that pgverdict made",
    "stats_temp_directory": "servers keep to a directory that pgverdict made",
    "include": "settings are given one by one",
    "include_dir": "settings are given one by one",
    "include_if_exists": "settings are given one by one",
    "log_destination": "the server's messages are read when it fails",
    "logging_collector": "the server's messages are read when it fails",
    "log_line_prefix": "the server's messages are read when it fails",
    "pg_stat_statements.track": "the measuring counts statements",
    "pg_stat_statements.max": "the measuring counts statements",
    "compute_query_id": "the measuring counts statements",
    "statement_timeout": "it would end the loading of the data",
    "transaction_timeout": "it would end the loading of the data",
    "default_transaction_read_only": "the data could not be loaded",
    "idle_session_timeout": "sessions wait while other arms work",
}
"""Settings that the user may not give, and why."""

BY_INITDB = ("data_checksums",)
"""Settings of the user's that a new cluster is made with, on or off; no file can change them later."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)*")
_PRELOAD = "shared_preload_libraries"


def check_settings(user: Mapping[str, str]) -> dict[str, str]:
    """The user's settings with their names in lower case, or a UserError for the first that cannot be."""
    checked: dict[str, str] = {}
    for given, value in user.items():
        name = given.lower()
        if not _NAME.fullmatch(name):
            raise UserError(f"not the name of a setting: {given}", hint="write it as in postgresql.conf")
        if name in REFUSED:
            raise UserError(f"the setting {name} may not be changed: {REFUSED[name]}")
        if name == "log_min_messages" and value.strip().lower() == "panic":
            raise UserError(
                f"the server's messages are read when it fails: {name} = {value}",
                hint="log_min_messages = fatal says least",
            )
        if name in BY_INITDB and value not in ("on", "off"):
            raise UserError(
                f"the setting {name} is on or off: {value}", hint=f"write {name}=on or {name}=off"
            )
        if name in checked:
            raise UserError(f"the setting is given twice: {name}", hint="leave one out; names know no case")
        if "\0" in value:
            raise UserError(f"the value of the setting {name} has a zero byte")
        checked[name] = value
    return checked


def own_settings(socket_directory: Path, *, port: int = PORT, statements: bool = True) -> dict[str, str]:
    """What the measuring needs, of every server alike. `statements`: count with pg_stat_statements."""
    own = {
        "listen_addresses": "",
        "unix_socket_directories": _quote_directory(socket_directory),
        "unix_socket_permissions": "0700",
        "port": str(port),
        "log_destination": "stderr",
        "logging_collector": "off",
        "log_line_prefix": "%m [%p] ",
    }
    if statements:
        own[_PRELOAD] = "pg_stat_statements"
        own["pg_stat_statements.track"] = "top"
    return own


def render_settings(
    user: Mapping[str, str], *, socket_directory: Path, port: int = PORT, statements: bool = True
) -> str:
    """The text of `pgverdict.conf`. Libraries of the user's are loaded beside the measuring's own."""
    own = own_settings(socket_directory, port=port, statements=statements)
    asked = check_settings(user)
    if _PRELOAD in own and _PRELOAD in asked:
        asked[_PRELOAD] = merge_libraries(own[_PRELOAD], asked[_PRELOAD])
    return "\n".join(
        [
            "# What the measuring needs.",
            *(_line(name, value) for name, value in own.items()),
            "# What the user asks for.",
            *(_line(name, value) for name, value in asked.items() if name not in BY_INITDB),
            "",
        ]
    )


def merge_libraries(*lists: str) -> str:
    """One list of libraries, each once, in the order of their first mention.

    >>> merge_libraries("pg_stat_statements", "auto_explain, pg_stat_statements")
    'pg_stat_statements, auto_explain'
    """
    names = [name.strip() for text in lists for name in text.split(",")]
    return ", ".join(dict.fromkeys(name for name in names if name))


def blame_settings(complaint: str, user: Mapping[str, str]) -> UserError | None:
    """The UserError for a server that refused to start over one of the user's settings, else None.

    A setting is blamed if the complaint names it, or a thing that only such settings bring about: a server
    has other reasons not to start.
    """
    guilty = [
        *_guilty_parameters(complaint, user),
        *_guilty_libraries(complaint, user),
        *(name for name in user if "_" in name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", complaint)),
        *(name for thing, names in _THINGS if thing.search(complaint) for name in user if names.match(name)),
    ]
    if not guilty:
        return None
    return UserError(f"the server refuses the setting {guilty[0]} = {user[guilty[0]]}: {complaint}")


_THINGS = (
    (re.compile(r"certificate|private key|\bSSL\b"), re.compile(r"ssl")),
    (re.compile(r"shared memory"), re.compile(r"huge_page|min_dynamic_shared|wal_buffers|.*_buffers$|max_")),
    (re.compile(r"semaphores"), re.compile(r"max_|autovacuum_")),
)
"""What a server complains of without naming a setting, and the names of settings that bring it about."""


def _guilty_parameters(complaint: str, user: Mapping[str, str]) -> list[str]:
    named = {name.lower() for name in re.findall(r'parameter "([^"]+)"', complaint)}
    return [name for name in user if name in named]


def _guilty_libraries(complaint: str, user: Mapping[str, str]) -> list[str]:
    missing = re.search(r'could not access file "(?:[^"]*/)?([^"/]+)"', complaint)
    if missing is None:
        return []
    lists = [name for name in user if name.endswith("_preload_libraries") and missing[1] in user[name]]
    return lists or [name for name in user if name == "dynamic_library_path"]


def _line(name: str, value: str) -> str:
    # In a quoted value of this file a backslash escapes, and a line may not end.
    escaped = value.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n").replace("\r", "\\r")
    return f"{name} = '{escaped}'"


def _quote_directory(directory: Path) -> str:
    """One element of a list of directories, in which a comma would separate."""
    text = str(directory)
    if re.fullmatch(r"[A-Za-z0-9_./-]+", text):
        return text
    return '"' + text.replace('"', '""') + '"'
