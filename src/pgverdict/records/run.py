"""A run as it stands: the campaign, the servers and the host it met, and every round so far."""

from dataclasses import dataclass
from enum import Enum

from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.spec.campaign import Campaign, CellSpec, Role


class Purpose(Enum):
    """Why a run was made."""

    COMPARE = "compare"
    CALIBRATE = "calibrate"


class RunState(Enum):
    """Whether rounds may still be added."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"


@dataclass(frozen=True)
class ArmFacts:
    """What an arm turned out to be. `build` and `settings` are name to value, as the server said them."""

    name: str
    role: Role
    server: str
    version: str
    build: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    """Settings that differ from the server's built-in defaults, and those the user chose."""
    notes: tuple[str, ...] = ()
    """What was left out on this arm, and why: 'pg_stat_statements: not in this build'."""


@dataclass(frozen=True)
class CellRecord:
    """A cell and its rounds, in the order they were measured; failed ones included."""

    spec: CellSpec
    primary: str
    regime: str
    """The value of a `spec.regime.Regime`."""
    rounds: tuple[RoundRecord, ...] = ()
    load_pools: tuple[int, ...] = ()
    """Per arm, the pool its loads are drawn from: arms of one pool take turns on the same ones. Empty: one each."""
    install_pools: tuple[int, ...] = ()
    """Per arm, the pool of copies of its install that its servers are started from. Empty: one each."""

    @property
    def measured(self) -> tuple[RoundRecord, ...]:
        """The rounds that count."""
        return tuple(r for r in self.rounds if r.state is RoundState.MEASURED)


@dataclass(frozen=True)
class RunRecord:
    """One execution of a campaign."""

    id: str
    state: RunState
    started: str
    seconds: float
    """From the first round's start to the last one's end, set-up apart."""
    campaign: Campaign
    host: tuple[tuple[str, str], ...]
    arms: tuple[ArmFacts, ...]
    cells: tuple[CellRecord, ...]
    purpose: Purpose = Purpose.COMPARE
