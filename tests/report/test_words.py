"""Numbers, metrics, cells and arms, as people read them."""

import math

import pytest

from pgverdict.judge.verdict import Outcome, Verdict
from pgverdict.records.run import ArmFacts
from pgverdict.report import words
from pgverdict.spec.arms import Role
from pgverdict.spec.campaign import CellSpec

from .samples import UNDECIDED, a_verdict


def latency(effect: tuple[float, float, float], outcome: Outcome, **changes: object) -> Verdict:
    return a_verdict("latency_us_p50", (19.6, 20.0), effect, outcome, **changes)


@pytest.mark.parametrize(
    ("effect", "said"),
    [
        ((1e-9, 1.3, 3.8e23), "< -99 to > +9900"),
        ((0.02, 1.3, 99.0), "-98.00 to +9800"),
        ((0.0, 1.3, math.inf), "-"),
    ],
)
def test_limits_without_measure_are_capped_in_columns(effect: tuple[float, float, float], said: str) -> None:
    assert words.interval(latency(effect, UNDECIDED)) == said


@pytest.mark.parametrize(
    ("name", "server", "version", "label"),
    [
        ("17", "17", "17.7", "17.7"),
        ("17#2", "17", "17.7", "17.7#2"),
        ("17.7", "17.7", "17.7", "17.7"),
        ("9.6", "9.6", "9.6.24", "9.6.24"),
        ("1", "1", "17.7", "1"),
        ("patched", "/opt/pg", "19devel", "patched"),
    ],
)
def test_a_line_of_releases_is_told_as_the_release_it_was(
    name: str, server: str, version: str, label: str
) -> None:
    assert words.arm_label(ArmFacts(name, Role.BASELINE, server, version, (), ())) == label


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (0.0051234, "0.005123"),
        (19.624, "19.62"),
        (999.94, "999.9"),
        (999.96, "1,000"),
        (51_234.6, "51,235"),
        (math.nan, "-"),
    ],
)
def test_values_have_four_digits(value: float, said: str) -> None:
    assert words.quantity(value) == said


def test_a_change_that_rounds_to_nothing_has_no_sign() -> None:
    assert (words.change(1.00001), words.change(0.99999)) == ("0.00", "0.00")


def test_an_unknown_metric_is_called_by_its_name() -> None:
    assert words.title("wal_bytes_per_txn") == "wal_bytes_per_txn"


def test_parameters_are_part_of_a_cells_title() -> None:
    assert (
        words.cell_title(CellSpec("tpcb-like", 1000, 8, (("partition_method", "hash"), ("unlogged", True))))
        == "tpcb-like, scale 1,000, 8 clients, partition method hash, unlogged on"
    )
