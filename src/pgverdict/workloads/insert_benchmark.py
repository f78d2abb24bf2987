"""The Insert Benchmark: its steps, and what may be chosen of them.

docs/workloads/insert-benchmark.md says what it is taken from and where it departs from that.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from pgverdict.errors import UserError
from pgverdict.spec.parameters import Kind, Parameter, Value
from pgverdict.spec.regime import Regime
from pgverdict.workloads.chain import Chain, Operation, Step
from pgverdict.workloads.workload import Dataset, Entry, Need, SliceBound, Workload

NAME = "insert-benchmark"

_COLUMNS = (
    "transactionid bigserial, dateandtime timestamp without time zone, cashregisterid int NOT NULL,"
    " customerid int NOT NULL, productid int NOT NULL, price int NOT NULL, data varchar(4000),"
    " PRIMARY KEY (transactionid)"
)

_INDEXES = (
    ("marketsegment", "productid, customerid, price"),
    ("registersegment", "cashregisterid, customerid, price"),
    ("pdc", "price, dateandtime, customerid"),
)

_SEQUENCE_CACHE = 1000

_BYTES_PER_ROW = 260
"""Of the table with its four indexes, after random inserts, about."""

_WAIT_S_MOST = 1200
_ROWS_PER_WAIT_S = 1_000_000

_ROWS_SPARE = 100
"""What the source's formula for partitions adds to the rows of all steps."""

