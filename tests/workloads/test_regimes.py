"""Which regimes a workload is measured in."""

import dataclasses

import pytest

from pgverdict.errors import UserError
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue
from pgverdict.workloads.regimes import primary_of, regimes_of

UPDATE = catalogue.workload("simple-update")
SELECT = catalogue.workload("select-only")


def test_a_workload_that_nobody_says_a_regime_for_has_its_own() -> None:
    assert regimes_of(UPDATE, []) == regimes_of(SELECT, []) == (None,)


def test_a_workload_that_changes_nothing_refuses_a_regime_and_names_others() -> None:
    with pytest.raises(UserError, match="select-only changes no data") as caught:
        regimes_of(SELECT, [Regime.STEADY])

    assert "simple-update, tpcb-like" in (caught.value.hint or "")


@pytest.mark.parametrize("asked", [(Regime.FRESH, Regime.STEADY), (Regime.STEADY, Regime.FRESH)])
def test_of_two_regimes_the_steady_one_comes_first_however_they_were_asked_for(
    asked: tuple[Regime, ...],
) -> None:
    assert regimes_of(UPDATE, asked) == (Regime.STEADY, None)


def test_its_own_regime_by_name_is_the_same_cell_as_without() -> None:
    assert regimes_of(UPDATE, [Regime.FRESH]) == (None,)


def test_a_regime_named_twice_is_refused() -> None:
    with pytest.raises(UserError, match="named twice: steady, steady"):
        regimes_of(UPDATE, [Regime.STEADY, Regime.STEADY])


def test_a_chosen_regime_is_part_of_a_cells_key() -> None:
    keys = {CellSpec("simple-update", 1, 1, regime=regime).key for regime in (None, Regime.STEADY)}

    assert keys == {"simple-update scale=1 clients=1", "simple-update scale=1 clients=1 regime=steady"}


@pytest.mark.parametrize(
    ("name", "regime", "primary"),
    [
        ("select-only", None, "latency_us_p50"),
        ("simple-update", None, "latency_us_p50"),
        ("simple-update", Regime.FRESH, "latency_us_p50"),
        ("simple-update", Regime.STEADY, "tps"),
    ],
)
def test_one_kind_of_transaction_is_decided_by_its_typical_time_unless_its_rounds_go_through_checkpoints(
    name: str, regime: Regime | None, primary: str
) -> None:
    assert primary_of(CellSpec(name, 1, 1, regime=regime), catalogue.workload(name)) == primary


def test_a_mix_has_no_typical_transaction() -> None:
    one = catalogue.workload("select-only")
    mix = dataclasses.replace(one, scripts=one.scripts * 2)

    assert primary_of(CellSpec("select-only", 1, 1), mix) == "tps"


def test_the_metric_that_was_chosen_decides() -> None:
    cell = CellSpec("select-only", 1, 1, primary="latency_us_p99")

    assert primary_of(cell, catalogue.workload("select-only")) == "latency_us_p99"


def test_a_cold_cell_is_decided_by_its_total() -> None:
    cell = CellSpec("select-only", 1, 1, cache=Cache.COLD)

    assert primary_of(cell, SELECT) == "tps"
    assert primary_of(dataclasses.replace(cell, primary="latency_us_p99"), SELECT) == "latency_us_p99"
