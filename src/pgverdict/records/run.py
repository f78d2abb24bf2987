"""A run as it stands: the campaign, the servers and the host it met, and every round so far."""

from dataclasses import dataclass
from enum import Enum

from pgverdict.records.host import Diagnosis
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.spec.arms import Role
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.spelling import is_release


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
    defaults: tuple[tuple[str, str], ...] = ()
    """Its defaults, of the settings that not all arms know, or know with the same default; what matters most first."""

    @property
    def exact(self) -> str:
        """The very server, as it is spelled another day: 17 was the newest 17.x, and HEAD may be another commit."""
        built_from = dict(self.build).get("built_from")
        if built_from is not None:
            return built_from
        is_newest = is_release(self.server) and self.version.startswith(f"{self.server}.")
        return self.version if is_newest else self.server


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
    trouble: str | None = None
    """Why it could not be prepared, the last time that was tried; None: it could, or nobody tried."""

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
    diagnoses: tuple[Diagnosis, ...] = ()
    """What `pgverdict doctor` says of the host as it was before the run; none where nobody looked."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Arms that the campaign asked for and that could not be had: how each was spelled, and why."""
