"""The TPC-C-like workload: docs/workloads/tpcc.md, with every deviation from the standard and from BenchBase."""

from collections.abc import Mapping

from pgverdict.errors import UserError
from pgverdict.spec.parameters import Kind, Parameter, Value
from pgverdict.spec.regime import Regime
from pgverdict.workloads.files import checks_of, text_of
from pgverdict.workloads.workload import Dataset, Entry, Program, Room, SliceBound, Table, Workload

WAITS_MAX = 0.01
"""A warm-up lasts 0.3 s, in which every terminal is to get through a transaction; 18 s of keying come first."""

KINDS = ("new_order", "payment", "order_status", "delivery", "stock_level")

DISTRICTS = 10

_TABLES = (
    # Dealt to three lanes in turn, so that each has a third of the bytes. Whole tables: rows lie alike in every load.
    "stock", "order_line", "customer", "warehouse", "history", "item", "district", "new_order", "oorder",
)  # fmt: skip
_LANES = 3

_PARAMETERS = (
    Parameter(
        "variant",
        "transactions as statements of the client, or as functions of the server",
        Kind.CHOICE,
        "statements",
        choices=("statements", "functions"),
    ),
    Parameter(
        "mix",
        "the standard's deck of cards, or weights of new orders, payments, order status, delivery, stock level:"
        " 45,43,4,4,4",
        Kind.TEXT,
        "deck",
    ),
    Parameter(
        "terminals",
        "shared: a warehouse's terminals share out its districts; standard: at most ten, each on all districts;"
        " any: as many as there are clients, with another home each time",
        Kind.CHOICE,
        "shared",
        choices=("shared", "standard", "any"),
    ),
    Parameter(
        "isolation",
        "the isolation level of transactions; server: what its settings say",
        Kind.CHOICE,
        "read-committed",
        choices=("server", "read-committed", "repeatable-read", "serializable"),
    ),
    Parameter(
        "tries",
        "how often a transaction is tried that meets others (serialization failures, deadlocks)",
        Kind.INTEGER,
        3,
        least=1,
        most=1000,
    ),
    Parameter(
        "waits",
        "keying and think times, as a share of the standard's",
        Kind.NUMBER,
        0.0,
        least=0,
        most=WAITS_MAX,
    ),
    Parameter("foreign_keys", "the foreign keys of the standard's entities", Kind.BOOLEAN, False),
    Parameter(
        "fillfactor", "of tables whose rows are updated or deleted", Kind.INTEGER, 100, least=10, most=100
    ),
    Parameter("seed", "of the data", Kind.INTEGER, 1, least=0, most=2**62),
)


def _dataset(values: Mapping[str, Value]) -> Dataset:
    after = ["indexes", *(["foreign-keys"] if values["foreign_keys"] else []), "functions"]
    return Dataset(
        name="tpcc",
        revision=1,
        tables_sql=text_of("schema/tpcc-tables.sql").replace("@fillfactor@", str(values["fillfactor"])),
        indexes_sql="".join(text_of(f"schema/tpcc-{part}.sql") for part in after),
        tables=tuple(Table(name, f"tpcc_{name}", (("seed", values["seed"]),)) for name in _TABLES),
        bytes_per_scale=120_000_000,
        lanes=_LANES,
        checks=checks_of("checks/tpcc.sql"),
    )


def _mix(text: str) -> tuple[tuple[str, Value], ...]:
    """The engine's parameters for it; UserError for what is neither the deck nor five weights."""
    if text == "deck":
        return (("deck", True),)
    parts = text.split(",")
    if len(parts) != len(KINDS) or not all(
        part.isascii() and part.isdigit() and len(part) < 7 for part in parts
    ):
        raise UserError(f"not a mix of tpcc: {text}", hint="mix is deck, or five weights such as 45,43,4,4,4")
    weights = [int(part) for part in parts]
    if not any(weights):
        raise UserError(f"a mix of tpcc without any transaction: {text}", hint="one weight at least is not 0")
    return (
        ("deck", False),
        *((f"weight_{kind}", weight) for kind, weight in zip(KINDS, weights, strict=True)),
    )


def _make(values: Mapping[str, Value]) -> Workload:
    same = tuple((name, values[name]) for name in ("variant", "terminals", "isolation", "tries", "waits"))
    return Workload(
        name="tpcc",
        about="five transactions of a wholesale supplier; TPC-C-like, not comparable with published results",
        dataset=_dataset(values),
        regime=Regime.FRESH,
        bound=SliceBound.TRANSACTIONS,
        program=Program("tpcc", (*same, *_mix(str(values["mix"]))), mixed=True),
        room=None if values["terminals"] == "any" else Room(DISTRICTS, "districts", "-p terminals=any"),
    )


ENTRIES = (Entry("tpcc", _PARAMETERS, _make),)
