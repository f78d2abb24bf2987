"""Where the data of a round is put: in the cell's slots, or in an arm's own. The clusters are made-up directories."""

from pathlib import Path

import pytest

from pgverdict.conduct.cell import PreparedArm, PreparedCell
from pgverdict.conduct.live import data_in_place, fresh_copies
from pgverdict.conduct.placement import Placement
from pgverdict.plan.pools import Pools
from pgverdict.servers.marked import mark
from pgverdict.spec.campaign import CellSpec
from pgverdict.workloads import catalogue

SEGMENT = "000000010000000000000001"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    mark(tmp_path)
    return tmp_path


def directories(place: Path, *names: str) -> tuple[Path, ...]:
    made = tuple(place / name for name in names)
    for path in made:
        path.mkdir(parents=True)
    return made


def a_load(place: Path, name: str) -> Path:
    (wal,) = directories(place, f"{name}/pg_wal")
    (wal / SEGMENT).write_text(name)
    return wal.parent


@pytest.fixture
def cell(place: Path) -> PreparedCell:
    """The second arm has directories of its own for data and WAL."""
    arms = (
        PreparedArm("17", (), (), (a_load(place, "load0"),)),
        PreparedArm(
            "17#2",
            (),
            (),
            (a_load(place, "load1"),),
            slots=directories(place, "own/slot0", "own/slot1"),
            wal_slots=directories(place, "wal/slot0", "wal/slot1"),
        ),
    )
    return PreparedCell(
        CellSpec("simple-update", 1, 1),
        catalogue.workload("simple-update"),
        arms,
        Placement(1, (0,)),
        directories(place, "slots/0", "slots/1"),
        Pools.apart(2, 1),
        Pools.apart(2, 1),
    )


@pytest.mark.parametrize("ordinal", range(4))
def test_every_arm_works_in_the_slot_that_was_drawn_for_it_wherever_its_slots_are(
    cell: PreparedCell, place: Path, ordinal: int
) -> None:
    plan = cell.arrange(seed=1, ordinal=ordinal)
    with data_in_place(cell, plan) as data:
        shared, own = Path(data[0]), Path(data[1])
        assert shared == place / "slots" / str(plan.slots[0]) / "data"
        assert own == place / "own" / f"slot{plan.slots[1]}" / "data"
        assert not (shared / "pg_wal").is_symlink()
        assert (own / "pg_wal").resolve() == place / "wal" / f"slot{plan.slots[1]}" / "wal"
        assert [(copy / "pg_wal" / SEGMENT).read_text() for copy in (shared, own)] == ["load0", "load1"]

    for left in (shared, own, place / "wal" / f"slot{plan.slots[1]}" / "wal"):
        assert not left.exists()
    assert (cell.arms[1].loads[0] / "pg_wal" / SEGMENT).read_text() == "load1"


def test_what_an_interrupted_round_left_is_no_hindrance(cell: PreparedCell) -> None:
    plan = cell.arrange(seed=1, ordinal=0)
    wal = cell.fresh_wal(plan, 1)
    assert wal is not None
    for path in (wal, cell.fresh_data(plan, 1)):
        path.mkdir()
        (path / "left").touch()

    with fresh_copies(cell, plan, [1]) as copies:
        assert not (copies[1] / "left").exists()
        assert [path.name for path in wal.iterdir()] == [SEGMENT]
