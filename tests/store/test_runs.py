"""What goes into a store comes out again, and what cannot is said."""

import dataclasses
import math

import pytest
from hypothesis import HealthCheck, given, settings

from pgverdict.errors import UserError, WorldError
from pgverdict.records.round import RoundRecord
from pgverdict.records.run import Purpose, RunRecord, RunState
from pgverdict.store.opening import open_store
from pgverdict.store.runs import Store

from . import made


def with_rounds(run: RunRecord, cell: int, *rounds: RoundRecord) -> RunRecord:
    cells = list(run.cells)
    cells[cell] = dataclasses.replace(cells[cell], rounds=rounds)
    return dataclasses.replace(run, cells=tuple(cells))


def test_a_run_is_loaded_as_it_was_kept(store: Store) -> None:
    run = made.a_run()
    store.begin_run(run)
    store.keep_round(run.id, 0, made.a_round(0))
    store.keep_round(run.id, 0, made.a_failed_round(1))
    store.keep_round(run.id, 1, made.a_round(0))
    store.keep_round(run.id, 0, made.a_round(1))
    store.finish_run(run.id, RunState.DONE, seconds=10.3)

    expected = with_rounds(run, 0, made.a_round(0), made.a_failed_round(1), made.a_round(1))
    expected = with_rounds(expected, 1, made.a_round(0))
    assert store.load_run(run.id) == dataclasses.replace(expected, state=RunState.DONE, seconds=10.3)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=made.runs())
def test_any_run_is_loaded_as_it_was_kept(store: Store, run: RunRecord) -> None:
    known = {summary.id for summary in store.list_runs()}
    if run.id in known:
        with pytest.raises(WorldError):
            store.begin_run(run)
        return
    store.begin_run(run)
    assert store.load_run(run.id) == run


@pytest.mark.parametrize("number", [0.1 + 0.2, 5e-324, 1.7976931348623157e308, math.inf, 2.0**53 + 2, 1 / 3])
def test_floats_keep_their_last_bit(store: Store, number: float) -> None:
    record = made.a_round(0)
    latency = dataclasses.replace(made.LATENCY, p99_ns=number)
    record = dataclasses.replace(record, slices=(dataclasses.replace(record.slices[0], latency=latency),))
    store.begin_run(made.a_run(rounds=(record,)))
    loaded = store.load_run().cells[0].rounds[0].slices[0].latency.p99_ns
    assert loaded.hex() == number.hex()


def test_a_slice_without_transactions_has_no_latency_and_is_kept(store: Store) -> None:
    record = made.a_round(0)
    latency = dataclasses.replace(made.LATENCY, p50_ns=math.nan)
    record = dataclasses.replace(record, slices=(dataclasses.replace(record.slices[0], latency=latency),))
    store.begin_run(made.a_run(rounds=(record,)))
    assert math.isnan(store.load_run().cells[0].rounds[0].slices[0].latency.p50_ns)


def test_a_run_that_never_ended_is_loaded_as_running(url: str) -> None:
    with open_store(url) as store:
        store.begin_run(made.a_run())
        store.keep_round("2026-11-21-3f9a", 0, made.a_round(0))
    with open_store(url) as store:
        run = store.load_run()
    assert run.state is RunState.RUNNING
    assert run.cells[0].rounds == (made.a_round(0),)


def test_a_round_that_cannot_be_kept_whole_is_not_kept_at_all(store: Store) -> None:
    store.begin_run(made.a_run())
    record = made.a_round(0)
    too_large = dataclasses.replace(record.arms[1], data_bytes=2**70)
    with pytest.raises((WorldError, OverflowError)):
        store.keep_round("2026-11-21-3f9a", 0, dataclasses.replace(record, arms=(record.arms[0], too_large)))
    store.keep_round("2026-11-21-3f9a", 0, record)
    assert store.load_run().cells[0].rounds == (record,)


def test_the_newest_run_is_loaded_where_none_is_named(store: Store) -> None:
    store.begin_run(made.a_run("2026-11-21-ffff", started="2026-11-21T09:00:00Z"))
    store.begin_run(made.a_run("2026-11-21-0000", started="2026-11-21T10:00:00Z"))
    store.begin_run(made.a_run("2026-11-20-aaaa", started="2026-11-20T10:00:00Z"))
    assert store.load_run().id == "2026-11-21-0000"


def test_runs_are_listed_newest_first_with_their_rounds_counted(store: Store) -> None:
    store.begin_run(made.a_run("2026-11-20-aaaa", started="2026-11-20T10:00:00Z"))
    store.begin_run(made.a_run(rounds=(made.a_round(0), made.a_failed_round(1), made.a_round(1))))
    newest, older = store.list_runs()
    assert (newest.id, older.id) == ("2026-11-21-3f9a", "2026-11-20-aaaa")
    assert newest.arms == (("17", "17.7"), ("18", "18.1"))
    assert [(cell.spec.key, cell.primary, cell.measured, cell.failed) for cell in newest.cells] == [
        ("select-only scale=10 clients=1", "latency_us_p50", 2, 1),
        ("simple-update scale=10 clients=4 partitions=8", "tps", 0, 0),
    ]


