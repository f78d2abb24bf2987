"""What others do between two looks."""

import dataclasses
from pathlib import Path

import pytest

from pgverdict.host.load import (
    Load,
    Look,
    Process,
    check_others,
    check_pressure,
    check_steal,
    load_between,
    look,
)
from pgverdict.host.tree import Tree
from pgverdict.records.host import Level

from .recorded import lay_out

STAT = "{pid} (a (b) c) S 1 1 1 0 -1 4194560 1 1 0 0 {user} {system} 10 10 20 0 1 0 24 1 1"


def _look(*cpu_s: float, at_s: float, hidden_s: float = 0.0, steal_s: float | None = 1.0) -> Look:
    """Of two cores, on which these processes worked, and others that are not shown."""
    processes = {pid: Process(pid, f"p{pid}", used, "") for pid, used in enumerate(cpu_s, start=1)}
    return Look(at_s, 2, sum(cpu_s) + hidden_s, steal_s, processes, {})


def test_processes_are_read_whatever_they_are_called(tmp_path: Path) -> None:
    tree = lay_out(
        "virtual",
        tmp_path,
        proc__77__stat=STAT.format(pid=77, user=150, system=50),
        proc__77__cgroup="0::/system.slice/cron.service",
        proc__88__stat=STAT.format(pid=88, user=0, system=0),
        proc__88__cgroup="0::/user.slice/user-1000.slice/user@1000.service/app.slice/indexer.service",
    )

    seen = look(tree)

    assert seen.processes[77] == Process(77, "a (b) c", 2.0, "cron.service")
    assert seen.processes[88].unit == ""
    assert (seen.cores, seen.steal_s) == (2, 115.22)
    assert seen.busy_s == pytest.approx((1478324 + 600221 + 1711351 + 17371) / 100)
    assert seen.pressure == {"cpu": 0.1819, "memory": 0.0, "io": 0.0098}


def test_what_we_used_is_nobody_elses() -> None:
    load = load_between(_look(1, 5, 2, at_s=10), _look(2, 5.5, 2, at_s=12), own=1)

    assert [(process.pid, share) for process, share in load.processes] == [(2, 0.25), (3, 0.0)]
    assert load.others == 0.125


def test_a_process_that_began_meanwhile_counts_whole() -> None:
    assert load_between(_look(at_s=0), _look(1.0, at_s=2)).others == 0.25


def test_those_that_are_not_shown_count_as_well() -> None:
    load = load_between(_look(1, at_s=0), _look(2, at_s=2, hidden_s=1.6), own=1)

    assert load.others == pytest.approx(0.4)
    assert (
        check_others(load).diagnosis.found == "40.0 % of all cores: nobody with much, or nobody who is shown"
    )


def test_steal_is_of_all_cores_and_unknown_where_it_is_not_counted() -> None:
    load = load_between(_look(at_s=0, steal_s=1.0), _look(at_s=2, steal_s=1.2))

    assert load.steal == pytest.approx(0.05)
    assert load_between(_look(at_s=0, steal_s=None), _look(at_s=2)).steal is None


QUIET = Load((), 0.0, 0.0, {"cpu": 0.0, "memory": 0.0, "io": 0.0})


@pytest.mark.parametrize(("others", "level"), [(0.049, Level.FINE), (0.05, Level.WARNING)])
def test_others_are_warned_of_from_a_twentieth_on(others: float, level: Level) -> None:
    assert check_others(dataclasses.replace(QUIET, others=others)).level is level


def test_a_busy_process_on_many_cores_is_named_all_the_same() -> None:
    busy = (Process(41, "indexer", 9.0, ""), 0.8)

    said = check_others(dataclasses.replace(QUIET, others=0.01, processes=(busy,)))

    assert said.level is Level.NOTE
    assert said.diagnosis.found == "1.0 % of all cores: indexer (41) 80.0 % of a core"
    assert said.command == "ps -o pid,user,pcpu,etime,args -p 41"


def test_a_service_is_stopped_by_its_name() -> None:
    busy = (Process(41, "indexer", 9.0, "indexer.service"), 0.8)

    said = check_others(dataclasses.replace(QUIET, others=0.4, processes=(busy,)))

    assert said.command == "sudo systemctl stop indexer.service"


@pytest.mark.parametrize(
    ("steal", "level"), [(None, Level.NOT_KNOWN), (0.009, Level.FINE), (0.01, Level.WARNING)]
)
def test_steal_beyond_a_margin_is_warned_of(steal: float | None, level: Level) -> None:
    assert check_steal(dataclasses.replace(QUIET, steal=steal)).level is level


@pytest.mark.parametrize(
    ("pressure", "level"),
    [
        ({}, Level.NOT_KNOWN),
        ({"cpu": 0.1, "memory": 0.01, "io": 0.1}, Level.FINE),
        ({"cpu": 0.0, "memory": 0.02, "io": 0.0}, Level.WARNING),
        ({"cpu": 0.2, "memory": 0.0, "io": 0.0}, Level.WARNING),
    ],
)
def test_pressure_is_judged_by_what_is_waited_for(pressure: dict[str, float], level: Level) -> None:
    assert check_pressure(dataclasses.replace(QUIET, pressure=pressure)).level is level


def test_this_very_host_has_processes() -> None:
    seen = look(Tree())

    assert 1 in seen.processes
