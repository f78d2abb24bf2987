"""The sysbench group: OLTP scripts, and single queries on their tables. Deviations: docs/workloads/sysbench.md."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgverdict.errors import UserError
from pgverdict.spec.parameters import Kind, Parameter, Value
from pgverdict.spec.regime import Regime
from pgverdict.workloads.workload import Dataset, Entry, Program, Room, SliceBound, Table, Workload

LANES = 4
"""Connections that load tables side by side."""

_BYTES_PER_SCALE = 2_700_000
"""Of a table with its two indexes: 10 000 rows of 217 bytes and what surrounds them."""

_DEFAULTS: dict[str, Value] = {
    "tables": 1, "transaction": True,
    "point_selects": 10, "simple_ranges": 1, "sum_ranges": 1, "order_ranges": 1, "distinct_ranges": 1,
    "index_updates": 1, "non_index_updates": 1, "delete_inserts": 1, "range_size": 100, "list_size": 10,
    "distribution": "uniform", "iterations": 12, "special_percent": 1.0, "special_repeated": 75.0,
    "pareto_h": 0.2, "zipfian_exponent": 0.8,
}  # fmt: skip
"""What the engine's program takes, with sysbench's defaults."""

_READS = ("point_selects", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges")
_WRITES = ("index_updates", "non_index_updates", "delete_inserts")
_SPREAD = (
    "distribution",
    "iterations",
    "special_percent",
    "special_repeated",
    "pareto_h",
    "zipfian_exponent",
)

_ABOUT = {
    "tables": "tables, of scale x 10 000 rows each",
    "transaction": "statements of an event between BEGIN and COMMIT (off: skip_trx)",
    "point_selects": "reads by key in an event",
    "simple_ranges": "reads of a range in an event",
    "sum_ranges": "sums over a range in an event",
    "order_ranges": "sorted reads of a range in an event",
    "distinct_ranges": "sorted reads of a range without repetitions in an event",
    "index_updates": "updates of the indexed column in an event",
    "non_index_updates": "updates of another column in an event",
    "delete_inserts": "rows deleted and inserted again in an event",
    "range_size": "rows of a range",
    "list_size": "keys, or ranges, in the list of a statement",
    "distribution": "how keys are spread (rand-type)",
    "iterations": "uniform numbers whose mean a gaussian or special one is",
    "special_percent": "percent of the keys that special requests go to",
    "special_repeated": "percent of the requests that do",
    "pareto_h": "shape of pareto: a share h of the keys gets a share 1 - h of the requests",
    "zipfian_exponent": "exponent of zipfian",
}


def _parameter(name: str, default: Value) -> Parameter:
    about = _ABOUT[name]
    match name:
        case "transaction":
            return Parameter(name, about, Kind.BOOLEAN, default)
        case "distribution":
            words = ("uniform", "gaussian", "special", "pareto", "zipfian")
            return Parameter(name, about, Kind.CHOICE, default, choices=words)
        case "special_percent" | "special_repeated":
            return Parameter(name, about, Kind.NUMBER, default, least=0, most=99)
        case "pareto_h":
            return Parameter(name, about, Kind.NUMBER, default, least=0.001, most=0.999)
        case "zipfian_exponent":
            return Parameter(name, about, Kind.NUMBER, default, least=0, most=10)
        case "tables" | "iterations":
            return Parameter(name, about, Kind.INTEGER, default, least=1, most=1000)
        case "range_size" | "list_size":
            most = 10_000_000 if name == "range_size" else 5000
            return Parameter(name, about, Kind.INTEGER, default, least=1, most=most)
    return Parameter(name, about, Kind.INTEGER, default, least=0, most=10_000)


@dataclass(frozen=True)
class _Event:
    """One script or query. `has` are the parameters it knows beside `tables` and how keys are spread."""

    name: str
    event: str
    about: str
    has: tuple[str, ...] = ()
    changes_data: bool = False
    reads_all: bool = False
    defaults: Mapping[str, Value] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        spread = () if self.reads_all else _SPREAD
        names = ("tables", *self.has, *spread)
        return tuple(_parameter(name, self.defaults.get(name, _DEFAULTS[name])) for name in names)

    def make(self, values: Mapping[str, Value]) -> Workload:
        given = {**_DEFAULTS, **self.defaults, **values, "event": self.event}
        counts = [name for name in self.has if name in (*_READS, *_WRITES)]
        if counts and not any(given[name] for name in counts):
            raise UserError(
                f"an event of sysbench-{self.name} without any statement: {', '.join(counts)} are all 0",
                hint="leave one of them above 0",
            )
        by_work = self.changes_data or self.reads_all
        return Workload(
            name=f"sysbench-{self.name}",
            about=self.about,
            dataset=_dataset(int(given["tables"])),
            regime=Regime.FRESH if self.changes_data else Regime.READ_ONLY,
            bound=SliceBound.TRANSACTIONS if by_work else SliceBound.TIME,
            program=Program("sysbench", tuple(sorted(given.items()))),
            has_workers=self.reads_all,
            is_long=self.reads_all,
        )


def _dataset(tables: int) -> Dataset:
    numbers = range(1, tables + 1)
    make = (
        "CREATE TABLE sbtest{n} (id serial NOT NULL, k integer NOT NULL DEFAULT 0,"
        " c char(120) NOT NULL DEFAULT '', pad char(60) NOT NULL DEFAULT '');\n"
    )
    finish = (
        "ALTER TABLE sbtest{n} ADD PRIMARY KEY (id);\nCREATE INDEX k_{n} ON sbtest{n} (k);\n"
        "SELECT setval('sbtest{n}_id_seq', max(id)) FROM sbtest{n};\n"
    )
    return Dataset(
        name="sysbench",
        revision=1,
        tables_sql="".join(make.format(n=n) for n in numbers),
        indexes_sql="".join(finish.format(n=n) for n in numbers),
        tables=tuple(Table(f"sbtest{n}", "sysbench", (("table", n),)) for n in numbers),
        bytes_per_scale=_BYTES_PER_SCALE * tables,
        lanes=min(LANES, tables),
    )


_LIST, _RANGE = ("list_size",), ("range_size",)
_MANY = {"list_size": 100}
_WIDE = {"range_size": 1000}

_EVENTS = (
    _Event("point-select", "point_select", "one row read by key"),
    _Event("oltp-read-only", "read_only", "ten reads by key and four of ranges, in a transaction",
           ("transaction", *_READS, "range_size")),
    _Event("oltp-write-only", "write_only", "two updates, and a row deleted and inserted again, in a transaction",
           ("transaction", *_WRITES), changes_data=True),
    _Event("oltp-read-write", "read_write", "the reads and the writes in one transaction",
           ("transaction", *_READS, *_WRITES, "range_size"), changes_data=True),
    _Event("update-index", "update_index", "an indexed column updated by key", changes_data=True),
    _Event("update-non-index", "update_non_index", "another column updated by key", changes_data=True),
    _Event("insert", "insert", "a row inserted", changes_data=True),
    _Event("delete", "delete", "a row deleted by key, if it is there", changes_data=True),
    _Event("select-random-points", "select_random_points", "rows of one table by a list of indexed values", _LIST),
    _Event("select-random-ranges", "select_random_ranges", "rows of one table counted in several ranges", _LIST),
    _Event("update-inlist", "update_inlist", "the rows of a list of keys updated", _LIST, changes_data=True,
           defaults=_MANY),
    _Event("update-one", "update_one", "always the same row updated", changes_data=True),
    _Event("update-zipf", "update_non_index", "popular rows updated by key", changes_data=True,
           defaults={"distribution": "zipfian"}),
    _Event("simple-range", "simple_range", "a range read", _RANGE, defaults=_WIDE),
    _Event("sum-range", "sum_range", "a sum over a range", _RANGE, defaults=_WIDE),
    _Event("order-range", "order_range", "a range read and sorted", _RANGE, defaults=_WIDE),
    _Event("distinct-range", "distinct_range", "a range read without repetitions", _RANGE, defaults=_WIDE),
    _Event("count-range", "count_range", "the rows of a range counted", _RANGE, defaults=_WIDE),
    _Event("scan", "scan", "a whole table read, of which nothing is returned", reads_all=True),
    _Event("random-points", "random_points", "the rows of a list of keys", _LIST, defaults=_MANY),
    _Event("hot-points", "hot_points", "always the same neighbouring rows by a list of keys", _LIST, defaults=_MANY),
    _Event("points-covered-pk", "points_covered_pk", "a list of keys, from the index of keys", _LIST, defaults=_MANY),
    _Event("points-notcovered-pk", "points_notcovered_pk", "a list of keys, and a column", _LIST, defaults=_MANY),
    _Event("points-covered-si", "points_covered_si", "a list of indexed values, from their index", _LIST,
           defaults=_MANY),
    _Event("points-notcovered-si", "points_notcovered_si", "a list of indexed values, and a column", _LIST,
           defaults=_MANY),
    _Event("range-covered-pk", "range_covered_pk", "a range of keys, from the index of keys", _RANGE),
    _Event("range-notcovered-pk", "range_notcovered_pk", "a range of keys, and a column", _RANGE),
    _Event("range-covered-si", "range_covered_si", "a range of indexed values, from their index", _RANGE),
    _Event("range-notcovered-si", "range_notcovered_si", "a range of indexed values, and a column", _RANGE),
)  # fmt: skip

_BULK = "sysbench-bulk-insert"

_BULK_PARAMETERS = (
    Parameter("tables", "tables, one for each client", Kind.INTEGER, 8, least=1, most=1000),
    Parameter("rows", "rows of a statement", Kind.INTEGER, 1000, least=1, most=2500),
)


def _make_bulk(values: Mapping[str, Value]) -> Workload:
    """Tables of two columns that are empty when a round begins, whatever the scale."""
    tables = int(values["tables"])
    make = "CREATE TABLE sbtest{n} (id integer NOT NULL, k integer NOT NULL DEFAULT 0, PRIMARY KEY (id));\n"
    return Workload(
        name=_BULK,
        about="many rows in a statement, inserted in the order of their keys into a table of each client",
        dataset=Dataset(
            name="sysbench-bulk",
            revision=1,
            tables_sql="".join(make.format(n=n) for n in range(1, tables + 1)),
            indexes_sql="",
            tables=(),
            bytes_per_scale=_BYTES_PER_SCALE,
        ),
        regime=Regime.FRESH,
        bound=SliceBound.TRANSACTIONS,
        program=Program(_BULK, tuple(sorted(values.items()))),
        room=Room(0, "tables", "-p tables=N for N clients", clients=tables),
    )


ENTRIES = (
    *(Entry(f"sysbench-{event.name}", event.parameters, event.make) for event in _EVENTS),
    Entry(_BULK, _BULK_PARAMETERS, _make_bulk),
)
