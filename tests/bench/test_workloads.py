"""From runs of our workloads and of their rivals to the table, without running any."""

import pytest

from bench.workloads.__main__ import CASES
from bench.workloads.case import Case, Goal, Size
from bench.workloads.figures import OURS, Run, compare, table
from bench.workloads.tpcc import counted
from pgverdict.errors import WorldError

GOALS = (Goal("us", most=0.4), Goal("per second", least=2.0))


def a_case() -> Case:
    def opened(_size: Size) -> None:
        raise AssertionError("nothing is run here")

    size = Size(1, 1, 1)
    return Case("work", "some work", "rival", GOALS, size, size, lambda: None, opened)  # type: ignore[arg-type]


def a_run(number: int, program: str, us: float, per_second: float) -> Run:
    return Run("work", number, program, {"us": us, "per second": per_second, "beside": 1.0})


def test_ratios_are_of_the_same_repetition_and_their_median_is_held_against_the_goal() -> None:
    runs = [a_run(n, OURS, us, 300.0) for n, us in enumerate((1.0, 2.0, 4.0))]
    runs += [a_run(n, "rival", 10.0, 200.0) for n in range(3)]

    cpu, rate = compare(runs, [a_case()])

    assert (cpu.ratio, cpu.lowest, cpu.highest, cpu.repetitions) == pytest.approx((0.2, 0.1, 0.4, 3))
    assert rate.ratio == pytest.approx(1.5)
    assert not rate.goal.met(rate.ratio)
    rows = table([cpu, rate]).splitlines()
    assert rows[2].endswith("| <= 0.4 | met |")
    assert rows[3].endswith("| >= 2 | missed |")
    assert "rival 10" in rows[2]


def test_a_repetition_that_one_program_lacks_is_left_out() -> None:
    runs = [a_run(0, OURS, 1.0, 1.0), a_run(0, "rival", 2.0, 1.0), a_run(1, OURS, 9.0, 1.0)]

    assert {one.repetitions for one in compare(runs, [a_case()])} == {1}
    assert compare(runs[:1], [a_case()]) == []


def test_cases_have_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert all(case.goals for case in CASES)


def test_transactions_of_go_tpc_are_counted_without_its_errors() -> None:
    said = (
        "[Current] NEW_ORDER - Takes(s): 1.0, Count: 7, TPM: 1\n"
        "[Summary] NEW_ORDER - Takes(s): 3.0, Count: 569, TPM: 11532.3, Sum(ms): 2301.1\n"
        "[Summary] NEW_ORDER_ERR - Takes(s): 3.0, Count: 4, TPM: 1.0, Sum(ms): 1.0\n"
        "[Summary] STOCK_LEVEL - Takes(s): 2.9, Count: 45, TPM: 922.6, Sum(ms): 196.4\n"
        "tpmC: 11531.9, tpmTotal: 25458.5, efficiency: 89672.3%\n"
    )

    assert counted(said) == 569 + 45
    with pytest.raises(WorldError, match="no count of transactions"):
        counted("panic: nothing")
