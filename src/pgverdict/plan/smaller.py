"""What `--small` makes of a campaign: the same matrix on data that a laptop loads in seconds.

Scales, sizes, memory limits and shared buffers are divided by one number, so that what fitted into memory still
does, and what did not still does not. Client counts that a laptop has no use for are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pgverdict.plan.point import Point
from pgverdict.plan.rounds import usual_pairs
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.confinement import spell_size
from pgverdict.spec.file import SmallTable
from pgverdict.spec.quantities import is_size, size_bytes
from pgverdict.spec.regime import Regime
from pgverdict.spec.sizes import data_size
from pgverdict.spec.tuning import MEMORY_BYTES_MIN as TUNED_LEAST
from pgverdict.workloads.own import workload_of
from pgverdict.workloads.regimes import regime_of

BYTES_MOST = 400_000_000
"""The largest dataset, where the file does not say by what to divide."""

CLIENTS_PER_CORE = 4

MEMORY_LEAST = 128 << 20
SHARED_BUFFERS_LEAST = 1 << 20
"""With less, servers do little but look after themselves."""


@dataclass(frozen=True)
class Smaller:
    """`table`: what the file says of it; the rest as it is to be used."""

    table: SmallTable | None
    clients_most: int
    bytes_most: int = BYTES_MOST

    def divisor(self, bytes_largest: int) -> int:
        """What the file says; else 1 where it says sizes, and as it takes to come to `bytes_most`."""
        if self.table is not None and self.table.divide is not None:
            return self.table.divide
        if self.table is not None and (self.table.scale or self.table.size or self.table.memory):
            return 1
        return max(1, -(-bytes_largest // self.bytes_most))

    @property
    def arms(self) -> Sequence[str] | None:
        return self.table.arms if self.table else None

    @property
    def memory(self) -> str | None:
        return self.table.memory if self.table else None

    @property
    def budget(self) -> str | None:
        return self.table.budget if self.table else None

    @property
    def rounds(self) -> int | None:
        return self.table.rounds if self.table else None

    @property
    def exclude(self) -> Sequence[Mapping[str, Sequence[Any]]]:
        return self.table.exclude if self.table else ()

    @property
    def settings(self) -> Mapping[str, Any]:
        """Those with one value take the place of the campaign's; lists are axes."""
        said = self.table.settings if self.table else {}
        return {name: values[0] for name, values in said.items() if len(values) == 1}

    def axes(
        self, axes: Mapping[str, Sequence[Any]], said: Mapping[str, Sequence[Any]]
    ) -> dict[str, Sequence[Any]]:
        """The axes of a table with those that the file has a small version of."""
        made = dict(axes)
        for name, values in said.items():
            if name in ("scale", "size") and ("scale" in made or "size" in made):
                made.pop("scale", None)
                made.pop("size", None)
                made[name] = values
            elif name in made:
                made[name] = values
        if "clients" in made and "clients" not in said:
            counts = made["clients"]
            made["clients"] = [n for n in counts if n <= self.clients_most] or [min(counts)]
        return made

    def campaign(self, campaign: Campaign, by: int) -> Campaign:
        """With memory and shared buffers divided, where the file does not say what they are when small."""
        memory = campaign.memory_bytes
        if memory is not None and self.memory is None:
            memory = max(MEMORY_LEAST, (memory // by) >> 10 << 10)
        arms = campaign.arms
        if "shared_buffers" not in self.settings:
            arms = tuple(replace(arm, settings=_divided(arm.settings, by)) for arm in arms)
        tuning = campaign.tuning
        if tuning is not None and self.memory is None:
            tuning = replace(tuning, memory_bytes=max(TUNED_LEAST, tuning.memory_bytes // by))
        return replace(campaign, memory_bytes=memory, arms=arms, tuning=tuning)

    def point(self, point: Point, by: int) -> Point:
        """With its data and shared buffers divided."""
        settings = _divided(point.settings, by)
        if self.table and (self.table.scale or self.table.size):
            return replace(point, settings=settings)
        size = point.size
        if size is not None and (wanted := data_size(size)).of is None:
            size = f"{max(1, int(wanted.number) // by >> 10)}kB"
        return replace(point, scale=max(1, point.scale // by), size=size, settings=settings)

    def cell(self, cell: CellSpec) -> CellSpec:
        """With no more pairs than the file allows, where a round consists of as many as one likes."""
        most = self.table.pairs if self.table else None
        workload = workload_of(cell)
        regime = regime_of(cell, workload)
        is_cut = (
            regime in (Regime.READ_ONLY, Regime.FRESH) and cell.cache is Cache.WARM and not workload.streams
        )
        if most is None or not is_cut:
            return cell
        return replace(cell, pairs=most) if most < (cell.pairs or usual_pairs(workload, regime)) else cell


def smaller(table: SmallTable | None, cores: int) -> Smaller:
    """By what the file says of it, or by rule."""
    return Smaller(table, CLIENTS_PER_CORE * cores)


def _divided(settings: Sequence[tuple[str, str]], by: int) -> tuple[tuple[str, str], ...]:
    return tuple((name, _less(value, by) if name == "shared_buffers" else value) for name, value in settings)


def _less(value: str, by: int) -> str:
    if not is_size(value):
        return value
    return spell_size(
        max(min(size_bytes(value), SHARED_BUFFERS_LEAST), (size_bytes(value) // by) >> 10 << 10)
    )
