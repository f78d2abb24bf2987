"""A campaign: the arms, the cells, and how sure one wants to be.

These values are what a run stores of the user's wish, and what it is planned from. They are made by
`cli` from options (later also from files) and know no server, no clock and no file.
"""

from dataclasses import dataclass
from enum import Enum

from pgverdict.errors import UserError, unknown_word
from pgverdict.spec.metrics import METRICS, Subject
from pgverdict.spec.regime import Regime

ARMS_MAX = 8
"""All arms of a round run at once, and every one more makes rounds longer and their halves lie further apart."""


class Role(Enum):
    """The first arm is what the others are held against."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"


@dataclass(frozen=True)
class Arm:
    """One server under test. `server` is the spelling that says where it comes from (`17`, `17.7`)."""

    name: str
    role: Role
    server: str
    settings: tuple[tuple[str, str], ...] = ()
    handicap_ns: int = 0
    """A known slow-down: the server spins so long for every message it receives from a client."""


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
    partitions: int = 0
    primary: str | None = None
    regime: Regime | None = None
    """None: the workload's own."""
    pairs: int | None = None
    """Per round; None: as many as rounds of its regime have. No part of the key either."""

    def __post_init__(self) -> None:
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

        >>> CellSpec("select-only", 10, 1).key
        'select-only scale=10 clients=1'
        """
        parts = [self.workload, f"scale={self.scale}", f"clients={self.clients}"]
        if self.partitions:
            parts.append(f"partitions={self.partitions}")
        if self.regime is not None:
            parts.append(f"regime={self.regime.value}")
        return " ".join(parts)


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

    def __post_init__(self) -> None:
        if not 2 <= len(self.arms) <= ARMS_MAX:
            raise UserError(f"a comparison has 2 to {ARMS_MAX} arms, not {len(self.arms)}")
        if not self.cells:
            raise UserError("a campaign needs at least one workload")
        if len({cell.key for cell in self.cells}) != len(self.cells):
            raise UserError("the same workload is named twice")
        if self.confidence < 0.5:
            raise UserError(f"a confidence below one half says nothing: {self.confidence:.6g}")
        if self.rounds is not None and self.rounds < 2:
            raise UserError(f"too few rounds: {self.rounds}", hint="a verdict needs 8")

    @property
    def candidates(self) -> tuple[int, ...]:
        """The numbers of the arms that are compared with arm 0."""
        return tuple(range(1, len(self.arms)))


def name_arms(servers: tuple[str, ...]) -> tuple[str, ...]:
    """Arm names from server spellings; a repeated one is numbered.

    >>> name_arms(("17", "17"))
    ('17', '17#2')
    """
    names: list[str] = []
    for server in servers:
        count = sum(1 for earlier in servers[: len(names)] if earlier == server)
        names.append(server if count == 0 else f"{server}#{count + 1}")
    return tuple(names)


def make_arms(
    servers: tuple[str, ...], settings: tuple[tuple[str | None, str, str], ...] = ()
) -> tuple[Arm, ...]:
    """The arms of a comparison.

    A setting addresses all arms, a role (`candidate` is all candidates), or an arm's name; what is said of one arm
    goes before what is said of all, in whatever order. The same setting twice for the same arm is an error.
    """
    names = name_arms(servers)
    roles = (Role.BASELINE,) + (Role.CANDIDATE,) * (len(servers) - 1)
    addresses = {role.value for role in roles} | set(names)
    for address, _, _ in settings:
        if address is not None and address not in addresses:
            raise unknown_word("arm in --set", address, addresses)
    general = _once([(name, value) for address, name, value in settings if address is None], "all arms")
    arms = []
    for arm_name, role, server in zip(names, roles, servers, strict=True):
        own = [(name, value) for address, name, value in settings if address in (role.value, arm_name)]
        chosen = general | _once(own, arm_name)
        arms.append(Arm(arm_name, role, server, tuple(sorted(chosen.items()))))
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


def _once(settings: list[tuple[str, str]], whom: str) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for name, value in settings:
        if name in chosen:
            raise UserError(f"the setting {name} is given twice for {whom}: {chosen[name]} and {value}")
        chosen[name] = value
    return chosen
