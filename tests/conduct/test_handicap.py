"""What handicaps did during slices is read from the servers, and fails the round where it is not what was asked."""

from pathlib import Path

import pytest

from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.conduct.handicap import grown_handicaps
from pgverdict.conduct.placement import Placement
from pgverdict.errors import WorldError
from pgverdict.plan.pools import Pools
from pgverdict.servers.handicap import HandicapCounts
from pgverdict.workloads import catalogue
from tests.judge.made import SPEC, a_slice

POOLS = Pools.apart(2, 1)
BEFORE = [HandicapCounts(5, 0), HandicapCounts(6, 6_100)]
SLICES = [a_slice(0, 0, 20.0, transactions=90, discarded=10), a_slice(0, 1, 20.0, transactions=99, failed=1)]


def _cell(*handicaps_ns: int | None) -> PreparedCell:
    arms = tuple(
        PreparedArm(f"17#{number}", (), (), (Path("a"),), ns) for number, ns in enumerate(handicaps_ns)
    )
    pools = Pools.apart(len(arms), 1)
    return PreparedCell(SPEC, catalogue.workload("select-only"), arms, Placement(1, (0,)), (), pools, pools)


def test_what_was_done_before_the_slices_is_left_out() -> None:
    after = [HandicapCounts(105, 0), HandicapCounts(106, 6_100 + 103_000)]

    grown = grown_handicaps(_cell(0, 1_000), BEFORE, after, SLICES)

    assert grown == [HandicapCounts(100, 0), HandicapCounts(100, 103_000)]


def test_arms_without_the_library_have_no_counts() -> None:
    assert grown_handicaps(_cell(None, None), [None, None], [None, None], SLICES) == [None, None]


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (
            HandicapCounts(6, 6_100),
            "arm 17#1 was to be slowed down by 1000 ns per message, and received none",
        ),
        (HandicapCounts(106, 6_200), "spun 100 ns for 100"),
        (HandicapCounts(105, 6_100 + 103_000), "met 99 messages in 100 transactions"),
    ],
)
def test_an_arm_that_was_not_slowed_down_fails_its_round(after: HandicapCounts, said: str) -> None:
    with pytest.raises(WorldError, match=said):
        grown_handicaps(_cell(0, 1_000), BEFORE, [HandicapCounts(105, 0), after], SLICES)
