"""The client programs of PostgreSQL that are installed: the newest of each, whatever servers are measured.

A newer pg_restore reads what older ones wrote, and all arms are filled by the same one.
"""

import re
import subprocess
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.found import LAYOUTS


def find_program(name: str, root: Path = Path("/")) -> Path:
    """The newest program of that name; WorldError if there is none."""
    found = [(version, path) for path in _places(name, root) if (version := _version(path))]
    if not found:
        raise WorldError(
            f"no {name} on this host, which a dump needs",
            hint="install PostgreSQL's client programs, on Debian: apt-get install postgresql-client",
        )
    return max(found)[1]


def _places(name: str, root: Path) -> list[Path]:
    return [path for layout in LAYOUTS for place in root.glob(layout) if (path := place / name).is_file()]


def _version(program: Path) -> tuple[int, ...]:
    """(17, 2), or () for what does not run."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ()
    match = re.search(r"\d+(\.\d+)*", said)
    return tuple(map(int, match[0].split("."))) if match else ()
