"""The TPC-C-like workload: what its parameters do, and what is wrong with some."""

import pytest

from pgverdict.errors import UserError
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.parameters import Chosen
from pgverdict.workloads import catalogue
from pgverdict.workloads.fitting import require_fit
from pgverdict.workloads.regimes import primary_of
from pgverdict.workloads.workload import Workload


def program_of(workload: Workload) -> dict[str, object]:
    assert workload.program is not None
    return dict(workload.program.parameters)


def test_the_twelve_conditions_of_the_standard_are_its_checks() -> None:
    checks = catalogue.workload("tpcc").dataset.checks

    assert [check.name for check in checks] == [str(number) for number in range(1, 13)]
    assert all(check.about and not check.about.endswith(".") for check in checks)
    assert all(check.sql.startswith("SELECT ") and not check.sql.endswith(";") for check in checks)


def test_a_mix_is_decided_by_all_its_transactions_together() -> None:
    assert primary_of(CellSpec("tpcc", 1, 1), catalogue.workload("tpcc")) == "tps"


def test_weights_take_the_place_of_the_deck() -> None:
    assert program_of(catalogue.workload("tpcc"))["deck"] is True

    weighted = program_of(catalogue.workload("tpcc", (("mix", "45,43,4,4,0"),)))

    assert weighted["deck"] is False
    assert [value for name, value in weighted.items() if name.startswith("weight_")] == [45, 43, 4, 4, 0]


def test_what_is_done_leaves_the_data_alone_and_what_is_loaded_does_not() -> None:
    def digest(*chosen: tuple[str, int | str | bool]) -> str:
        return catalogue.workload("tpcc", chosen).dataset.digest(1)

    assert digest() == digest(("isolation", "serializable"), ("variant", "functions"))
    assert (
        len({digest(), digest(("fillfactor", 90)), digest(("foreign_keys", True)), digest(("seed", 2))}) == 4
    )


@pytest.mark.parametrize(
    ("chosen", "complaint"),
    [
        ((("mix", "cards"),), "not a mix of tpcc: cards"),
        ((("mix", "1,2,3,4"),), "not a mix of tpcc: 1,2,3,4"),
        ((("mix", "1,2,3,4,-5"),), "not a mix of tpcc: 1,2,3,4,-5"),
        ((("mix", "0,0,0,0,0"),), "without any transaction: 0,0,0,0,0"),
        ((("waits", 1.0),), "not a value of the parameter waits: 1"),
        ((("tries", 0),), "not a value of the parameter tries: 0"),
        ((("isolation", "chaos"),), "unknown value of the parameter isolation: chaos"),
        ((("warehouses", 0),), "unknown parameter of tpcc: warehouses"),
    ],
)
def test_what_makes_no_sense_is_refused(chosen: Chosen, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        catalogue.workload("tpcc", chosen)


@pytest.mark.parametrize("terminals", ["shared", "standard"])
def test_more_terminals_than_districts_are_refused_and_what_helps_is_said(terminals: str) -> None:
    chosen: Chosen = (("terminals", terminals),)
    workload = catalogue.workload("tpcc", chosen)
    require_fit(CellSpec("tpcc", 2, 20, chosen), workload)

    with pytest.raises(
        UserError, match="21 clients are more than tpcc has districts at scale 2: 20"
    ) as caught:
        require_fit(CellSpec("tpcc", 2, 21, chosen), workload)

    assert caught.value.hint == "--scale 3 or more, or -p terminals=any"


def test_terminals_without_a_home_and_other_workloads_take_any_number_of_clients() -> None:
    chosen: Chosen = (("terminals", "any"),)
    require_fit(CellSpec("tpcc", 1, 1000, chosen), catalogue.workload("tpcc", chosen))
    require_fit(CellSpec("select-only", 1, 1000), catalogue.workload("select-only"))
