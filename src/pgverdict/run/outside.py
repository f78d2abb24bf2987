"""Arms whose servers somebody else runs: what cannot be asked of them, where a run stays, what they turn out to be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pgverdict.datasets.load import DATABASE
from pgverdict.datasets.outside import OutsideLoad, OutsideSpec
from pgverdict.errors import UserError
from pgverdict.observe import views
from pgverdict.observe.host import host_name
from pgverdict.servers.containers import Container, run_image, sweep_containers
from pgverdict.servers.facts import Facts, ask_cluster
from pgverdict.servers.outside import OutsideServer
from pgverdict.servers.stay import Stay
from pgverdict.servers.supervisor import Supervisor
from pgverdict.spec.arms import Arm
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign, Defaults, Freeze
from pgverdict.spec.regime import Regime
from pgverdict.spec.spelling import Image, read_spelling, whereabouts
from pgverdict.workloads.own import workload_of
from pgverdict.workloads.regimes import regime_of

LEFT_OUT = (
    "a server that somebody else runs: it is not started anew for each round, so what one start gave it is in"
    " the effect and in no interval",
    "processor time, reads from storage and the warmth of its data are not known of a server that is not ours",
)
"""What is said of every such arm."""

NO_CHECKPOINT = (
    "no checkpoint may be asked for there: what fresh copies left unwritten is written while it is measured"
)


IN_A_CONTAINER = (
    "a server in a container: it is started once for the run and not anew for each round, so what that start gave it is"
    " in the effect and in no interval",
    LEFT_OUT[1],
)
"""The same of an arm in a container."""


@dataclass
class Stays:
    """The servers that a run only connects to: one stay for each URI, one container for each arm that wants one. What
    was loaded there is loaded once."""

    loads: dict[OutsideSpec, OutsideLoad] = field(default_factory=dict)
    _open: dict[str, Stay] = field(default_factory=dict)
    _containers: dict[str, Container] = field(default_factory=dict)

    def at(self, dsn: str) -> Stay:
        """UserError or WorldError for a server that cannot be measured on."""
        if dsn not in self._open:
            self._open[dsn] = Stay(dsn)
        return self._open[dsn]

    def inside(self, arm: Arm, image: str, supervisor: Supervisor, say: Callable[[str], None]) -> Stay:
        """A container of the arm's own, started with its settings."""
        if not self._containers:
            for remains in sweep_containers(host_name()):
                say(remains)
        if arm.name not in self._containers:
            if arm.optional:
                raise UserError(
                    f"a setting of a server in a container cannot be optional: {arm.optional[0]}",
                    hint="its release is not known before it starts; leave out the question mark",
                )
            self._containers[arm.name] = run_image(image, dict(arm.settings), host_name(), supervisor)
        return self._containers[arm.name].stay

    def close(self) -> None:
        """Remove what was made there. All are left, whatever one of them says of it."""
        try:
            while self._containers:
                self._containers.popitem()[1].remove()
            while self._open:
                self._open.popitem()[1].close()
        finally:
            if self._open or self._containers:
                self.close()


def is_outside(arm: Arm) -> bool:
    """Whether the arm's server is only connected to."""
    return whereabouts(arm.server) is not None


def require_doable(campaign: Campaign, handicaps: Mapping[int, Any]) -> None:
    """UserError for what is asked of a server that somebody else runs and cannot be had there."""
    outside = [arm for arm in campaign.arms if is_outside(arm)]
    if not outside:
        return
    asked = {
        "--freeze": campaign.freeze is not Freeze.OFF,
        "--memory": campaign.memory_bytes is not None,
        "--cores": campaign.cores is not None,
        "--tune": campaign.tuning is not None,
        "--as aligned": campaign.defaults is Defaults.ALIGNED,
        "--cache cold": any(cell.cache is Cache.COLD for cell in campaign.cells),
        "a chain of steps": any(workload_of(cell).chain is not None for cell in campaign.cells),
        "--regime steady": any(
            regime_of(cell, workload_of(cell)) is Regime.STEADY for cell in campaign.cells
        ),
        "--primary server_cpu_us_per_txn": any(
            cell.primary == "server_cpu_us_per_txn" for cell in campaign.cells
        ),
        "--handicap": bool(handicaps) or any(arm.handicap_ns for arm in campaign.arms),
        "--data-directory": any(arm.data_directory is not None for arm in outside),
        "--wal-directory": any(arm.wal_directory is not None for arm in outside),
    }
    for option, wanted in asked.items():
        if wanted:
            raise UserError(
                f"{option} cannot be had of a server that {_whose(outside[0])}: {outside[0].server}",
                hint=f"leave out {option}, or compare servers that pgverdict starts",
            )


def require_started_here(campaign: Campaign) -> None:
    """UserError for a calibration with a server that is only connected to."""
    if is_outside(campaign.arms[0]):
        raise UserError(
            f"a host is calibrated with a server that is started on it: {campaign.arms[0].server}",
            hint="`pgverdict calibrate 17`",
        )


def _whose(arm: Arm) -> str:
    return "is in a container" if isinstance(read_spelling(arm.server), Image) else "somebody else runs"


@dataclass(frozen=True)
class Met:
    """What an arm turned out to be. `facts` are the cluster's."""

    facts: Facts
    settings: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    free_connections: int


def meet_outside(arm: Arm, stay: Stay, database: str) -> Met:
    """Look at an arm as its sessions will find it; `database`: a load of it."""
    server = OutsideServer(stay, {DATABASE: database})
    with views.session(server, DATABASE) as connection:
        notes = tuple(
            f"{name}: not there, or not for this user, so {loss}"
            for name, loss in views.EXTENSIONS.items()
            if not views.has_extension(connection, name)
        )
        may_checkpoint = stay.checkpoint()
        return Met(
            facts=ask_cluster(connection),
            settings=views.changed_settings(connection),
            notes=(
                *(IN_A_CONTAINER if isinstance(read_spelling(arm.server), Image) else LEFT_OUT),
                *notes,
                *(() if may_checkpoint else (NO_CHECKPOINT,)),
            ),
            free_connections=stay.free_connections(),
        )
