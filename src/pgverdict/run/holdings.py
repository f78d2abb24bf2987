"""What the cache folder holds, and what goes when it is to hold less: docs/campaigns.md#cache.

A holding is what can be removed by itself and made, built or fetched again. Whatever else lies in the folder is not
touched, and nothing goes while a run works there.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from pgverdict.datasets.template import forget_template, list_templates
from pgverdict.errors import WorldError, unknown_word
from pgverdict.run.site import measuring_alone
from pgverdict.servers.home import Home
from pgverdict.servers.install import forget_install, read_install
from pgverdict.servers.marked import is_marked, remove_tree, tree_bytes
from pgverdict.servers.workspace import sweep


class Kind(Enum):
    """What a holding is."""

    TEMPLATE = "template"
    BUILD = "build"
    INSTALL = "install"
    DOWNLOAD = "download"


@dataclass(frozen=True)
class Holding:
    """`bytes`: on disk. `used`: when a run, or its fetching, last worked with it. `about`: its exact spelling."""

    kind: Kind
    name: str
    bytes: int
    used: datetime
    about: str = ""


@dataclass(frozen=True)
class Holdings:
    """The one used longest ago first. `other_bytes`: what the folder holds beyond them."""

    of: tuple[Holding, ...]
    other_bytes: int

    @property
    def bytes(self) -> int:
        return self.other_bytes + sum(one.bytes for one in self.of)


def find_holdings(home: Home) -> Holdings:
    """All that is whole and was made here: what lies there otherwise is not told from what somebody else put there."""
    found = sorted(
        [*_templates(home), *_installs(home), *_downloads(home)], key=lambda one: (one.used, one.name)
    )
    total = tree_bytes(home.cache) if home.cache.is_dir() else 0
    return Holdings(tuple(found), max(0, total - sum(one.bytes for one in found)))


def named(holdings: Holdings, names: Sequence[str]) -> tuple[Holding, ...]:
    """Those of these names, each once. UserError for a name that none has."""
    by_name = {one.name: one for one in holdings.of}
    for name in names:
        if name not in by_name:
            raise unknown_word("holding of the cache", name, by_name)
    return tuple(by_name[name] for name in dict.fromkeys(names))


def beyond(holdings: Holdings, keep_bytes: int) -> tuple[Holding, ...]:
    """Those that go so that the folder has at most so many bytes: the one used longest ago first, and no more."""
    going: list[Holding] = []
    left = holdings.bytes
    for one in holdings.of:
        if left <= keep_bytes:
            break
        going.append(one)
        left -= one.bytes
    return tuple(going)


@contextmanager
def no_run_working(home: Home) -> Iterator[list[str]]:
    """No run begins within the block; WorldError if one works. Gives what was found, and removed, of killed runs."""
    with measuring_alone():
        remains = sweep(home)
        working = sorted(path.name for path in home.runs.glob("*") if is_marked(path))
        if working:
            raise WorldError(
                f"a run works with what {home.cache} holds: {working[0]}", hint="wait for its end, or end it"
            )
        yield remains


def remove(home: Home, holding: Holding) -> None:
    """Delete it. To be called where no run works."""
    match holding.kind:
        case Kind.TEMPLATE:
            forget_template(home, holding.name)
        case Kind.BUILD | Kind.INSTALL:
            forget_install(home, holding.name)
        case Kind.DOWNLOAD:
            remove_tree(home.downloads / holding.name)
            remove_tree(_digest_of(home.downloads / holding.name))


def _templates(home: Home) -> Iterator[Holding]:
    for one in list_templates(home):
        path = home.templates / one.name
        if not path.is_symlink():
            yield Holding(Kind.TEMPLATE, one.name, tree_bytes(path), one.used)


def _installs(home: Home) -> Iterator[Holding]:
    for path in home.installs.glob("[!.]*"):
        install = None if path.is_symlink() else read_install(path)
        if install is not None:
            kind = Kind.BUILD if path.name.startswith("build-") else Kind.INSTALL
            yield Holding(kind, path.name, tree_bytes(path), _used(path), install.package)


def _downloads(home: Home) -> Iterator[Holding]:
    """Packages, with the digests they were checked against."""
    for path in home.downloads.glob("[!.]*.jar"):
        digest = _digest_of(path)
        if digest.is_file() and path.is_file() and not path.is_symlink():
            size = sum(one.lstat().st_blocks * 512 for one in (path, digest))
            yield Holding(Kind.DOWNLOAD, path.name, size, _used(path))


def _digest_of(package: Path) -> Path:
    return package.with_name(f"{package.name}.sha512")


def _used(path: Path) -> datetime:
    return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
