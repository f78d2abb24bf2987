"""The built-in workloads by name."""

from importlib.resources import files

from pgverdict.errors import unknown_word
from pgverdict.spec.regime import Regime
from pgverdict.workloads.workload import Dataset, Script, SliceBound, Table, Workload

_HERE = files("pgverdict.workloads")


def _text(path: str) -> str:
    return _HERE.joinpath(path).read_text(encoding="utf-8")


def _script(name: str) -> Script:
    return Script(name, _text(f"scripts/{name}.sql"))


PGBENCH = Dataset(
    name="pgbench",
    revision=1,
    tables_sql=_text("schema/pgbench-tables.sql"),
    indexes_sql=_text("schema/pgbench-indexes.sql"),
    tables=tuple(Table(name, name) for name in ("pgbench_branches", "pgbench_tellers", "pgbench_accounts")),
    bytes_per_scale=16_000_000,
)

_WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            name="select-only",
            about="one account read by key, as pgbench -S",
            dataset=PGBENCH,
            scripts=(_script("select-only"),),
            regime=Regime.READ_ONLY,
            bound=SliceBound.TIME,
        ),
        Workload(
            name="simple-update",
            about="one account updated, read and noted in the history, as pgbench -N",
            dataset=PGBENCH,
            scripts=(_script("simple-update"),),
            regime=Regime.FRESH,
            bound=SliceBound.TRANSACTIONS,
        ),
        Workload(
            name="tpcb-like",
            about="pgbench's default transaction: three updates, a read and an insert",
            dataset=PGBENCH,
            scripts=(_script("tpcb-like"),),
            regime=Regime.FRESH,
            bound=SliceBound.TRANSACTIONS,
        ),
    )
}


def names() -> tuple[str, ...]:
    """Every workload's name, in the order of the catalogue."""
    return tuple(_WORKLOADS)


def workload(name: str) -> Workload:
    """The workload of that name; UserError, with the nearest one offered, if there is none."""
    try:
        return _WORKLOADS[name]
    except KeyError:
        raise unknown_word("workload", name, _WORKLOADS) from None
