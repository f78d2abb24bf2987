"""A campaign: the arms, the cells, and how sure one wants to be.

These values are what a run stores of the user's wish, and what it is planned from. They are made by
`cli` from options, or by `plan.matrix` from a campaign file, and know no server, no clock and no file.
"""

from dataclasses import dataclass
from enum import Enum

from pgverdict.errors import UserError, unknown_word
from pgverdict.spec.arms import Arm
from pgverdict.spec.cache import Cache
from pgverdict.spec.confinement import Limits, require_apart
from pgverdict.spec.metrics import METRICS, Subject
from pgverdict.spec.own import OwnWork
from pgverdict.spec.parameters import Chosen, spell_chosen
from pgverdict.spec.regime import Regime
from pgverdict.spec.tuning import Tuning

ARMS_MAX = 12
"""All arms of a round run at once, and every one more makes rounds longer and their halves lie further apart."""


PAIRS_MOST = 1000
"""More are a stretch, and belong into the steady regime."""


@dataclass(frozen=True)
class CellSpec:
    """One point of the matrix, the same for all arms. `workload` names an entry of the catalogue.

    `primary` is the metric that decides the cell; None leaves it to the workload. It is no part of the key: what is
    done to the servers does not depend on it.
    """

    workload: str
    scale: int
    clients: int
    parameters: Chosen = ()
    """Of the workload, only those that differ from its defaults."""
    primary: str | None = None
    regime: Regime | None = None
    """None: the workload's own."""
    pairs: int | None = None
    """Per round; None: as many as rounds of its regime have. No part of the key either."""
    cache: Cache = Cache.WARM
    own: OwnWork | None = None
    """The user's own work; `workload` is then its name, and no entry of the catalogue."""
    settings: tuple[tuple[str, str], ...] = ()
    """Settings that every arm has in this cell, whatever it has elsewhere; sorted."""

    def __post_init__(self) -> None:
        names = [name for name, _ in self.parameters]
        assert names == sorted(set(names)), f"parameters in no order, or twice: {names}"
        if self.cache is Cache.COLD:
            self._require_what_can_be_cold()
        if self.pairs is not None and not 1 <= self.pairs <= PAIRS_MOST:
            raise UserError(
                f"a round has 1 to {PAIRS_MOST} pairs, not {self.pairs}",
                hint="without --pairs a round has as many as its regime needs",
            )
        if self.primary is not None and self.primary not in (known := primary_metrics()):
            raise unknown_word("primary metric", self.primary, known)

    @property
    def key(self) -> str:
        """The cell's name in stores, seeds and messages.

        >>> CellSpec("select-only", 10, 1, (("partitions", 16),)).key
        'select-only scale=10 clients=1 partitions=16'
        """
        parts = [
            self.workload,
            f"scale={self.scale}",
            f"clients={self.clients}",
            *spell_chosen(self.parameters),
        ]
        if self.own is not None:
            parts.append(f"own={self.own.digest[:10]}")
        if self.regime is not None:
            parts.append(f"regime={self.regime.value}")
        if self.cache is not Cache.WARM:
            parts.append(f"cache={self.cache.value}")
        parts += spell_chosen(self.settings)
        return " ".join(parts)

    def _require_what_can_be_cold(self) -> None:
        if self.pairs is not None:
            raise UserError(
                f"a cold round has one slice of each arm, after which nothing is cold: --pairs {self.pairs}",
                hint="leave out --pairs, or --cache cold",
            )
        if self.regime is Regime.STEADY:
            raise UserError(
                f"a round of the steady regime lasts too long to stay cold: {self.workload}",
                hint="leave out --cache cold, or choose --regime fresh",
            )


def primary_metrics() -> tuple[str, ...]:
    """The metrics that may decide a cell: those of the whole cell."""
    return tuple(name for name, one in METRICS.items() if one.subject is Subject.CELL)


