"""Machines that we do not have: trees of the kernel's files, laid out for a test (trees/README.md)."""

import os
from pathlib import Path

from pgverdict.host.advice import Advice
from pgverdict.host.doctor import examine, read_facts
from pgverdict.host.tree import Tree

MACHINES = ("virtual", "laptop", "numa", "container-v1", "container-v2")

GIB = 1 << 30


def lay_out(machine: str, root: Path, **changed: str | None) -> Tree:
    """The machine's files below a new directory, some with another content; None for one that is not there.

    In the names of `changed`, two underscores stand for a slash: proc__sys__vm__swappiness="10".
    """
    files = _files(Path(__file__).parent / "trees" / f"{machine}.tree")
    files |= {f"/{name.replace('__', '/')}": text for name, text in changed.items()}
    for path, text in files.items():
        if text is not None:
            place = root / path[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text + "\n")
    return Tree(root)


def advice_on(tree: Tree, path: str = "/var/cache/pgverdict", *, free: int = 80 * GIB) -> dict[str, Advice]:
    """What is said of the machine, by check, with data to lie at `path` in a file system of 100 GiB."""
    said = examine(read_facts(tree, Path(path), lambda _: _room(free)), layout_obstacle=None)
    return {one.diagnosis.check: one for one in said}


def _room(free: int) -> os.statvfs_result:
    # Block size, fragment size, blocks, free ones, those for users; files and flags are of no interest.
    return os.statvfs_result((4096, 4096, 100 * GIB // 4096, free // 4096, free // 4096, 0, 0, 0, 0, 255))


def _files(path: Path) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for part in path.read_text().split("== ")[1:]:
        name, _, text = part.partition("\n")
        found[name] = text.rstrip("\n")
    return found
