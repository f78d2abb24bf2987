"""Aged templates: a template's copy, worked on by a workload until the tables it changes have settled.

Freshly loaded tables have no dead rows and no free space, and a server that updates them is at its
best, and not where users meet it. An aged template is kept beside the loaded ones, under a name that says
what it was made of, and is never started again either.

Append-only tables grow for as long as one works; they are exempt from the rule (`settling`).
"""

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pgverdict.datasets.copy import copy_data
from pgverdict.datasets.load import DATABASE, where
from pgverdict.datasets.settling import TableHistory
from pgverdict.datasets.template import Template, TemplateSpec
from pgverdict.engine.messages import Connected
from pgverdict.engine.process import Engine
from pgverdict.errors import UserError
from pgverdict.observe import views
from pgverdict.observe.cycles import Watch
from pgverdict.servers.account import Account
from pgverdict.servers.control import trim_wal
from pgverdict.servers.home import Home
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.server import Server
from pgverdict.workloads.workload import Workload

REVISION = 1
"""Part of an aged template's key: whoever changes how ageing is done raises it."""

AGEING_S_MAX = 3600.0
"""What has not settled by then is used all the same, with a note in every report."""

AGEING_S_MIN = 10.0
"""So long at least: what the workload changes is known by then, and whether it settles at all."""

UNVACUUMED_S = 60.0
"""And two naps of autovacuum: a table without a vacuum in that time may be one that pruning keeps small."""

PROGRESS_S = 10.0
"""At most so often is told how far it is: vacuums may come every second."""

_SLICE_US = 1_000_000

_FACTS = "template.json"
_DATA = "data"


@dataclass(frozen=True)
class AgedSpec:
    """What an aged template is made of: a template, and what its clients do to it."""

    base: TemplateSpec
    workload: Workload
    clients: int
    settings: tuple[tuple[str, str], ...] = ()
    """Of the cell, beside those that the template was loaded with."""

    @property
    def name(self) -> str:
        """The aged template's directory: the base's name and what was done."""
        program = self.workload.program
        parts: tuple[object, ...] = (REVISION, [(s.name, s.weight, s.text) for s in self.workload.scripts])
        if program is not None:
            parts += (program.name, program.parameters)
        parts += (self.settings,) if self.settings else ()
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:10]
        return f"{self.base.name}-aged-{self.workload.name}-c{self.clients}-{digest}"


@dataclass(frozen=True)
class AgedTemplate:
    """A finished aged template, and what ageing took."""

    data: Path
    bytes: int
    seconds: float
    checkpoints: int
    """Finished while it aged."""
    vacuums: tuple[tuple[str, int], ...]
    """Of each hot table by name. None: updates prune its pages, and autovacuum never has to."""
    checkpoint_s_max: float
    """How far apart the settings let finished checkpoints be."""
    note: str | None
    """What did not settle, where something did not."""

    @property
    def cycle_s(self) -> float:
        """About how long a checkpoint and a vacuum of every hot table take, whichever takes longer."""
        checkpoint_s = self.seconds / self.checkpoints if self.checkpoints else self.checkpoint_s_max
        vacuum_s = max((self.seconds / count for _, count in self.vacuums if count), default=0.0)
        return max(min(checkpoint_s, self.checkpoint_s_max), vacuum_s)

    @property
    def vacuumed(self) -> tuple[str, ...]:
        """The hot tables that autovacuum has to do with."""
        return tuple(name for name, count in self.vacuums if count)


@dataclass(frozen=True)
class Clients:
    """How the engine's clients are set up; `connected` is told of their connections, to place their processes."""

    threads: int
    cpus: tuple[int, ...] | None
    variables: Mapping[str, int]
    connected: Callable[[Connected], None]


def find_aged(home: Home, spec: AgedSpec) -> AgedTemplate | None:
    """The aged template, if it was made before."""
    directory = home.templates / spec.name
    try:
        facts = json.loads((directory / _FACTS).read_text())
    except FileNotFoundError:
        return None
    vacuums = tuple((name, count) for name, count in facts["vacuums"])
    return AgedTemplate(**{**facts, "data": directory / _DATA, "vacuums": vacuums})