def test_the_only_run_that_begins_so_is_loaded(store: Store) -> None:
    store.begin_run(made.a_run("2026-11-20-aaaa"))
    store.begin_run(made.a_run("2026-11-21-3f9a"))
    assert store.load_run("2026-11-20").id == "2026-11-20-aaaa"


def test_a_whole_id_wins_over_one_that_begins_so(store: Store) -> None:
    store.begin_run(made.a_run("2026-11-21-3f"))
    store.begin_run(made.a_run("2026-11-21-3f9a"))
    assert store.load_run("2026-11-21-3f").id == "2026-11-21-3f"


def check_error(error: UserError | WorldError, message: str, hint: str) -> None:
    assert (error.message, error.hint) == (message, hint)


def test_an_ambiguous_beginning_offers_the_runs_it_fits(store: Store) -> None:
    store.begin_run(made.a_run("2026-11-21-3f9a"))
    store.begin_run(made.a_run("2026-11-21-3000"))
    with pytest.raises(UserError) as caught:
        store.load_run("2026-11-21")
    check_error(
        caught.value, "more than one run begins with 2026-11-21", "one of: 2026-11-21-3f9a, 2026-11-21-3000"
    )


def test_an_unknown_run_offers_the_nearest(store: Store) -> None:
    store.begin_run(made.a_run("2026-11-21-3f9a"))
    with pytest.raises(UserError) as caught:
        store.load_run("2026-11-21-3f9b")
    check_error(caught.value, "unknown run: 2026-11-21-3f9b", "did you mean 2026-11-21-3f9a?")


def test_an_unknown_run_unlike_any_offers_the_newest(store: Store) -> None:
    store.begin_run(made.a_run("2026-11-21-3f9a"))
    with pytest.raises(UserError) as caught:
        store.load_run("x")
    check_error(caught.value, "unknown run: x", "the newest: 2026-11-21-3f9a")


def test_an_empty_store_has_no_newest_run(store: Store) -> None:
    with pytest.raises(UserError) as caught:
        store.load_run()
    check_error(caught.value, f"no run in the store {store.place}", "`pgverdict compare` makes one")


@pytest.mark.parametrize("cell", [0, 7])
def test_a_round_of_an_unknown_run_is_refused(store: Store, cell: int) -> None:
    with pytest.raises(UserError, match="unknown run: nobody"):
        store.keep_round("nobody", cell, made.a_round(0))


def test_an_unknown_run_cannot_be_finished(store: Store) -> None:
    with pytest.raises(UserError, match="unknown run: nobody"):
        store.finish_run("nobody", RunState.DONE, 1.0)


def test_a_run_is_begun_once(store: Store) -> None:
    store.begin_run(made.a_run())
    with pytest.raises(WorldError, match="cannot keep run 2026-11-21-3f9a"):
        store.begin_run(made.a_run())


def test_runs_that_never_said_how_they_ended_are_stopped_on_their_own_host_only(store: Store) -> None:
    here = dataclasses.replace(made.a_run(), state=RunState.RUNNING, host=(("name", "here"),))
    ended = dataclasses.replace(here, id="2026-11-21-1100-0002", state=RunState.DONE)
    elsewhere = dataclasses.replace(here, id="2026-11-21-1100-0003", host=(("name", "elsewhere"),))
    for run in (here, ended, elsewhere):
        store.begin_run(run)

    assert store.stop_orphans("here") == [here.id]
    assert store.load_run(here.id).state is RunState.STOPPED
    assert store.load_run(ended.id).state is RunState.DONE
    assert store.load_run(elsewhere.id).state is RunState.RUNNING


def _calibration(run_id: str, started: str, **host: str) -> RunRecord:
    run = made.a_run(run_id, started=started)
    return dataclasses.replace(run, purpose=Purpose.CALIBRATE, host=tuple(host.items()))


def test_the_newest_calibration_of_a_host_is_found_by_what_the_host_is(store: Store) -> None:
    store.begin_run(_calibration("a", "2026-11-21T10:00:00Z", name="one", cores="2", processor="A"))
    store.begin_run(_calibration("b", "2026-11-21T11:00:00Z", name="two", cores="2", processor="A"))
    store.begin_run(_calibration("c", "2026-11-21T12:00:00Z", name="one", cores="4", processor="A"))
    store.begin_run(made.a_run("d", started="2026-11-21T13:00:00Z"))

    found = store.newest_calibration(
        {"cores": "2", "processor": "A", "name": "three"}, ("cores", "processor")
    )

    assert found is not None
    assert found.id == "b"
    assert found.purpose is Purpose.CALIBRATE
    assert store.newest_calibration({"cores": "8", "processor": "A"}, ("cores", "processor")) is None
