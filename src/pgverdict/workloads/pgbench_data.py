"""The datasets of the pgbench group: the tables of `pgbench -i`, and what parameters make of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pgverdict.errors import UserError
from pgverdict.spec.parameters import Kind, Parameter, Value
from pgverdict.workloads.files import text_of
from pgverdict.workloads.partitions import Partitioning, PartitionMethod
from pgverdict.workloads.workload import Dataset, Need, Table

ACCOUNTS_PER_SCALE = 100_000

PARTITIONS_MOST = 1024

INDEX_SETS = ("none", "lookups", "ranking")

PARAMETERS = (
    Parameter(
        "partitions",
        "partitions of pgbench_accounts, 0 for none; from release 11 on",
        Kind.INTEGER,
        0,
        least=0,
        most=PARTITIONS_MOST,
    ),
    Parameter(
        "partition_method",
        "how accounts find their partition",
        Kind.CHOICE,
        "range",
        choices=tuple(method.value for method in PartitionMethod),
    ),
    Parameter(
        "fillfactor",
        "how full the pages of accounts, tellers and branches are loaded, in %",
        Kind.INTEGER,
        100,
        least=10,
        most=100,
    ),
    Parameter("unlogged", "whether tables write no WAL", Kind.BOOLEAN, False),
    Parameter("foreign_keys", "whether tables refer to each other, as pgbench -i makes them", Kind.BOOLEAN, False),
    Parameter(
        "extra_indexes",
        "indexes beside the primary keys: lookups are accounts(bid), history(tid), history(bid, aid) and"
        " history(mtime), ranking is accounts(bid, abalance)",
        Kind.CHOICE,
        "none",
        choices=INDEX_SETS,
    ),
)  # fmt: skip

_BYTES_PER_SCALE = 16_000_000
_HEAP_BYTES_PER_SCALE = 13_500_000
_INDEX_BYTES_PER_SCALE = {"none": 0, "lookups": 2_300_000, "ranking": 2_300_000}
"""Releases before 13 keep every duplicate."""


@dataclass(frozen=True)
class Layout:
    """The parameters of the data, as values."""

    partitions: int
    method: PartitionMethod
    fillfactor: int
    unlogged: bool
    foreign_keys: bool
    extra_indexes: str

    @classmethod
    def of(cls, values: Mapping[str, Value]) -> "Layout":
        """From PARAMETERS; UserError where some contradict each other."""
        layout = cls(
            int(values["partitions"]),
            PartitionMethod(values["partition_method"]),
            int(values["fillfactor"]),
            bool(values["unlogged"]),
            bool(values["foreign_keys"]),
            str(values["extra_indexes"]),
        )
        layout._require_sense()
        return layout

    def _require_sense(self) -> None:
        if not self.partitions and self.method is not PartitionMethod.RANGE:
            raise UserError(
                f"a method for partitions that there are not: partition_method={self.method.value}",
                hint="choose partitions as well, for example partitions=16",
            )
        if self.partitions and self.unlogged and self.foreign_keys:
            raise UserError(
                "a partitioned table is logged, and cannot refer to unlogged ones:"
                f" partitions={self.partitions} with unlogged and foreign_keys",
                hint="leave one of the three out",
            )


def with_defaults(**defaults: Value) -> tuple[Parameter, ...]:
    """PARAMETERS with other defaults."""
    return tuple(replace(one, default=defaults.get(one.name, one.default)) for one in PARAMETERS)


def dataset(values: Mapping[str, Value], *, copy: bool = False) -> Dataset:
    """The dataset of these parameters; with `copy`, and pgbench_accounts_copy, which has the same rows.

    One COPY fills a table from its first row to its last, so rows lie in the same order in every load.
    """
    layout = Layout.of(values)
    names = ["pgbench_branches", "pgbench_tellers", "pgbench_accounts"]
    tables = [Table(name, name) for name in names]
    if copy:
        tables.append(Table("pgbench_accounts_copy", "pgbench_accounts"))
    heaps = _HEAP_BYTES_PER_SCALE * (2 if copy else 1)
    spread = heaps * (100 - layout.fillfactor) // layout.fillfactor
    return Dataset(
        name="pgbench-copy" if copy else "pgbench",
        revision=1,
        tables_sql=_tables_sql(layout, copy=copy),
        indexes_sql=_indexes_sql(layout, copy=copy),
        tables=tuple(tables),
        bytes_per_scale=_BYTES_PER_SCALE * (2 if copy else 1)
        + spread
        + _INDEX_BYTES_PER_SCALE[layout.extra_indexes],
        partitioning=Partitioning(
            "pgbench_accounts",
            "aid",
            layout.partitions,
            layout.method,
            ACCOUNTS_PER_SCALE,
            layout.unlogged,
            layout.fillfactor,
        )
        if layout.partitions
        else None,
        needs=_needs(layout),
    )


def _tables_sql(layout: Layout, *, copy: bool) -> str:
    """As pgbench makes them: the fill factor is written even where it is the default, and never for the history."""
    unlogged = "UNLOGGED " if layout.unlogged else ""
    fill = f" WITH (fillfactor = {layout.fillfactor})"
    account = "aid int NOT NULL, bid int, abalance int, filler char(84)"
    statements = [
        f"CREATE {unlogged}TABLE pgbench_history"
        " (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22))",
        f"CREATE {unlogged}TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, filler char(84)){fill}",
        f"CREATE TABLE pgbench_accounts ({account}) PARTITION BY {layout.method.value.upper()} (aid)"
        if layout.partitions
        else f"CREATE {unlogged}TABLE pgbench_accounts ({account}){fill}",
        f"CREATE {unlogged}TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler char(88)){fill}",
    ]
    if copy:
        # What CREATE TABLE AS gives: the columns, and nothing that was said of them.
        statements.append(
            f"CREATE {unlogged}TABLE pgbench_accounts_copy (aid int, bid int, abalance int, filler char(84))"
        )
    return "".join(f"{one};\n" for one in statements)


def _indexes_sql(layout: Layout, *, copy: bool) -> str:
    """What comes after the data, in pgbench's order, and then what it does not have."""
    return "".join(
        (
            text_of("schema/pgbench-keys.sql"),
            text_of("schema/pgbench-foreign-keys.sql") if layout.foreign_keys else "",
            text_of(f"schema/pgbench-{layout.extra_indexes}.sql") if layout.extra_indexes != "none" else "",
            text_of("schema/pgbench-copy.sql") if copy else "",
        )
    )


def _needs(layout: Layout) -> tuple[Need, ...]:
    if not layout.partitions:
        return ()
    needs = [Need(11, "a primary key on a partitioned table")]
    if layout.foreign_keys:
        needs.append(Need(12, "foreign keys that refer to a partitioned table"))
    return tuple(needs)
