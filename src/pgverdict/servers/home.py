"""Where pgverdict keeps its things.

Two directories: `cache` (downloads, installs, templates, runs: can be made again) and `data` (the store:
cannot). PGVERDICT_HOME=DIR puts both under DIR. Else they are where the XDG rules say, and for root
where the unprivileged account that servers run as can reach them, which root's own home is not.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.account import Account
from pgverdict.servers.marked import mark, remove_tree

__all__ = ["Home", "remove_tree"]

VARIABLE = "PGVERDICT_HOME"


@dataclass(frozen=True)
class Home:
    cache: Path
    data: Path

    @classmethod
    def find(cls, environ: Mapping[str, str] = os.environ) -> "Home":
        """The home that the environment says. Makes nothing: see `ensure`.

        Symbolic links are resolved here, once: nothing is deleted through one.
        """
        if chosen := environ.get(VARIABLE):
            root = Path(chosen).expanduser().absolute()
            cache, data = root / "cache", root / "data"
        elif os.geteuid() == 0:
            cache, data = Path("/var/cache/pgverdict"), Path("/var/lib/pgverdict")
        else:
            cache = _xdg(environ, "XDG_CACHE_HOME", ".cache") / "pgverdict"
            data = _xdg(environ, "XDG_DATA_HOME", ".local/share") / "pgverdict"
        return cls(Path(os.path.realpath(cache)), Path(os.path.realpath(data)))

    @property
    def downloads(self) -> Path:
        return self.cache / "downloads"

    @property
    def installs(self) -> Path:
        return self.cache / "installs"

    @property
    def repositories(self) -> Path:
        """Of sources that are named by an address; made when there is a first."""
        return self.cache / "repositories"

    @property
    def templates(self) -> Path:
        return self.cache / "templates"

    @property
    def inspections(self) -> Path:
        return self.cache / "inspections"

    @property
    def runs(self) -> Path:
        return self.cache / "runs"

    def ensure(self, account: Account) -> None:
        """Make what is missing, marked as ours, and see that servers can work in it."""
        for root in (self.cache, self.data):
            _make(root)
            try:
                mark(root)
            except OSError as error:
                raise WorldError(f"cannot use {root}: {error.strerror}", hint=_hint()) from error
        for folder in (self.downloads, self.installs, self.templates, self.inspections, self.runs):
            _make(folder)
        account.require_reach(self.cache, VARIABLE)


def _xdg(environ: Mapping[str, str], variable: str, otherwise: str) -> Path:
    # The XDG rules: a relative path is to be ignored.
    chosen = Path(environ.get(variable) or "")
    return chosen if chosen.is_absolute() else Path(environ.get("HOME") or Path.home()) / otherwise


def _make(directory: Path) -> None:
    """Make a directory; one that is there must be ours to write. The servers of root must get into it."""
    try:
        missing = [step for step in (directory, *directory.parents) if not step.exists()]
        for step in reversed(missing):
            step.mkdir(exist_ok=True)
            if os.geteuid() == 0:
                step.chmod(0o755)
        writable = directory.is_dir() and os.access(directory, os.W_OK | os.X_OK)
    except OSError as error:
        raise WorldError(f"cannot make {directory}: {error.strerror}", hint=_hint()) from error
    if not writable:
        raise WorldError(f"cannot write into {directory}", hint=_hint())


def _hint() -> str:
    return f"set {VARIABLE} to a directory of yours"
