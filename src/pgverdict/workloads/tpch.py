"""The workload derived from TPC-H: its tables, 22 queries as streams, refresh functions, and what may be chosen.

docs/workloads/tpch.md says where it departs from the specification. Its results are not comparable with published
TPC-H results.
"""

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from pgverdict.errors import UserError
from pgverdict.spec.parameters import Kind, Parameter, Value, spell
from pgverdict.spec.regime import Regime
from pgverdict.workloads import tpch_variables
from pgverdict.workloads.files import checks_of, text_of
from pgverdict.workloads.workload import (
    Check,
    Dataset,
    Entry,
    Refresh,
    Room,
    Script,
    SliceBound,
    Streams,
    Table,
    Task,
    Workload,
)

QUERIES = range(1, 23)

_TABLES = ("lineitem", "orders", "region", "partsupp", "nation", "part", "supplier", "customer")
"""In the order in which they are dealt to the two connections that load: the largest table is one's, with small ones.
No table is loaded in shares, so that its rows lie in the same order in every load."""

SCALE_FACTOR_ANY = 0.03
SCALE_FACTORS_SMALL = (0.01, 0.02)
"""A part's suppliers are steps of S/4 to S/4 + 19 apart, of S in all: two are the same where twice such a step is S, or
three times, which can be up to 228 suppliers (scale factor 0.0228) and is not for 100 and 200."""

_REFRESH_TABLES = ("refresh_lineitem", "refresh_orders")
REFRESH_FUNCTIONS = ("rf1", "rf2")

_BYTES_PER_SET = 2_000_000
"""A thousandth of orders and lineitem."""

_BYTES_PER_SCALE = {"keys": 2_000_000_000, "benchbase": 4_000_000_000, "none": 1_400_000_000}

_PARAMETERS = (
    Parameter(
        "scale_factor",
        "scale factor of TPC-H for each unit of --scale: 0.01 makes ten megabytes of rows of what is a gigabyte",
        Kind.NUMBER,
        1.0,
        least=0.01,
        most=1.0,
    ),
    Parameter(
        "indexes",
        "primary keys with indexes for foreign keys, all that BenchBase has, or none",
        Kind.CHOICE,
        "keys",
        choices=tuple(_BYTES_PER_SCALE),
    ),
    Parameter(
        "refresh_sets",
        "sets of rows for the refresh functions, one for each client; 0: data is only read",
        Kind.INTEGER,
        0,
        least=0,
        most=100,
    ),
    Parameter("foreign_keys", "foreign keys are declared and checked", Kind.BOOLEAN, False),
    Parameter("analyze", "ANALYZE before every round", Kind.BOOLEAN, True),
    Parameter("warm_up", "every stream runs once uncounted before it counts", Kind.BOOLEAN, True),
)


def script_name(query: int) -> str:
    """What a query is called everywhere.

    >>> script_name(5)
    'q05'
    """
    return f"q{query:02}"


def draw_stream(seed: int, scale: int, *, scale_factor: float) -> tuple[Task, ...]:
    """All queries once, in an order and with values of their variables that follow from the seed."""
    source = random.Random(seed)
    order = source.sample(QUERIES, len(QUERIES))
    drawn = {query: tpch_variables.draw(query, source, scale * scale_factor) for query in QUERIES}
    return tuple(Task(script_name(query), tuple(drawn[query].items())) for query in order)


def refresh_tasks(number: int) -> tuple[Task, ...]:
    """Both refresh functions with the same set, in their order."""
    return tuple(Task(name, (("refresh_set", number),)) for name in REFRESH_FUNCTIONS)


def _refreshed(sets: int) -> Check:
    """That the first so many sets were inserted, and the orders deleted that they take the place of."""
    (check,) = checks_of("checks/tpch-refreshed.sql")
    return replace(check, sql=check.sql.replace(":sets", str(sets)))


def _make(values: Mapping[str, Value]) -> Workload:
    indexes, scale_factor = str(values["indexes"]), float(values["scale_factor"])
    sets = int(values["refresh_sets"])
    if scale_factor < SCALE_FACTOR_ANY and scale_factor not in SCALE_FACTORS_SMALL:
        raise UserError(
            "at some sizes so small TPC-H's generator gives a part the same supplier twice:"
            f" scale_factor={scale_factor:g}",
            hint=f"0.01, 0.02, or {SCALE_FACTOR_ANY:g} or more",
        )
    if values["foreign_keys"] and indexes == "none":
        raise UserError(
            "foreign keys refer to primary keys, which indexes=none leaves out: foreign_keys=on",
            hint="leave out foreign_keys, or choose indexes=keys",
        )
    names = [*map(script_name, QUERIES), *(REFRESH_FUNCTIONS if sets else ())]
    return Workload(
        name="tpch",
        about="the 22 queries of TPC-H on its tables, each once in every round; not comparable with published results",
        dataset=_dataset(indexes, scale_factor, sets, foreign_keys=bool(values["foreign_keys"])),
        scripts=tuple(Script(name, text_of(f"scripts/tpch/{name}.sql")) for name in names),
        regime=Regime.FRESH if sets else Regime.READ_ONLY,
        bound=SliceBound.TRANSACTIONS,
        has_workers=True,
        is_long=True,
        streams=Streams(
            draw=partial(draw_stream, scale_factor=scale_factor),
            length=len(names),
            warm_up=bool(values["warm_up"]),
            analyze=bool(values["analyze"]),
            refresh=Refresh(refresh_tasks, sets, _refreshed) if sets else None,
        ),
        room=Room(0, "sets of rows for the refresh functions", "-p refresh_sets=N for N clients", sets)
        if sets
        else None,
    )


def _dataset(indexes: str, scale_factor: float, sets: int, *, foreign_keys: bool) -> Dataset:
    parts = ["tpch", indexes, *(["fk"] if foreign_keys else []), *([f"rf{sets}"] if sets else [])]
    after = {
        "keys": ["tpch-primary-keys", "tpch-indexes-keys"],
        "benchbase": ["tpch-primary-keys", "tpch-indexes-benchbase"],
        "none": [],
    }[indexes]
    after += ["tpch-foreign-keys"] if foreign_keys else []
    after += ["tpch-refresh-keys"] if sets else []
    factor = ("scale_factor", scale_factor)
    refresh = tuple(Table(name, f"tpch_{name}", (factor, ("sets", sets))) for name in _REFRESH_TABLES)
    return Dataset(
        name="-".join(parts) + ("" if scale_factor == 1 else f"-sf{spell(scale_factor)}"),
        revision=1,
        tables_sql=text_of("schema/tpch-tables.sql")
        + (text_of("schema/tpch-refresh-tables.sql") if sets else ""),
        indexes_sql="\n".join(text_of(f"schema/{name}.sql") for name in after),
        tables=(*(Table(name, f"tpch_{name}", (factor,)) for name in _TABLES), *(refresh if sets else ())),
        lanes=2,
        bytes_per_scale=round((_BYTES_PER_SCALE[indexes] + sets * _BYTES_PER_SET) * scale_factor),
        checks=checks_of("checks/tpch-refresh.sql") if sets else (),
    )


ENTRIES = (Entry("tpch", _PARAMETERS, _make),)
