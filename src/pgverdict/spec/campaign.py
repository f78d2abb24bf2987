"""A campaign: the arms, the cells, and how sure one wants to be.

These values are what a run stores of the user's wish, and what it is planned from. They are made by
`cli` from options, or by `plan.matrix` from a campaign file, and know no server, no clock and no file.
"""

from dataclasses import dataclass
from enum import Enum

from pgverdict.errors import UserError, unknown_word
from pgverdict.spec.cache import Cache
from pgverdict.spec.confinement import Limits, require_apart
from pgverdict.spec.metrics import METRICS, Subject
from pgverdict.spec.own import OwnWork
from pgverdict.spec.parameters import Chosen, spell_chosen
from pgverdict.spec.regime import Regime
from pgverdict.spec.spelling import Outside, read_spelling, split_name
from pgverdict.spec.tuning import Tuning

ARMS_MAX = 12
"""All arms of a round run at once, and every one more makes rounds longer and their halves lie further apart."""


class Role(Enum):
    """The first arm is what the others are held against."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"


@dataclass(frozen=True)
class Arm:
    """One server under test. `server` is the spelling that says where it comes from (`spec.spelling`)."""

    name: str
    role: Role
    server: str
    settings: tuple[tuple[str, str], ...] = ()
    handicap_ns: int = 0
    """A known slow-down: the server spins so long for every message it receives from a client."""
    optional: tuple[str, ...] = ()
    """The settings that are left out where the server does not know them. None, once its build was inspected."""
    origins: tuple[tuple[str, str], ...] = ()
    """Where settings come from that the user did not give: (name, value of an `Origin`)."""
    data_directory: str | None = None
    """A directory of the user's, below which the arm's data is put while it is measured; None: the cache."""
    wal_directory: str | None = None
    """The same for its WAL; None: in its data directory."""

    @property
    def given(self) -> tuple[tuple[str, str], ...]:
        """The settings that the user gave."""
        made = dict(self.origins)
        return tuple((name, value) for name, value in self.settings if name not in made)


class Origin(Enum):
    """Where a setting comes from."""

    GIVEN = "given"
    TUNED = "tuned"
    ALIGNED = "aligned"


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


class Defaults(Enum):
    """Whether each release has its own defaults, or all arms have the baseline's where defaults have changed."""

    SHIPPED = "shipped"
    ALIGNED = "aligned"


@dataclass(frozen=True)
class Written:
    """The campaign file a campaign was read from: its path as the user gave it, its text, and the options that changed
    what it says (`--small`, `--only`)."""

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

    >>> settings_in(Arm("17", Role.BASELINE, "17", (("jit", "on"), ("work_mem", "4MB"))),
    ...             CellSpec("select-only", 1, 1, settings=(("work_mem", "1MB"),)))
    (('jit', 'on'), ('work_mem', '1MB'))
    """
    return tuple(sorted({**dict(arm.settings), **dict(cell.settings)}.items()))


def name_arms(servers: tuple[str, ...]) -> tuple[str, ...]:
    """Arm names: those that were given, else from server spellings; a repeated one is numbered.

    >>> name_arms(("17", "17", "new=17"))
    ('17', '17#2', 'new')
    >>> name_arms(("dsn:postgresql://me@db.example/app", "dsn:postgresql://me@db.example/other"))
    ('db.example', 'db.example#2')
    """
    names: list[str] = []
    unnamed: list[str] = []
    for text in servers:
        given, server = split_name(text)
        asked = read_spelling(server)
        called = asked.place if isinstance(asked, Outside) else server
        count = unnamed.count(called)
        name = given or (called if count == 0 else f"{called}#{count + 1}")
        unnamed += [] if given else [called]
        if name in names or name in (role.value for role in Role):
            raise UserError(
                f"not a name of its own for an arm: {name}", hint="write NAME=SERVER, each name once"
            )
        names.append(name)
    return tuple(names)


def make_arms(
    servers: tuple[str, ...], settings: tuple[tuple[str | None, str, str], ...] = ()
) -> tuple[Arm, ...]:
    """The arms of a comparison, from `[NAME=]SERVER` each.

    A setting addresses all arms, a role (`candidate` is all candidates), or an arm's name; what is said of one arm
    goes before what is said of all, in whatever order. The same setting twice for the same arm is an error. A name
    that ends in a question mark is optional: `spec.quantities.setting`.
    """
    spelled = [split_name(text)[1] for text in servers]
    for server in spelled:
        read_spelling(
            server
        )  # what means nothing is found before anything is done, and a secret before it is repeated
    names = name_arms(servers)
    roles = (Role.BASELINE,) + (Role.CANDIDATE,) * (len(servers) - 1)
    addresses = {role.value for role in roles} | set(names)
    for address, _, _ in settings:
        if address is not None and address not in addresses:
            raise unknown_word("arm in --set", address, addresses)
    general = _once([(name, value) for address, name, value in settings if address is None], "all arms")
    arms = []
    for arm_name, role, server in zip(names, roles, spelled, strict=True):
        own = [(name, value) for address, name, value in settings if address in (role.value, arm_name)]
        chosen = general | _once(own, arm_name)
        arms.append(
            Arm(
                arm_name,
                role,
                server,
                tuple((name, value) for name, (value, _) in sorted(chosen.items())),
                optional=tuple(name for name, (_, optional) in sorted(chosen.items()) if optional),
            )
        )
    return tuple(arms)


def find_arms(arms: tuple[Arm, ...], address: str | None, *, where: str) -> tuple[int, ...]:
    """The numbers of the arms with that name or role; all candidates if none is said."""
    wanted = address or Role.CANDIDATE.value
    found = tuple(number for number, arm in enumerate(arms) if wanted in (arm.name, arm.role.value))
    if not found:
        raise unknown_word(
            f"arm in {where}", wanted, {arm.name for arm in arms} | {role.value for role in Role}
        )
    return found


def _once(settings: list[tuple[str, str]], whom: str) -> dict[str, tuple[str, bool]]:
    """Name to value, and whether it may be left out."""
    chosen: dict[str, tuple[str, bool]] = {}
    for given, value in settings:
        name = given.removesuffix("?")
        if name in chosen:
            raise UserError(
                f"the setting {name} is given twice for {whom}: {chosen[name][0]} and {value}",
                hint="leave one out",
            )
        chosen[name] = (value, given.endswith("?"))
    return chosen
