"""When and how planning and locks are asked about."""

from types import SimpleNamespace
from typing import Any

import pytest

from pgverdict.conduct.preliminaries import ROUNDS, counting, with_preliminaries
from pgverdict.observe.preliminaries import COUNT_LOCKS, TRACK_PLANNING
from pgverdict.spec.own import OwnScript, OwnWork
from pgverdict.workloads import catalogue

SELECT = "\\set aid random(1, 9)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;"


def test_a_script_without_a_transaction_gets_one_that_counts_at_its_end() -> None:
    assert counting(SELECT, track_planning=True).splitlines() == [
        TRACK_PLANNING,
        "BEGIN;",
        *SELECT.splitlines(),
        COUNT_LOCKS,
        "END;",
    ]


def test_a_script_that_is_a_transaction_counts_before_its_end() -> None:
    text = "\\set n 1\nBEGIN;\nSELECT :n;\nEND;\n"

    assert counting(text, track_planning=False).splitlines() == [
        "\\set n 1",
        "BEGIN;",
        "SELECT :n;",
        COUNT_LOCKS,
        "END;",
    ]


@pytest.mark.parametrize("name", catalogue.names())
def test_every_script_of_the_catalogue_that_may_have_partitions_can_count(name: str) -> None:
    workload = catalogue.workload(name)
    if not any(parameter.name == "partitions" for parameter in catalogue.parameters(name)):
        return
    for script in workload.scripts:
        lines = counting(script.text, track_planning=True).lower().splitlines()
        assert (lines.count("begin;"), lines.count("end;")) == (1, 1)
        assert lines[-2:] == [COUNT_LOCKS.lower(), "end;"]


OWN = OwnWork((OwnScript("mine", "SELECT 1;", 1),), None, None, None, False, False)


@pytest.mark.parametrize(
    ("change", "ordinal"),
    [({"asks_preliminaries": False}, 0), ({}, ROUNDS), ({"spec": SimpleNamespace(own=OWN)}, 0)],
    ids=["not about partitions", "not a first round", "scripts of users"],
)
def test_nothing_is_asked_elsewhere(change: dict[str, Any], ordinal: int) -> None:
    cell = SimpleNamespace(
        **{
            "asks_preliminaries": True,
            "workload": catalogue.workload("select-only"),
            "spec": SimpleNamespace(own=None),
            **change,
        }
    )
    record: Any = object()
    plan: Any = SimpleNamespace(ordinal=ordinal)
    live: Any = {}  # whoever asked would look here
    asked: Any = cell

    assert with_preliminaries(asked, plan, live, [record]) == (record,)


def test_servers_of_others_are_not_asked() -> None:
    cell: Any = SimpleNamespace(
        asks_preliminaries=True, workload=catalogue.workload("select-only"), spec=SimpleNamespace(own=None)
    )
    record: Any = SimpleNamespace(arm=0)
    live: Any = {0: SimpleNamespace(server="somebody else's")}
    plan: Any = SimpleNamespace(ordinal=0)

    assert with_preliminaries(cell, plan, live, [record]) == (record,)
