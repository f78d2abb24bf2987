"""From runs of our workloads and of their rivals to the table, without running any."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bench.workloads import copying, inserting, sysbench, tpcc, ycsb
from bench.workloads.__main__ import CASES, PAGE, RESULTS
from bench.workloads.case import Case, Goal, Size
from bench.workloads.figures import OURS, Run, compare, table
from bench.workloads.page import page
from bench.workloads.recorded import Recorded, begin, read, read_all, write
from pgverdict.datasets.load import lanes
from pgverdict.errors import UserError, WorldError
from pgverdict.workloads import catalogue

GOALS = (Goal("us", most=0.4), Goal("per second", least=2.0))


def a_case() -> Case:
    def opened(_size: Size) -> None:
        raise AssertionError("nothing is run here")

    size = Size(1, 1, 1)
    differs = "They differ."
    return Case("work", "some work", "rival", differs, GOALS, size, size, str, opened)  # type: ignore[arg-type]


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

    assert tpcc.counted(said) == 569 + 45
    with pytest.raises(WorldError, match="no count of transactions"):
        tpcc.counted("panic: nothing")


def test_what_a_rival_says_is_read_or_refused() -> None:
    assert sysbench.counted("    transactions:                        29437  (5886.24 per sec.)\n") == 29437
    for said in ("FATAL: no", "    transactions:                        0      (0.00 per sec.)\n"):
        with pytest.raises(WorldError, match="no count of transactions in the report of sysbench"):
            sysbench.counted(said)
    done = "READ   - Takes(s): 0.5, Count: 12, OPS: 23,\nTOTAL  - Takes(s): 0.5, Count: 20, OPS: 38.2, Avg(us): 1,"
    ycsb.check_done(done, 20)
    for said, operations in ((done, 21), (done + "\nREAD_ERROR - Takes(s): 0.1, Count: 1", 20), ("", 20)):
        with pytest.raises(WorldError, match=f"go-ycsb did not do {operations} operations"):
            ycsb.check_done(said, operations)


def test_pgbench_is_given_the_statements_of_the_insert_benchmark() -> None:
    (drawn,) = inserting.drawn_script()
    assert drawn.count("\\set ") == 1 + 4 * inserting.ROWS_PER_STATEMENT
    ready = inserting.ready_scripts()
    assert len(set(ready)) == inserting.READY_STATEMENTS
    for script in (drawn, *ready):
        columns = "dateandtime, cashregisterid, customerid, productid, price, data"
        assert script.count(f"INSERT INTO pi:table ({columns}) VALUES ('2026-01-01', ") == 1
        assert script.count("('2026-01-01', ") == inserting.ROWS_PER_STATEMENT


@pytest.mark.parametrize(("name", "files"), [("tpch", 8), ("ycsb-a", 4)])
def test_every_copy_of_a_load_has_a_file_of_its_own(name: str, files: int) -> None:
    steps = [step for lane in lanes(catalogue.workload(name).dataset, 1) for step in lane if "copy" in step]

    assert len({copying.part(step) for step in steps}) == len(steps) == files


def a_record(tmp_path: Path, runs: list[Run]) -> Recorded:
    case = a_case()
    recorded = begin(case, "rival 1", case.size, engine="0" * 64, host={"cores": "2"}, command="./x bench")
    recorded.runs += runs
    write(recorded, tmp_path / "work.json")
    return read(tmp_path / "work.json")


def test_what_is_kept_is_read_again_and_may_be_added_to(tmp_path: Path) -> None:
    runs = [a_run(number, program, 1.0, 2.0) for number in range(2) for program in (OURS, "rival")]

    found = a_record(tmp_path, runs)

    assert (found.runs, found.repetitions) == (runs, 2)
    assert [one.case for one in read_all(tmp_path)] == ["work"]
    found.check_goes_on(found)


@pytest.mark.parametrize(
    ("what", "value"), [("rival", "rival 2"), ("engine", "1" * 64), ("host", {"cores": "8"}), ("size", {})]
)
def test_repetitions_that_are_not_alike_are_not_put_together(
    tmp_path: Path, what: str, value: object
) -> None:
    found = a_record(tmp_path, [])

    with pytest.raises(UserError, match=f"what is recorded of work is of another {what}") as caught:
        found.check_goes_on(replace(found, **{what: value}))  # type: ignore[arg-type]

    assert caught.value.hint == "--anew begins it anew"


def test_the_page_in_the_documentation_is_that_of_what_is_recorded() -> None:
    recorded = read_all(RESULTS)

    assert {one.case for one in recorded} <= {case.name for case in CASES}
    assert page(recorded, CASES) == PAGE.read_text(encoding="utf-8")


def test_what_is_not_measured_is_said() -> None:
    told = page([], [a_case()])

    assert told.endswith("Not measured yet: `work`.\n")


def test_what_is_recorded_is_of_the_sizes_that_cases_have_and_complete() -> None:
    sizes = {case.name: asdict(case.size) for case in CASES}
    programs = {case.name: {OURS, case.rival} for case in CASES}

    for one in read_all(RESULTS):
        assert one.size == sizes[one.case]
        assert one.repetitions >= 5, one.case
        for number in range(one.repetitions):
            assert {run.program for run in one.runs if run.repetition == number} == programs[one.case]
