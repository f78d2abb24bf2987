"""The workload that a user's own work makes, and the workload of any cell."""

from pgverdict.errors import UserError
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.own import OwnWork
from pgverdict.spec.parameters import Parameter, filled
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue, pgbench, pgbench_data
from pgverdict.workloads.workload import Dataset, Script, SliceBound, Workload

_LOAD_SIZE, _DUMP_SIZE = 3, 8
"""What becomes of SQL that inserts, and of a compressed dump, on disk with indexes: guesses, for plans only."""

_BYTES_MIN = 16_000_000


def workload_of(cell: CellSpec) -> Workload:
    """Of a cell: its own work, or the entry of the catalogue that it names."""
    if cell.own is None:
        return catalogue.workload(cell.workload, cell.parameters)
    return own_workload(cell.own, cell)


def parameters_of(own: OwnWork) -> tuple[Parameter, ...]:
    """What may be chosen where scripts work on pgbench's tables; nothing where they bring their data."""
    return () if own.has_data else pgbench_data.PARAMETERS


def own_regime(own: OwnWork) -> Regime:
    """On which data its rounds work where nothing is chosen."""
    return Regime.READ_ONLY if own.read_only else Regime.FRESH


def own_workload(own: OwnWork, cell: CellSpec) -> Workload:
    """Transactions are counted, not timed, since nothing is known of how long they take."""
    values = filled(cell.parameters, parameters_of(own), of=own.name)
    few = own.long and pgbench.LONG_PAIRS
    return Workload(
        name=own.name,
        about="your own scripts",
        dataset=_dataset(own, cell.scale) if own.has_data else pgbench_data.dataset(values),
        scripts=tuple(Script(script.name, script.text, script.weight) for script in own.scripts),
        regime=own_regime(own),
        bound=SliceBound.TRANSACTIONS,
        has_workers=own.long,
        is_long=own.long,
        pairs=few or None,
        allow=own.allow,
    )


def _dataset(own: OwnWork, scale: int) -> Dataset:
    schema, load = (one.at(scale) if one else "" for one in (own.schema, own.load))
    if "\0" in schema + load:
        raise UserError(f"SQL with a zero byte: {own.name}")
    size = _LOAD_SIZE * len(load) + _DUMP_SIZE * (own.dump.bytes if own.dump else 0)
    return Dataset(
        name="own",
        revision=1,
        tables_sql=schema,
        indexes_sql="",
        tables=(),
        bytes_per_scale=max(_BYTES_MIN, size) // scale + 1,
        rows_sql=load,
        dump=own.dump,
    )