def make_aged(
    home: Home,
    spec: AgedSpec,
    base: Template,
    account: Account,
    workshop: Path,
    launch: Callable[[Path], Server],
    clients: Clients,
    progress: Callable[[str], None],
) -> AgedTemplate:
    """Age a copy of `base` in `workshop`, a directory of ours on the same file system, and move it into place.

    `launch` gives a server, not yet started, on a data directory. `progress` is told when something changed.
    """
    final = home.templates / spec.name
    partial = workshop / spec.name
    remove_tree(partial)  # of a try that failed, before the run went on with other cells
    account.make_directory(partial)
    data = partial / _DATA
    copy_data(base.data, data)
    with launch(data) as server:
        work = _work(server, spec, clients, progress)
    trim_wal(data)
    aged = AgedTemplate(
        data=final / _DATA,
        bytes=sum(path.lstat().st_size for path in data.rglob("*") if path.is_file()),
        seconds=work.seconds,
        checkpoints=work.checkpoints,
        vacuums=tuple((name, history.vacuums) for name, history in work.histories.items()),
        checkpoint_s_max=work.checkpoint_s_max,
        note=_what_did_not_settle(work),
    )
    (partial / _FACTS).write_text(json.dumps({**asdict(aged), "data": _DATA}, indent=1))
    remove_tree(final)
    partial.rename(final)
    return aged


@dataclass
class _Work:
    """What was seen while a workload aged its tables; `histories` are the hot tables', by name."""

    checkpoint_s_max: float
    unvacuumed_s: float
    histories: dict[str, TableHistory] = field(default_factory=dict)
    seconds: float = 0.0
    checkpoints: int = 0

    @property
    def unsettled(self) -> list[str]:
        return [
            name
            for name, history in self.histories.items()
            if not history.settled(unvacuumed_s=self.unvacuumed_s)
        ]

    @property
    def standing(self) -> str:
        """How far it is, in words that change when something happened."""
        parts = [f"{name} {_vacuums(history)}" for name, history in self.histories.items()]
        return ", ".join(parts) or "nothing updated yet"


def _work(server: Server, spec: AgedSpec, clients: Clients, progress: Callable[[str], None]) -> _Work:
    """Let the workload run at full speed until every hot table has settled, or the time is up."""
    with views.session(server, DATABASE) as connection, Engine.start() as engine:
        _require_autovacuum(connection)
        work = _Work(
            checkpoint_s_max=views.setting_s(connection, "checkpoint_timeout"),
            unvacuumed_s=UNVACUUMED_S + 2 * views.setting_s(connection, "autovacuum_naptime"),
        )
        engine.setup(
            clients=spec.clients,
            threads=clients.threads,
            cpus=clients.cpus,
            scripts=spec.workload.scripts,
            program=spec.workload.program,
            variables=clients.variables,
            statement_s=spec.workload.statement_s,
            allow=spec.workload.allow,
        )
        clients.connected(engine.connect(0, where(server)))
        watch = Watch(connection)
        begun = time.monotonic()
        told, next_told_s = "", 0.0
        for number in itertools.count():
            # Every load ages by its own keys.
            seed = (spec.base.load << 32) + number
            engine.slice(
                0, seed=seed, bound={"duration_us": _SLICE_US}, discard={"duration_us": 0}, keep=False
            )
            watch.look()
            work.seconds, work.checkpoints = time.monotonic() - begun, watch.checkpoints
            for name in sorted(watch.hot):
                work.histories.setdefault(name, TableHistory()).add(work.seconds, watch.last.tables[name])
            if work.standing != told and work.seconds >= next_told_s:
                told, next_told_s = work.standing, work.seconds + PROGRESS_S
                progress(f"{told}, after {work.seconds:.0f} s")
            if work.seconds >= AGEING_S_MIN and not work.unsettled:
                break
            if work.seconds >= AGEING_S_MAX:
                break
        return work


def _vacuums(history: TableHistory) -> str:
    return "1 vacuum" if history.vacuums == 1 else f"{history.vacuums} vacuums"


def _require_autovacuum(connection: views.Connection) -> None:
    for name in ("autovacuum", "track_counts"):
        row = connection.execute("SELECT pg_catalog.current_setting(%s)", (name,)).fetchone()
        if row == ("off",):
            raise UserError(
                f"the steady regime lasts until tables were vacuumed, and the setting says {name}=off",
                hint="leave it on, or choose --regime fresh",
            )


def _what_did_not_settle(work: _Work) -> str | None:
    unsettled = [
        f"{name} ({_vacuums(history)}, grew by {history.growth * 100:.1f} % in the end)"
        for name in work.unsettled
        for history in [work.histories[name]]
    ]
    if not unsettled:
        return None
    return f"its aged data had not settled after {work.seconds:.0f} s: {', '.join(unsettled)}"
