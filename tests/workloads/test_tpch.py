"""The workload derived from TPC-H: its streams, its index sets, and what cannot be chosen of it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.errors import UserError
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue
from pgverdict.workloads.fitting import require_fit
from pgverdict.workloads.regimes import primary_of, regime_of, regimes_of
from pgverdict.workloads.workload import Streams

SEEDS = st.integers(0, 2**63)


def streams(**chosen: float) -> Streams:
    found = catalogue.workload("tpch", tuple(sorted(chosen.items()))).streams
    assert found is not None
    return found


@given(SEEDS)
def test_a_stream_has_every_query_once(seed: int) -> None:
    stream = streams().draw(seed, 1)

    assert sorted(task.script for task in stream) == [f"q{number:02}" for number in range(1, 23)]
    assert len(stream) == streams().length


@given(SEEDS)
def test_the_same_seed_draws_the_same_stream(seed: int) -> None:
    assert streams().draw(seed, 1) == streams().draw(seed, 1)


def test_another_seed_draws_another_order_and_other_values() -> None:
    one, other = streams().draw(1, 1), streams().draw(2, 1)

    assert [task.script for task in one] != [task.script for task in other]
    assert {task.script: task.variables for task in one} != {task.script: task.variables for task in other}


def test_the_scale_factor_reaches_the_query_that_depends_on_it() -> None:
    stream = streams(scale_factor=0.01).draw(1, 10)

    values = next(dict(task.variables) for task in stream if task.script == "q11")
    assert values["fraction"] == "0.0010000000"


def test_a_stream_knows_the_variables_of_its_scripts() -> None:
    workload = catalogue.workload("tpch")
    variables = {task.script: {name for name, _ in task.variables} for task in streams().draw(1, 1)}

    for script in workload.scripts:
        sql = re.sub(r"--.*", "", script.text)
        assert set(re.findall(r":([a-z]\w*)", sql)) == variables[script.name]


def test_index_sets_are_data_of_their_own() -> None:
    names = {
        indexes: catalogue.workload("tpch", (("indexes", indexes),) if indexes != "keys" else ()).dataset
        for indexes in ("keys", "benchbase", "none")
    }

    assert len({dataset.name for dataset in names.values()}) == 3
    assert names["none"].indexes_sql == ""
    assert names["keys"].indexes_sql.count("PRIMARY KEY (") == 8
    assert names["keys"].indexes_sql.count("CREATE INDEX") == 6
    assert len(re.findall("CREATE (UNIQUE )?INDEX", names["benchbase"].indexes_sql)) == 24


def test_refresh_functions_change_data_so_rounds_are_fresh_and_have_nothing_else_to_choose() -> None:
    workload = catalogue.workload("tpch", (("refresh_sets", 2),))
    reading = catalogue.workload("tpch")

    assert (workload.regime, reading.regime) == (Regime.FRESH, Regime.READ_ONLY)
    assert {script.name for script in workload.scripts} - {script.name for script in reading.scripts} == {
        "rf1",
        "rf2",
    }
    assert workload.dataset.digest(1) != reading.dataset.digest(1)
    with pytest.raises(UserError, match="does its work once on every copy of its data"):
        regimes_of(workload, [Regime.STEADY])


def test_more_clients_than_sets_of_the_refresh_functions_are_refused() -> None:
    chosen = (("refresh_sets", 2),)
    require_fit(CellSpec("tpch", 1, 2, chosen), catalogue.workload("tpch", chosen))
    with pytest.raises(UserError, match="tpch has sets of rows for the refresh functions: 2") as caught:
        require_fit(CellSpec("tpch", 1, 3, chosen), catalogue.workload("tpch", chosen))
    assert caught.value.hint == "-p refresh_sets=N for N clients"


def test_foreign_keys_come_after_what_they_refer_to() -> None:
    sql = catalogue.workload("tpch", (("foreign_keys", True),)).dataset.indexes_sql

    assert sql.count("FOREIGN KEY (") == 8
    assert sql.rindex("PRIMARY KEY (") < sql.index("FOREIGN KEY (")


def test_foreign_keys_without_primary_keys_are_refused() -> None:
    with pytest.raises(UserError, match="foreign keys refer to primary keys") as caught:
        catalogue.workload("tpch", (("foreign_keys", True), ("indexes", "none")))

    assert caught.value.hint is not None
    assert "indexes=keys" in caught.value.hint


@pytest.mark.parametrize("scale_factor", [0.0, 0.001, 2.0])
def test_a_scale_factor_out_of_range_is_refused(scale_factor: float) -> None:
    with pytest.raises(UserError, match="not a value of the parameter scale_factor"):
        catalogue.workload("tpch", (("scale_factor", scale_factor),))


def test_a_scale_factor_at_which_keys_are_not_unique_is_refused() -> None:
    with pytest.raises(UserError, match=r"the same supplier twice: scale_factor=0\.012"):
        catalogue.workload("tpch", (("scale_factor", 0.012),))


@given(st.integers(1, 50), st.sampled_from((0.01, 0.02)) | st.integers(300, 10_000).map(lambda s: s / 10_000))
def test_at_every_other_scale_factor_the_suppliers_of_a_part_are_four(
    scale: int, scale_factor: float
) -> None:
    catalogue.workload("tpch", (("scale_factor", scale_factor),) if scale_factor != 1 else ())
    suppliers = int(round(scale * scale_factor * 1e6) / 1e6 * 10_000)
    for lap in range(20):
        step = suppliers // 4 + lap
        assert len({number * step % suppliers for number in range(4)}) == 4


def test_one_stream_is_decided_by_the_geometric_mean_and_several_by_their_total() -> None:
    workload = catalogue.workload("tpch")

    assert primary_of(CellSpec("tpch", 1, 1), workload) == "latency_us_geomean"
    assert primary_of(CellSpec("tpch", 1, 4), workload) == "tps"
    assert primary_of(CellSpec("tpch", 1, 1, primary="tps"), workload) == "tps"
    assert regime_of(CellSpec("tpch", 1, 1), workload) is Regime.READ_ONLY


def test_what_a_round_of_streams_cannot_have_is_refused() -> None:
    workload = catalogue.workload("tpch")

    with pytest.raises(UserError, match="as many pairs as a stream has queries: --pairs 3"):
        require_fit(CellSpec("tpch", 1, 1, pairs=3), workload)
    with pytest.raises(UserError, match="nothing is cold any more"):
        require_fit(CellSpec("tpch", 1, 1, cache=Cache.COLD), workload)
    with pytest.raises(UserError, match="changes no data"):
        regimes_of(workload, [Regime.STEADY])
    require_fit(CellSpec("select-only", 1, 1, pairs=3), catalogue.workload("select-only"))


def test_the_metric_of_streams_decides_nothing_else() -> None:
    with pytest.raises(UserError, match="of streams, which select-only has none of"):
        require_fit(
            CellSpec("select-only", 1, 1, primary="latency_us_geomean"), catalogue.workload("select-only")
        )
