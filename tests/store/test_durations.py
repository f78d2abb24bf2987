"""How long rounds took is asked of a store without loading runs."""

import dataclasses

from pgverdict.records.run import Purpose, RunRecord
from pgverdict.spec.campaign import CellSpec
from pgverdict.store.durations import RUNS_READ_MAX, seconds_of_rounds
from pgverdict.store.runs import Store

from . import made

READS, UPDATES = made.a_run().campaign.cells
OTHER = CellSpec("select-only", 20, 1)


def a_run(number: int, *, host: str = "here") -> RunRecord:
    """A run whose first round took `number` seconds."""
    record = dataclasses.replace(made.a_round(0), seconds=float(number))
    run = made.a_run(
        f"2026-11-21-{number:04}",
        started=f"2026-11-21T10:{number:02}:00Z",
        rounds=(record, made.a_failed_round(1)),
    )
    return dataclasses.replace(run, host=(("name", host),))


def asked(store: Store, *cells: CellSpec, arms: int = 2) -> dict[str, list[float]]:
    return seconds_of_rounds(store, cells, host_name="here", arms=arms)


def test_measured_rounds_of_the_cell_on_this_host_count_and_no_others(store: Store) -> None:
    store.begin_run(a_run(1))
    store.begin_run(a_run(2))
    store.begin_run(a_run(3, host="elsewhere"))
    store.begin_run(dataclasses.replace(a_run(4), purpose=Purpose.CALIBRATE))

    assert asked(store, READS, UPDATES) == {READS.key: [2.0, 1.0]}
    assert asked(store, OTHER) == {}
    assert asked(store, dataclasses.replace(READS, pairs=3)) == {}, "its rounds are shorter"
    assert asked(store, READS, arms=3) == {}


def test_only_the_newest_runs_that_have_some_are_read(store: Store) -> None:
    for number in range(1, RUNS_READ_MAX + 3):
        store.begin_run(a_run(number))
    store.begin_run(
        dataclasses.replace(made.a_run("2026-11-22"), host=(("name", "here"),), started="2026-11-22")
    )

    newest = [float(number) for number in range(RUNS_READ_MAX + 2, 2, -1)]
    assert asked(store, READS)[READS.key] == newest
