"""Clocks of cores, threads, nodes and the kernel's own clock."""

from pathlib import Path

import pytest

from pgverdict.host.advice import Change
from pgverdict.host.kernel import check_layout
from pgverdict.records.host import Level

from .recorded import advice_on, lay_out

GOVERNOR = "/sys/devices/system/cpu/cpufreq/policy{}/scaling_governor"


def test_the_governor_is_changed_where_it_is_not_performance_already(tmp_path: Path) -> None:
    governor = advice_on(lay_out("laptop", tmp_path))["cpu governor"]

    assert governor.diagnosis.found == "powersave on 3 of 4 cores, performance on 1"
    assert governor.changes == tuple(Change(GOVERNOR.format(n), "performance") for n in (0, 1, 2))
    paths = " ".join(GOVERNOR.format(n) for n in (0, 1, 2))
    assert governor.command == f"echo performance | sudo tee {paths}"


def test_a_governor_that_the_kernel_does_not_offer_is_not_asked_for(tmp_path: Path) -> None:
    only = {
        f"sys__devices__system__cpu__cpufreq__policy{n}__scaling_available_governors": "powersave"
        for n in (0, 1)
    }

    governor = advice_on(lay_out("laptop", tmp_path, **only))["cpu governor"]

    assert governor.changes == (Change(GOVERNOR.format(2), "performance"),)


def test_turbo_is_turned_off_by_the_file_that_the_machine_has(tmp_path: Path) -> None:
    intel = advice_on(lay_out("laptop", tmp_path / "intel"))["turbo"]
    amd = advice_on(lay_out("numa", tmp_path / "amd", sys__devices__system__cpu__cpufreq__boost="1"))["turbo"]

    assert intel.changes == (Change("/sys/devices/system/cpu/intel_pstate/no_turbo", "1"),)
    assert amd.changes == (Change("/sys/devices/system/cpu/cpufreq/boost", "0"),)


def test_threads_of_a_virtual_machine_are_not_known_whatever_it_says(tmp_path: Path) -> None:
    smt = advice_on(lay_out("virtual", tmp_path, sys__devices__system__cpu__smt__control="off"))["smt"]

    assert smt.level is Level.NOT_KNOWN
    assert "neither steal nor load tells of it" in smt.why


def test_nobody_turns_threads_off_for_the_user(tmp_path: Path) -> None:
    smt = advice_on(lay_out("laptop", tmp_path))["smt"]

    assert smt.command == "echo off | sudo tee /sys/devices/system/cpu/smt/control"
    assert smt.changes == ()


def test_one_of_two_nodes_is_as_good_as_one_node(tmp_path: Path) -> None:
    status = "CapEff:\t0000000000000000\nCpus_allowed_list:\t0,2"

    both = advice_on(lay_out("numa", tmp_path / "both"))["numa nodes"]
    one = advice_on(lay_out("numa", tmp_path / "one", proc__self__status=status))["numa nodes"]

    assert (both.level, both.diagnosis.found) == (Level.WARNING, "2, and servers may run on all")
    assert both.command == "numactl --cpunodebind=0 --membind=0 pgverdict compare ..."
    assert (one.level, one.diagnosis.found) == (Level.FINE, "2, and only node 0 is used")


def test_balancing_between_nodes_matters_where_there_are_several(tmp_path: Path) -> None:
    several = advice_on(lay_out("numa", tmp_path / "several"))["numa balancing"]
    single = advice_on(lay_out("virtual", tmp_path / "single", proc__sys__kernel__numa_balancing="1"))

    assert several.changes == (Change("/proc/sys/kernel/numa_balancing", "0"),)
    assert several.command == "sudo sysctl -w kernel.numa_balancing=0"
    assert single["numa balancing"].level is Level.FINE


@pytest.mark.parametrize(
    ("clock", "level"),
    [
        ("tsc", Level.FINE),
        ("kvm-clock", Level.FINE),
        ("acpi_pm", Level.WARNING),
        ("sundial", Level.NOT_KNOWN),
    ],
)
def test_a_clock_is_judged_by_what_reading_it_costs(clock: str, level: Level, tmp_path: Path) -> None:
    path = "sys__devices__system__clocksource__clocksource0__current_clocksource"

    assert advice_on(lay_out("virtual", tmp_path, **{path: clock}))["clock source"].level is level


def test_a_slow_clock_is_only_to_be_exchanged_for_one_that_there_is(tmp_path: Path) -> None:
    offered = "sys__devices__system__clocksource__clocksource0__available_clocksource"

    with_tsc = advice_on(lay_out("numa", tmp_path / "with"))["clock source"]
    without = advice_on(lay_out("numa", tmp_path / "without", **{offered: "hpet acpi_pm"}))["clock source"]

    assert with_tsc.command.startswith("echo tsc | sudo tee")
    assert without.command == "sudo dmesg | grep -i -e tsc -e clocksource"
    assert with_tsc.changes == without.changes == ()


def test_only_mitigations_that_are_at_work_are_named(tmp_path: Path) -> None:
    said = advice_on(lay_out("virtual", tmp_path))["mitigations"]

    assert said.diagnosis.found == "spectre_v1, spectre_v2"


def test_profiles_are_for_root_whatever_the_kernel_says(tmp_path: Path) -> None:
    root = advice_on(lay_out("virtual", tmp_path / "root", proc__sys__kernel__perf_event_paranoid="4"))
    user = advice_on(lay_out("laptop", tmp_path / "user"))

    assert root["perf access"].diagnosis.found == "allowed to this user, without hardware counters"
    assert user["perf access"].diagnosis.found == "perf_event_paranoid 4"
    assert user["perf access"].changes == ()


def test_that_the_kernel_draws_every_layout_is_noted_with_the_reason() -> None:
    forbidden = check_layout("cannot fix the addresses of new processes: Operation not permitted")

    assert check_layout(None).level is Level.FINE
    assert forbidden.level is Level.NOTE
    assert forbidden.diagnosis.found.endswith(
        "for every start: cannot fix the addresses of new processes: Operation not permitted"
    )
