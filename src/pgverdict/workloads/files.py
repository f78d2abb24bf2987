"""The files of built-in workloads: scripts, and SQL for their datasets."""

import re
from importlib.resources import files

from pgverdict.workloads.workload import Check, Script

_HERE = files("pgverdict.workloads")


def text_of(path: str) -> str:
    """The content of a file beside this one."""
    return _HERE.joinpath(path).read_text(encoding="utf-8")


def script(name: str) -> Script:
    """A built-in script."""
    return Script(name, text_of(f"scripts/{name}.sql"))


def checks_of(path: str) -> tuple[Check, ...]:
    """The checks in a file: each is a line `-- check NAME: WHAT HOLDS`, then its question."""
    _, *parts = re.split(r"^-- check ", text_of(path), flags=re.MULTILINE)
    found = []
    for part in parts:
        head, _, sql = part.partition("\n")
        name, _, about = head.partition(": ")
        found.append(Check(name, about, sql.strip().removesuffix(";")))
    return tuple(found)
