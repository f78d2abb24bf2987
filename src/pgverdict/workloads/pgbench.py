"""The pgbench group: work on the tables of `pgbench -i`. What each is taken from: docs/workloads.md."""

from collections.abc import Mapping
from dataclasses import dataclass

from pgverdict.spec.parameters import Parameter, Value
from pgverdict.spec.regime import Regime
from pgverdict.workloads.files import script
from pgverdict.workloads.pgbench_data import PARAMETERS, dataset, with_defaults
from pgverdict.workloads.workload import Entry, SliceBound, Workload

LONG_PAIRS = 4
"""Of work whose transactions take long: eight queries of a second each are a round that can still be afforded."""

BATCH_PAIRS = 12
"""Batches that change 10 000 rows each: 60 pairs of them would leave more dead rows than live ones."""


@dataclass(frozen=True)
class _Kind:
    """One script on the dataset, and how it is measured."""

    name: str
    about: str
    changes_data: bool = False
    reads_all: bool = False
    """Whether a transaction is a long query, on which other processes may work too."""
    pairs: int | None = None
    copy: bool = False
    script: str | None = None
    """The script, where it is not called as the workload."""
    parameters: tuple[Parameter, ...] = PARAMETERS

    def make(self, values: Mapping[str, Value]) -> Workload:
        by_work = self.changes_data or self.reads_all
        return Workload(
            name=self.name,
            about=self.about,
            dataset=dataset(values, copy=self.copy),
            scripts=(script(self.script or self.name),),
            regime=Regime.FRESH if self.changes_data else Regime.READ_ONLY,
            bound=SliceBound.TRANSACTIONS if by_work else SliceBound.TIME,
            has_workers=self.reads_all,
            is_long=self.reads_all,
            pairs=LONG_PAIRS if self.reads_all else self.pairs,
        )


_KINDS = (
    _Kind("select-only", "one account read by key, as pgbench -S"),
    _Kind("simple-update", "one account updated, read and noted in the history, as pgbench -N", changes_data=True),
    _Kind(
        "tpcb-like", "pgbench's default transaction: three updates, a read and an insert", changes_data=True
    ),
    _Kind(
        "tpcb-like-indexed",
        "the same with four more indexes",
        changes_data=True,
        script="tpcb-like",
        parameters=with_defaults(extra_indexes="lookups"),
    ),
    _Kind("batch-select", "10 001 neighbouring accounts read by key"),
    _Kind(
        "batch-update", "10 001 neighbouring accounts updated by key", changes_data=True, pairs=BATCH_PAIRS
    ),
    _Kind(
        "top-accounts",
        "the five richest accounts of a branch",
        parameters=with_defaults(extra_indexes="ranking"),
    ),
    _Kind(
        "top-accounts-all",
        "the five richest accounts of every branch",
        reads_all=True,
        parameters=with_defaults(extra_indexes="ranking"),
    ),
    _Kind("full-scan", "the highest balance of all accounts", reads_all=True),
    _Kind("analytic-q1", "average over a join of accounts and branches", reads_all=True, copy=True),
    _Kind("analytic-q2", "count of distinct keys of accounts", reads_all=True, copy=True),
    _Kind("analytic-q3", "count over a join of half the accounts with a copy", reads_all=True, copy=True),
    _Kind("analytic-q4", "sum over a join of a tenth of the accounts with a copy", reads_all=True, copy=True),
)  # fmt: skip

ENTRIES = tuple(Entry(kind.name, kind.parameters, kind.make) for kind in _KINDS)
