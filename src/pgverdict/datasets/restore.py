"""A user's dump, restored by the programs that PostgreSQL has for it: pg_restore for an archive, psql for SQL."""

import hashlib
import re
import subprocess
from pathlib import Path

from pgverdict.errors import UserError, WorldError
from pgverdict.servers.cluster import SUPERUSER
from pgverdict.servers.programs import find_program
from pgverdict.servers.server import Server
from pgverdict.spec.own import OwnDump

_ARCHIVE = b"PGDMP"
_TAR_MAGIC_AT = 257
_CHUNK_BYTES = 1 << 20

# What a newer pg_restore or pg_dump says of settings that an older server does not have changes no data.
_HARMLESS = re.compile(r'unrecognized configuration parameter "\w+"')


def read_dump(path: Path) -> OwnDump:
    """What is kept of a dump; UserError if it is none that can be read."""
    try:
        digest, size = hashlib.sha256(), 0
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
    except IsADirectoryError:
        raise UserError(
            f"a dump in a directory is not read: {path}", hint="make one file: pg_dump -Fc"
        ) from None
    except OSError as error:
        raise UserError(f"cannot read the dump {path}: {error.strerror}") from None
    if not size:
        raise UserError(f"the dump is empty: {path}", hint="make it anew: pg_dump -Fc")
    return OwnDump(str(path), digest.hexdigest(), size)


def program_for(dump: OwnDump) -> Path:
    """What restores it; WorldError if that is not installed."""
    with Path(dump.path).open("rb") as file:
        begin = file.read(_TAR_MAGIC_AT + 5)
    is_archive = begin.startswith(_ARCHIVE) or begin[_TAR_MAGIC_AT:] == b"ustar"
    return find_program("pg_restore" if is_archive else "psql")


def restore(dump: OwnDump, server: Server, database: str) -> None:
    """Fill the database with it, over one connection, so that rows lie in the same order every time.

    UserError if the file has changed since it was read, WorldError with the first complaint if a part was not taken.
    """
    if read_dump(Path(dump.path)).sha256 != dump.sha256:
        raise UserError(
            f"the dump has changed since the run was asked for: {dump.path}",
            hint="bring back what it was, or begin a new run",
        )
    program = program_for(dump)
    where = ["-h", str(server.socket_directory), "-p", str(server.port), "-U", SUPERUSER, "-d", database]
    if program.name == "psql":
        words = [str(program), "-X", "-q", "-o", "/dev/null", "-f", dump.path, *where]
    else:
        words = [str(program), "--no-owner", "--no-privileges", *where, dump.path]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    complaints = [
        line for line in done.stderr.splitlines() if "ERROR:" in line and not _HARMLESS.search(line)
    ]
    # pg_restore says 1 where it went on after errors, psql 0; anything else is an end before the end.
    if complaints or done.returncode not in (0, 1) or (done.returncode and "ERROR:" not in done.stderr):
        said = complaints[0] if complaints else " ".join(done.stderr.split())
        raise WorldError(
            f"{program.name} could not restore {dump.path} into PostgreSQL {server.install.version}: {said}"
        )
