"""A user's scripts are tried on the engine before anything else is done."""

import pytest

from pgverdict.errors import UserError
from pgverdict.run.own import check_own_scripts
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.own import OwnScript, OwnWork
from pgverdict.workloads import catalogue
from pgverdict.workloads.own import workload_of


def check(text: str, allow: tuple[str, ...] = ()) -> None:
    own = OwnWork((OwnScript("/work/mine.sql", text),), allow=allow)
    spec = CellSpec(own.name, 1, 1, own=own)
    check_own_scripts([(spec, workload_of(spec))])


def test_a_script_of_sets_and_sql_is_taken() -> None:
    check("\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n")


def test_all_of_the_language_is_taken() -> None:
    check(
        "\\if :client_id = 0\nSELECT 1 AS a \\gset p_\n\\sleep 1 ms\n\\else\n\\startpipeline\nSELECT :p_a;\n"
        "\\endpipeline\n\\endif\n"
    )


def test_shell_commands_are_taken_where_they_are_allowed() -> None:
    check("SELECT 1;\n\\shell echo\n", allow=("shell",))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SELECT 1;\n\\shell echo\n", "mine.*line 2.*refused unless `shell` is allowed"),
        ("\\startpipeline\nSELECT 1;\n", "mine.*pipeline open"),
        ("SELECT 1;\nSELECT :nothing;\n", "mine.*nothing"),
        ("\\set x 1 +\nSELECT :x;\n", "mine.*line 1"),
        ("\\set x 1\n", "mine"),
    ],
)
def test_what_cannot_run_in_slices_is_refused_with_its_line(text: str, complaint: str) -> None:
    with pytest.raises(UserError, match=f"a script cannot be measured: .*{complaint}") as caught:
        check(text)

    assert caught.value.hint is not None


def test_workloads_of_the_catalogue_are_not_tried() -> None:
    check_own_scripts([(CellSpec("select-only", 1, 1), catalogue.workload("select-only"))])
