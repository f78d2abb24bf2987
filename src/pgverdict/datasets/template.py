"""Templates: data directories made once per build, dataset, size, settings and load, never started again.

A template is made under a temporary name and renamed when it is whole, so a directory under its own name
is complete, cleanly shut down and trimmed. Rounds work on copies.
"""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from pgverdict.datasets.checks import check_data
from pgverdict.datasets.load import load
from pgverdict.engine.process import Engine
from pgverdict.servers.account import Account
from pgverdict.servers.cluster import create_cluster
from pgverdict.servers.control import trim_wal
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.scratch import remove_at_once
from pgverdict.servers.server import Server
from pgverdict.workloads.workload import Dataset

_FACTS = "template.json"
_DATA = "data"


@dataclass(frozen=True)
class TemplateSpec:
    """What a template is made of. `load` numbers independent loads of the same thing."""

    install: Install
    dataset: Dataset
    scale: int
    settings: tuple[tuple[str, str], ...]
    load: int

    @property
    def name(self) -> str:
        """The template's directory: readable, and different whenever the content would be."""
        parts = (self.install.identity, self.dataset.digest(self.scale), sorted(self.settings))
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:10]
        return f"{self.install.version}-{self.dataset.name}-s{self.scale}-l{self.load}-{digest}"


@dataclass(frozen=True)
class Template:
    """A finished template: its data directory, its size, and digests of the rows that went in, by table."""

    data: Path
    bytes: int
    rows_sha256: tuple[tuple[str, str], ...]


def find_template(home: Home, spec: TemplateSpec) -> Template | None:
    """The template, if it was made before."""
    directory = home.templates / spec.name
    try:
        facts = json.loads((directory / _FACTS).read_text())
    except FileNotFoundError:
        return None
    return Template(directory / _DATA, facts["bytes"], tuple(map(tuple, facts["rows_sha256"])))


@dataclass(frozen=True)
class KeptTemplate:
    """A template on disk, as lists show it; aged ones are templates too."""

    name: str
    bytes: int
    used: datetime
    """When a run last worked with it."""


def list_templates(home: Home) -> list[KeptTemplate]:
    """All that are whole, the one used longest ago first."""
    found = []
    for facts in home.templates.glob(f"*/{_FACTS}"):
        directory = facts.parent
        used = datetime.fromtimestamp(directory.stat().st_mtime, UTC)
        found.append(KeptTemplate(directory.name, json.loads(facts.read_text())["bytes"], used))
    return sorted(found, key=lambda one: (one.used, one.name))


def note_use(home: Home, name: str) -> None:
    """The template is worked with now."""
    os.utime(home.templates / name)


def forget_template(home: Home, name: str) -> None:
    """Delete it; it can be made again."""
    remove_at_once(home.templates / name)


def make_template(
    home: Home,
    spec: TemplateSpec,
    engine: Engine,
    account: Account,
    workshop: Path,
    launch: Callable[[Install, Path, tuple[tuple[str, str], ...]], Server],
    progress: Callable[[int, int], None],
) -> Template:
    """Make the template in `workshop`, a directory of ours on the same file system, and move it into place.

    `launch` gives a server, not yet started, on a data directory.
    """
    final = home.templates / spec.name
    partial = workshop / spec.name
    remove_tree(partial)  # of a try that failed, before the run went on with other cells
    account.make_directory(partial)
    data = partial / _DATA
    create_cluster(spec.install, data, account, dict(spec.settings))
    with launch(spec.install, data, spec.settings) as server:
        loaded = load(engine, server, spec.dataset, spec.scale, progress)
        check_data(server, spec.dataset)
    trim_wal(data)
    template = Template(
        final / _DATA,
        sum(path.lstat().st_size for path in data.rglob("*") if path.is_file()),
        tuple((table.name, table.sha256) for table in loaded),
    )
    (partial / _FACTS).write_text(json.dumps({**asdict(template), "data": _DATA}, indent=1))
    remove_tree(final)
    partial.rename(final)
    return template
