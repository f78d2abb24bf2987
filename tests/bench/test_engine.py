"""From runs of the load engine and of pgbench to the table: what is divided by what."""

import pytest

from bench.engine.cases import CASES, Figure, Place
from bench.engine.figures import OURS, THEIRS, Run, bytes_per_connection, compare, table
from bench.engine.stall import SECONDS, Stalled


def a_run(case: str, number: int, program: str, cpu_us: float, **changes: float) -> Run:
    made = {
        "transactions": 1000, "user_s": cpu_us * 1000 / 4e6, "system_s": cpu_us * 1000 * 3 / 4e6, "tps": 1e5,
        "rss_bytes": 10_000_000,
    }  # fmt: skip
    return Run(case=case, round=number, program=program, **{**made, **changes})  # type: ignore[arg-type]


def test_ratios_are_of_the_same_round_and_their_median_is_told() -> None:
    ours, theirs = (2.0, 3.0, 9.0), (4.0, 5.0, 10.0)
    runs = [a_run("null-8", n, OURS, one) for n, one in enumerate(ours)]
    runs += [a_run("null-8", n, THEIRS, one) for n, one in enumerate(theirs)]

    cpu = next(one for one in compare(runs) if one.goal.figure is Figure.CPU)

    assert (cpu.ratio, cpu.lowest, cpu.highest, cpu.repetitions) == pytest.approx((0.6, 0.5, 0.9, 3))
    assert (cpu.ours, cpu.theirs) == pytest.approx((3.0, 5.0))
    assert "| **0.60** (0.50 to 0.90) | <= 0.75 | met |" in table([cpu])


def test_a_round_that_one_program_lacks_is_left_out() -> None:
    runs = [a_run("null-8", 0, OURS, 2.0), a_run("null-8", 0, THEIRS, 4.0), a_run("null-8", 1, OURS, 2.0)]

    assert {one.repetitions for one in compare(runs)} == {1}
    assert compare([a_run("null-8", 0, OURS, 2.0)]) == []


def test_figures_are_per_statement_and_per_command() -> None:
    pipelined = compare([a_run("pipeline-10", 0, OURS, 4.0), a_run("pipeline-10", 0, THEIRS, 10.0)])
    assert (pipelined[0].ours, pipelined[0].theirs) == pytest.approx((0.4, 1.0))

    runs = [
        a_run(case, 0, program, cpu_us)
        for program, empty, whole in ((OURS, 1.0, 2.47), (THEIRS, 2.0, 6.9))
        for case, cpu_us in (("script-empty", empty), ("set-random", whole))
    ]
    (found,) = compare(runs)
    # Fifty commands, one of which the empty script has too.
    assert (found.ours, found.theirs) == pytest.approx((0.03, 0.1))


def test_memory_of_a_connection_is_what_many_take_beyond_few() -> None:
    runs = [
        a_run("null-8", 0, OURS, 1.0),
        a_run("many", 0, OURS, 1.0, rss_bytes=10_000_000 + 9992 * 7_000),
    ]

    assert bytes_per_connection(runs) == {OURS: pytest.approx(7_000)}


def test_the_truth_of_a_stall_is_its_own_length() -> None:
    found = Stalled(None, 0.5, 21_000.0, 100.0, 441_000.0, 5990, 0, 10, 3)

    mean, p99 = found.truth_us
    assert mean == pytest.approx(1e6 * 0.25 / (2 * SECONDS) + 100)
    assert p99 == pytest.approx(440_000 + 100)
    assert found.arrivals == 6003


def test_cases_have_names_of_their_own_and_what_they_refer_to_is_there() -> None:
    names = [case.name for case in CASES]

    assert len(set(names)) == len(names)
    assert all(case.less is None or case.less in names for case in CASES)
    assert all(case.script for case in CASES if case.place is Place.NONE)
