"""When a table under constant change has settled."""

import itertools

import pytest

from pgverdict.datasets.settling import VACUUMS_MIN, TableHistory
from pgverdict.observe.cycles import TableState

MB = 1_000_000
NEVER_VACUUMED_S = 60.0


def history(*looks: tuple[int, float, int]) -> TableHistory:
    """A look a second: vacuums so far, megabytes, dead rows of a million rows."""
    made = TableHistory()
    for second, (vacuums, megabytes, dead) in enumerate(looks):
        made.add(float(second), TableState(0, 1_000_000, dead, vacuums, round(megabytes * MB)))
    return made


def settled(made: TableHistory) -> bool:
    return made.settled(unvacuumed_s=NEVER_VACUUMED_S)


def saw_tooth(sizes: list[float], deaths: list[int]) -> TableHistory:
    """A vacuum after each cycle of three looks."""
    looks = []
    for vacuums, (size, dead) in enumerate(zip(sizes, deaths, strict=True)):
        looks += [(vacuums, size, dead // 3), (vacuums, size, dead), (vacuums + 1, size, 0)]
    return history(*looks)


def test_a_table_that_stops_growing_has_settled() -> None:
    assert settled(saw_tooth([100, 140, 140.5], [200_000, 220_000, 221_000]))


@pytest.mark.parametrize("vacuums", range(VACUUMS_MIN))
def test_no_table_has_settled_before_its_second_vacuum(vacuums: int) -> None:
    assert not settled(saw_tooth([100] * vacuums, [200_000] * vacuums) if vacuums else history((0, 100, 0)))


def test_a_table_that_grew_in_its_last_cycle_has_not_settled() -> None:
    growing = saw_tooth([100, 120, 125], [200_000] * 3)

    assert not settled(growing)
    assert growing.growth == pytest.approx(125 / 120 - 1)


def test_a_table_that_gathers_more_dead_rows_than_before_has_not_settled() -> None:
    assert not settled(saw_tooth([100, 100, 100], [100_000, 150_000, 200_000]))


def test_a_vacuum_that_shrinks_a_table_does_not_unsettle_it() -> None:
    assert settled(saw_tooth([100, 140, 120], [200_000] * 3))


def test_a_table_of_a_few_pages_may_gain_one() -> None:
    assert settled(saw_tooth([0.008, 0.056, 0.064], [60, 60, 60]))


def test_several_vacuums_between_two_looks_end_one_cycle() -> None:
    made = history((0, 100, 50), (3, 100, 0), (3, 100, 40), (4, 100, 0))

    assert made.vacuums == 4
    assert len(made.cycles) == 2
    assert settled(made)


def test_dead_rows_that_pile_up_towards_a_vacuum_have_not_settled() -> None:
    assert not settled(history(*((0, 100, 1000 * second) for second in range(300))))


def test_a_table_that_pruning_keeps_small_has_settled_without_a_vacuum_but_not_at_once() -> None:
    looks = [(0, 100 + second / 1000, 75_000 + second) for second in range(300)]

    assert not settled(history(*itertools.islice(looks, int(NEVER_VACUUMED_S))))
    assert settled(history(*looks))


def test_a_table_vacuumed_once_waits_for_its_second_vacuum() -> None:
    assert not settled(history(*((int(second > 10), 100, 75_000) for second in range(300))))