PARAMETERS = (
    Parameter("rows", "rows that l.i0 inserts, for each unit of --scale", Kind.INTEGER, 300_000, least=1),
    Parameter("l_i1_rows", "rows that l.i1 inserts, for each unit of --scale", Kind.INTEGER, 400_000, least=1),
    Parameter("l_i2_rows", "rows that l.i2 inserts, for each unit of --scale", Kind.INTEGER, 100_000, least=1),
    Parameter("l_i0_rows_per_commit", "rows of a statement in l.i0", Kind.INTEGER, 100, least=1, most=500),
    Parameter("l_i1_rows_per_commit", "rows of a statement in l.i1", Kind.INTEGER, 50, least=1, most=500),
    Parameter("l_i2_rows_per_commit", "rows of a statement in l.i2", Kind.INTEGER, 5, least=1, most=500),
    Parameter(
        "rw_rows_per_commit", "rows of a statement in the read-write steps", Kind.INTEGER, 50, least=1, most=500
    ),
    Parameter("seconds", "how long a read-write step takes that keeps its rate", Kind.INTEGER, 30, least=1, most=86400),
    Parameter(
        "rates",
        "rows a second that each client inserts in the read-write steps, a pair of these for each rate",
        Kind.TEXT,
        "100,500,1000",
    ),
    Parameter("rows_per_query", "rows that a query returns", Kind.INTEGER, 10, least=1, most=1000),
    Parameter("deletes", "as many rows are deleted as inserted, from l.i1 on", Kind.BOOLEAN, True),
    Parameter("secondary_indexes", "indexes that l.x makes", Kind.INTEGER, 3, least=0, most=len(_INDEXES)),
    Parameter("shared_table", "all clients work on one table", Kind.BOOLEAN, False),
    Parameter(
        "partitions", "partitions of every table, 0 for none; from release 11 on", Kind.INTEGER, 0, least=0, most=1024
    ),
    Parameter(
        "htap_seconds",
        "how long a transaction is held open beside each client, again and again from l.i1 on; 0 for never",
        Kind.INTEGER,
        0,
        least=0,
        most=86400,
    ),
    Parameter(
        "wait_seconds",
        "how long the wait after l.i2 lasts at least, with a second more for every million rows",
        Kind.INTEGER,
        60,
        least=0,
        most=_WAIT_S_MOST,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class _Plan:
    """The parameters as values, at a scale and number of clients: what steps are made from."""

    values: Mapping[str, Value]
    scale: int
    clients: int
    rates: tuple[int, ...]

    def number(self, name: str) -> int:
        return int(self.values[name])

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(
            f"pi{number}" for number in range(1, (1 if self.values["shared_table"] else self.clients) + 1)
        )

    @property
    def partitions(self) -> int:
        return self.number("partitions")

    def leaves(self, table: str) -> tuple[str, ...]:
        """The tables that hold a table's rows."""
        return tuple(f"{table}_p{number}" for number in range(self.partitions)) or (table,)

    def statements(self, rows: int, rows_per_commit: int, what: str) -> int:
        """Of each client; UserError where that is none."""
        count = rows // (self.clients * rows_per_commit)
        if count == 0:
            raise UserError(
                f"{what} has fewer rows than one statement of each client: {rows} for {self.clients} clients with"
                f" {rows_per_commit} rows each",
                hint="a larger --scale, or more rows",
            )
        return count


def chain(values: Mapping[str, Value], scale: int, clients: int) -> Chain:
    """The steps of these parameters; UserError where a step would have nothing to do."""
    plan = _Plan(values, scale, clients, _rates(str(values["rates"])))
    steps: list[Step] = []
    rows_before = 0  # of each client
    loads = (("l.i0", "rows"), ("l.i1", "l_i1_rows"), ("l.i2", "l_i2_rows"))
    for name, rows in loads:
        per_commit = plan.number(f"{name.replace('.', '_')}_rows_per_commit")
        count = plan.statements(plan.number(rows) * scale, per_commit, name)
        first = name == "l.i0"
        step = _inserting(plan, name, count, per_commit, rows_before, deletes=not first, hold=not first)
        rows_before += count * per_commit
        steps.append(step)
        if first and plan.number("secondary_indexes"):
            steps.append(_indexing(plan, rows_before * clients))
    total = rows_before * clients
    leaves = tuple(leaf for table in plan.tables for leaf in plan.leaves(table))
    wait_s = min(_WAIT_S_MOST, plan.number("wait_seconds") + total / _ROWS_PER_WAIT_S)
    steps.append(Step("wait", None, vacuumed=leaves, least_s=wait_s))
    per_commit = plan.number("rw_rows_per_commit")
    for rate in plan.rates:
        # As the source has it: no statement is smaller than a second's rows, and none is split.
        of_statement = min(per_commit, rate)
        count = math.ceil(rate * plan.number("seconds") / of_statement)
        for name, queries in ((f"qr{rate}", "range"), (f"qp{rate}", "point")):
            steps.append(
                _inserting(
                    plan,
                    name,
                    count,
                    of_statement,
                    rows_before,
                    deletes=True,
                    hold=True,
                    queries=queries,
                    rate=rate,
                )
            )
            rows_before += count * of_statement
    made = _tables_sql(plan, rows_before * clients)
    return Chain(NAME, (replace(steps[0], before=made), *steps[1:]))


def _rates(text: str) -> tuple[int, ...]:
    try:
        rates = tuple(int(part) for part in text.split(","))
    except ValueError:
        rates = ()
    if not rates or min(rates) < 1 or max(rates) > 1_000_000 or len(set(rates)) != len(rates):
        raise UserError(
            f"not rates of the insert benchmark: {text}",
            hint="rows a second, each once, as rates=100,500,1000",
        )
    return rates


def _inserting(
    plan: _Plan,
    name: str,
    count: int,
    per_commit: int,
    rows_before: int,
    *,
    deletes: bool,
    hold: bool,
    queries: str = "none",
    rate: int | None = None,
) -> Step:
    """A step in which every client sends `count` statements. With a rate it is about the queries beside them."""
    deletes = deletes and bool(plan.values["deletes"])
    hold_s = plan.number("htap_seconds") if hold else 0
    roles = 1 + deletes + (queries != "none") + (hold_s > 0)
    return Step(
        name,
        Operation.INSERTED if queries == "none" else Operation.QUERY,
        clients=plan.clients * roles,
        parameters=(
            ("writers", plan.clients),
            ("shared_table", bool(plan.values["shared_table"])),
            ("rows_per_commit", per_commit),
            ("inserts", count),
            ("rows_before", rows_before),
            ("rows_per_second", rate or 0),
            ("deletes", deletes),
            ("queries", queries),
            ("rows_per_query", plan.number("rows_per_query")),
            ("hold_s", hold_s),
        ),
        rows=count * per_commit * plan.clients,
        rows_per_second=None if rate is None else rate * plan.clients,
        least_s=0.0 if rate is None else plan.number("seconds"),
    )


def _indexing(plan: _Plan, rows: int) -> Step:
    """The secondary indexes of a table one after the other, of all tables side by side."""
    chosen = _INDEXES[: plan.number("secondary_indexes")]
    lanes = tuple(
        tuple(f"CREATE INDEX {table}_{name} ON {table} ({columns})" for name, columns in chosen)
        for table in plan.tables
    )
    return Step("l.x", Operation.INDEXED, rows=rows, lanes=lanes)


def _tables_sql(plan: _Plan, rows: int) -> tuple[str, ...]:
    """Tables before anything is in them; `rows` is what all steps insert, over which partitions are spread evenly."""
    made = []
    for table in plan.tables:
        partitioned = " PARTITION BY RANGE (transactionid)" if plan.partitions else ""
        made.append(f"CREATE TABLE {table} ({_COLUMNS}){partitioned}")
        made.append(f"ALTER SEQUENCE {table}_transactionid_seq CACHE {_SEQUENCE_CACHE}")
        if not plan.partitions:
            continue
        size = max(1, round((rows + _ROWS_SPARE) / plan.partitions / len(plan.tables)))
        for number in range(plan.partitions):
            end = "MAXVALUE" if number == plan.partitions - 1 else str((number + 1) * size)
            made.append(
                f"CREATE TABLE {table}_p{number} PARTITION OF {table} FOR VALUES FROM ({number * size}) TO ({end})"
            )
    return tuple(made)


def _make(values: Mapping[str, Value]) -> Workload:
    _rates(str(values["rates"]))
    rows = sum(int(values[name]) for name in ("rows", "l_i1_rows", "l_i2_rows"))
    needs = (Need(11, "a primary key on a partitioned table"),) if values["partitions"] else ()
    return Workload(
        name=NAME,
        about="inserts in key order and at random, indexes made, queries beside inserts at a rate, step by step",
        dataset=Dataset(
            name=NAME,
            revision=1,
            tables_sql="",
            indexes_sql="",
            tables=(),
            bytes_per_scale=rows * _BYTES_PER_ROW,
            needs=needs,
        ),
        regime=Regime.CHAIN,
        bound=SliceBound.TRANSACTIONS,
        has_workers=True,
        is_long=True,
        chain=partial(chain, values),
    )  # fmt: skip


ENTRIES = (Entry(NAME, PARAMETERS, _make),)
