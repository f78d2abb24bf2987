"""A user's own work as values."""

import dataclasses

import pytest

from pgverdict.errors import UserError
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.own import OwnDump, OwnScript, OwnText, OwnWork

SCRIPT = OwnScript("/work/read.sql", "SELECT 1;\n")
WORK = OwnWork((SCRIPT,), OwnText("/s", "CREATE TABLE t (i int);"), dump=OwnDump("/d", "00ff", 12))


def test_a_workload_is_called_after_its_scripts() -> None:
    assert OwnWork((SCRIPT, OwnScript("/work/new order.pgbench", "SELECT 2;"))).name == "read+new-order"
    assert len(OwnWork(tuple(OwnScript(f"/a-long-name-{n}.sql", "") for n in range(9))).name) == 40


def test_what_is_allowed_is_known_and_makes_no_other_cell() -> None:
    allowed = dataclasses.replace(WORK, allow=("shell",))

    assert allowed.digest == WORK.digest
    with pytest.raises(UserError, match="unknown thing to allow: shel") as caught:
        dataclasses.replace(WORK, allow=("shel",))
    assert caught.value.hint == "did you mean shell?"


@pytest.mark.parametrize(
    "change",
    [
        {"scripts": (dataclasses.replace(SCRIPT, text="SELECT 2;"),)},
        {"scripts": (dataclasses.replace(SCRIPT, weight=2),)},
        {"schema": None},
        {"load": OwnText("/l", "INSERT INTO t SELECT 1;")},
        {"dump": OwnDump("/d", "00fe", 12)},
        {"read_only": True},
        {"long": True},
    ],
)
def test_whatever_is_measured_otherwise_has_another_digest_and_is_another_cell(
    change: dict[str, object],
) -> None:
    other = dataclasses.replace(WORK, **change)  # type: ignore[arg-type]

    assert other.digest != WORK.digest
    assert CellSpec("read", 1, 1, own=other).key != CellSpec("read", 1, 1, own=WORK).key


def test_where_files_lie_is_no_part_of_the_digest() -> None:
    moved = dataclasses.replace(
        WORK,
        scripts=(dataclasses.replace(SCRIPT, path="/elsewhere/read.sql"),),
        dump=OwnDump("/e", "00ff", 12),
    )

    assert moved.digest == WORK.digest


@pytest.mark.parametrize(
    ("scripts", "complaint"),
    [
        ((SCRIPT, OwnScript("/other/read.sql", "SELECT 2;")), "two scripts of one name: read"),
        ((dataclasses.replace(SCRIPT, weight=0),), "no script is ever chosen: read"),
    ],
)
def test_scripts_that_make_no_mix_are_refused(scripts: tuple[OwnScript, ...], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        OwnWork(scripts)


def test_the_scale_stands_in_for_its_variable_and_for_nothing_else() -> None:
    text = OwnText("/l", "SELECT ':x', :scale, a::scale, :scaled, generate_series(1,:scale)")

    assert text.at(7) == "SELECT ':x', 7, a::scale, :scaled, generate_series(1,7)"