class Freeze(Enum):
    """Whether, and by what, the arm whose turn it is not is kept from working within a round."""

    OFF = "off"
    SIGNAL = "signal"
    CGROUP = "cgroup"


class Pinning(Enum):
    """Whether clients and their server processes share cores that are chosen for them, or run where they are put."""

    PINNED = "pinned"
    FREE = "free"


class EventLoop(Enum):
    """How the load engine waits for its sockets; by io_uring where the kernel allows it, else by epoll."""

    EPOLL = "epoll"
    IO_URING = "io_uring"


class Defaults(Enum):
    """Whether each release has its own defaults, or all arms have the baseline's where defaults have changed."""

    SHIPPED = "shipped"
    ALIGNED = "aligned"


@dataclass(frozen=True)
class Written:
    """The campaign file a campaign was read from: its path as the user gave it, its text, and the options that changed
    what it says (`--small`, `--only`, `--arm`)."""

    path: str
    text: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Campaign:
    """A matrix of cells and arms with a budget and a seed. Each candidate is compared with the baseline, arm 0.

    `rounds` fixes the number of rounds per cell; without it rounds are added until a cell is decided.
    """

    arms: tuple[Arm, ...]
    cells: tuple[CellSpec, ...]
    budget_s: float = 300.0
    margin: float = 0.01
    confidence: float = 0.99
    seed: int = 0
    rounds: int | None = None
    freeze: Freeze = Freeze.OFF
    placement: Pinning = Pinning.PINNED
    event_loop: EventLoop = EventLoop.EPOLL
    defaults: Defaults = Defaults.SHIPPED
    tuning: Tuning | None = None
    debug_builds: bool = False
    """Whether builds with assertions or without optimisation are measured, too."""
    memory_bytes: int | None = None
    """Of every server at most; None: as much as the host has."""
    cores: tuple[int, ...] | None = None
    """Of every server, the same for all; None: any."""
    engine_cores: tuple[int, ...] | None = None
    """Of the load engine; None: a client shares a core with its server process."""
    written: Written | None = None
    """None: it was made from options."""

    def __post_init__(self) -> None:
        require_apart(self.cores, self.engine_cores)
        if not 2 <= len(self.arms) <= ARMS_MAX:
            raise UserError(
                f"a comparison has 2 to {ARMS_MAX} arms, not {len(self.arms)}",
                hint="name the baseline, then candidates",
            )
        if not self.cells:
            raise UserError(
                "a campaign needs at least one workload", hint="`pgverdict list workloads` names them"
            )
        keys = [cell.key for cell in self.cells]
        if twice := next((key for number, key in enumerate(keys) if key in keys[:number]), None):
            raise UserError(f"the same cell is there twice: {twice}", hint="name each workload once")
        if self.confidence < 0.5:
            raise UserError(
                f"a confidence below one half says nothing: {self.confidence:.6g}", hint="write 99%"
            )
        if self.rounds is not None and self.rounds < 2:
            raise UserError(f"too few rounds: {self.rounds}", hint="a verdict needs 8")

    @property
    def limits(self) -> Limits:
        """What every server is confined to."""
        return Limits(self.memory_bytes, self.cores)

    @property
    def candidates(self) -> tuple[int, ...]:
        """The numbers of the arms that are compared with arm 0."""
        return tuple(range(1, len(self.arms)))


def settings_in(arm: Arm, cell: CellSpec) -> tuple[tuple[str, str], ...]:
    """The settings of an arm in a cell: those of the cell take the place of its own.

    >>> from pgverdict.spec.arms import Role
    >>> settings_in(Arm("17", Role.BASELINE, "17", (("jit", "on"), ("work_mem", "4MB"))),
    ...             CellSpec("select-only", 1, 1, settings=(("work_mem", "1MB"),)))
    (('jit', 'on'), ('work_mem', '1MB'))
    """
    return tuple(sorted({**dict(arm.settings), **dict(cell.settings)}.items()))
