"""The shares of the run's error probability."""

import pytest

from pgverdict.judge.alpha import cell_alphas, split_alpha
from pgverdict.judge.values import Question
from pgverdict.spec.campaign import CellSpec

from .made import a_campaign, a_cell, rounds_of

CELLS = tuple(CellSpec("select-only", 10, clients) for clients in (1, 2, 4))


@pytest.mark.parametrize("cells", [1, 2, 7])
@pytest.mark.parametrize("others", [0, 1, 8])
def test_the_shares_of_all_cells_are_no_more_than_the_run_may_err(cells: int, others: int) -> None:
    questions = [Question("latency_us_p50"), *(Question("server_ms_mean", str(i)) for i in range(others))]

    shares = split_alpha(0.95, cells=cells, questions=questions)

    assert shares[questions[0]] == pytest.approx(0.025 / cells)
    assert len({shares[q] for q in questions[1:]}) <= 1
    assert sum(shares.values()) * cells == pytest.approx(0.05 if others else 0.025)


def test_the_primary_share_is_the_same_before_the_first_round_and_after() -> None:
    before, after = a_cell([]), a_cell(rounds_of([0.0] * 9))

    shares = [
        cell_alphas(cell, a_campaign(cells=CELLS), 1)[Question("latency_us_p50")] for cell in (before, after)
    ]

    assert shares == [pytest.approx(0.005 / 3)] * 2


def test_a_cell_without_rounds_shares_among_the_metrics_of_the_whole_cell() -> None:
    shares = cell_alphas(a_cell([], primary="tps"), a_campaign(), 1)

    assert next(iter(shares)) == Question("tps")
    assert len(shares) == 6
    assert sum(shares.values()) - shares[Question("latency_us_mean")] == pytest.approx(0.01)


def test_what_is_one_number_twice_has_one_share() -> None:
    primary = cell_alphas(a_cell([], primary="tps"), a_campaign(), 1)
    other = cell_alphas(a_cell([], primary="latency_us_p50"), a_campaign(), 1)

    assert primary[Question("latency_us_mean")] == primary[Question("tps")] == pytest.approx(0.005)
    assert other[Question("latency_us_mean")] == other[Question("tps")] == pytest.approx(0.005 / 4)


def test_statements_get_shares_once_a_round_knows_them() -> None:
    shares = cell_alphas(a_cell(rounds_of([0.0])), a_campaign(), 1)

    assert shares[Question("server_ms_mean", "SELECT 1")] == pytest.approx(0.005 / 6)
    assert shares[Question("server_ms_stddev", "SELECT 1")] == pytest.approx(0.005 / 6)
