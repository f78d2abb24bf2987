"""In which regimes a workload is measured, those that were asked for or its own, and what decides it there."""

from collections.abc import Sequence

from pgverdict.errors import UserError
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.metrics import OF_STREAMS
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue
from pgverdict.workloads.workload import Workload

STEPS_PRIMARY = "step_rate_geomean"
"""Of a chain; no other metric of a whole cell can be told of one."""

_HEADLINE_FIRST = (Regime.STEADY, Regime.FRESH)
"""Of two regimes of one workload the steady one says more, so it comes first wherever cells are listed."""


def regime_of(cell: CellSpec, workload: Workload) -> Regime:
    """On which data the rounds of a cell of the workload work: the regime chosen for it, or the workload's own."""
    return cell.regime or workload.regime


def primary_of(cell: CellSpec, workload: Workload) -> str:
    """The metric that decides a cell of the workload: the one chosen for it, or by its regime (METHODOLOGY.md#metrics).

    In rounds of seconds one kind of transaction is decided by its typical time. Rounds that go through checkpoints and
    vacuums are decided by their total, which these are a part of; so is a mix, which has no typical transaction, and a
    cold cell, in which a transaction reads from storage or does not, and what reading costs is the sum.
    A stream is decided by the geometric mean, in which every query weighs the same, however long it takes; streams at
    once by their total. A chain is decided by the mean of its steps, in which each weighs the same, however long it
    takes. Work that comes at a rate of its own is decided by its mean time, since its throughput is that rate.
    """
    if cell.primary is not None:
        return cell.primary
    if workload.chain is not None:
        return STEPS_PRIMARY
    if workload.is_paced:
        return "latency_us_mean"
    if workload.streams is not None and cell.clients == 1:
        return OF_STREAMS
    steady = regime_of(cell, workload) is Regime.STEADY
    whole = steady or workload.streams is not None or workload.is_mix or cell.cache is Cache.COLD
    return "tps" if whole else "latency_us_p50"


def regimes_of(workload: Workload, asked: Sequence[Regime]) -> tuple[Regime | None, ...]:
    """One regime per cell of the workload, the steady one first; None stands for the workload's own.

    UserError where a regime is asked for that a workload cannot be measured in, or twice.
    """
    if not asked:
        return (None,)
    words = ", ".join(regime.value for regime in asked)
    if workload.regime not in _HEADLINE_FIRST or workload.streams is not None:
        others = [name for name in catalogue.names() if catalogue.workload(name).regime in _HEADLINE_FIRST]
        why = {
            Regime.READ_ONLY: "changes no data",
            Regime.FRESH: "does its work once on every copy of its data",
            Regime.CHAIN: "is a chain of steps",
        }[workload.regime]
        raise UserError(
            f"the workload {workload.name} {why} and has no regime to choose: {words}",
            hint=f"leave out --regime, or choose a workload that changes data: {', '.join(others)}",
        )
    if len(set(asked)) != len(asked):
        raise UserError(f"the same regime is named twice: {words}", hint="name each once")
    return tuple(None if r is workload.regime else r for r in _HEADLINE_FIRST if r in asked)
