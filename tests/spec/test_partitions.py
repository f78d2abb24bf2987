"""Which cells are about partitions."""

from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.partitions import is_about_partitions, partitions_of, unpartitioned

NONE = CellSpec("select-only", 10, 1)
SOME = CellSpec("select-only", 10, 1, (("partitions", 16),))


def test_a_cell_says_how_many_partitions_it_has() -> None:
    assert (partitions_of(NONE), partitions_of(SOME)) == (0, 16)
    assert unpartitioned(SOME) == NONE


def test_a_cell_with_partitions_is_about_them_and_so_is_the_one_it_is_compared_with() -> None:
    assert is_about_partitions(SOME, [SOME])
    assert is_about_partitions(NONE, [NONE, SOME])


def test_a_cell_that_differs_in_more_is_not() -> None:
    other = CellSpec("select-only", 20, 1, (("partitions", 16),))

    assert not is_about_partitions(NONE, [NONE])
    assert not is_about_partitions(NONE, [NONE, other])
