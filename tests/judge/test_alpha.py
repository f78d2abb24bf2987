"""The levels of what does not decide a cell."""

import pytest

from pgverdict.judge.alpha import share_out
from pgverdict.judge.values import Question, questions

from .made import a_cell, rounds_of


@pytest.mark.parametrize("others", [0, 1, 8])
def test_the_others_share_a_whole_alpha_of_their_own(others: int) -> None:
    asked = [Question("latency_us_p50"), *(Question("server_ms_mean", str(i)) for i in range(others))]

    shares = share_out(0.05, asked)

    assert shares[asked[0]] is None
    assert sum(share for share in shares.values() if share) == pytest.approx(0.05 if others else 0)


def test_a_cell_without_rounds_shares_among_the_metrics_of_the_whole_cell() -> None:
    shares = share_out(0.01, questions(a_cell([], primary="tps")))

    assert next(iter(shares)) == Question("tps")
    assert len(shares) == 8
    assert sum(share for share in shares.values() if share) == pytest.approx(0.01)


def test_what_is_one_number_twice_has_one_share() -> None:
    shares = share_out(0.01, questions(a_cell([], primary="latency_us_p50")))

    assert (
        shares[Question("latency_us_mean")]
        == shares[Question("tps")]
        == pytest.approx(0.01 / (len(shares) - 2))
    )


def test_what_is_the_primary_told_again_is_judged_as_the_primary() -> None:
    shares = share_out(0.01, questions(a_cell([], primary="tps")))

    assert shares[Question("tps")] is None
    assert shares[Question("latency_us_mean")] is None


def test_statements_get_shares_once_a_round_knows_them() -> None:
    shares = share_out(0.01, questions(a_cell(rounds_of([0.0]))))

    assert shares[Question("server_ms_mean", "SELECT 1")] == shares[Question("tps")]
    assert shares[Question("server_ms_stddev", "SELECT 1")] == shares[Question("tps")]
