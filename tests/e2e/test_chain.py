"""A chain on real servers, from the command line to the report and back from the store."""

from pathlib import Path

import pytest

from pgverdict.store.opening import open_store
from tests.e2e import cli

pytestmark = pytest.mark.slow

TINY = (
    "--scale", "1", "-p", "rows=2000", "-p", "l_i1_rows=1000", "-p", "l_i2_rows=200", "-p", "rates=100",
    "-p", "seconds=2", "-p", "wait_seconds=0", "--set", "synchronous_commit=off",
)  # fmt: skip

STEPS = ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100"]


def test_a_chain_takes_every_arm_through_all_steps_and_tells_of_each(home: Path, store: str) -> None:
    report = cli.report_of(
        "compare", "12", "18", "--workload", "insert-benchmark", *TINY, "--rounds", "2", "--budget", "10m",
        "--store", store, "--html", str(Path(store).with_suffix(".html")), home=home,
    )  # fmt: skip
    (cell,) = report["cells"]
    assert (cell["regime"], cell["primary"], cell["rounds"]) == ("chain", "step_rate_geomean", 2)
    (chain,) = report["steps"]
    assert [row["name"] for row in chain["steps"]] == STEPS
    for row in chain["steps"]:
        assert row["baseline_value"] > 0
        assert row["candidates"][0]["effect"] > 0
    told = {(verdict["metric"], verdict["subject"]) for verdict in cell["verdicts"]}
    for step in STEPS:
        assert {("step_rate", step), ("step_us_p99", step), ("step_cpu_us", step)} <= told
    _check_seconds(store)
    again = cli.report_of("report", "--store", store, home=home)
    assert again["steps"] == report["steps"]
    text = cli.run("report", "--store", store, home=home).stdout
    assert "relative throughput by step" in text
    assert "Relative throughput by step" in Path(store).with_suffix(".html").read_text()


def _check_seconds(store: str) -> None:
    """Steps of more than a second are kept second by second, and the parts are the whole."""
    with open_store(store) as opened:
        rounds = opened.load_run().cells[0].measured
    long = [one for r in rounds for one in r.slices if one.seconds]
    assert len(long) >= 2 * 2 * 2, "two steps of two seconds, of two arms, in two rounds"
    for one in long:
        whole, *kinds = one.seconds
        assert whole.kind is None
        assert sum(whole.transactions) == one.transactions
        assert {"insert", "query"} <= {series.kind for series in kinds}
        assert sum(sum(series.transactions) for series in kinds) <= one.transactions
        busy_ns = sum(n * (mean or 0) for n, mean in zip(whole.transactions, whole.mean_ns, strict=True))
        assert busy_ns == pytest.approx(one.latency.mean_ns * one.transactions)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--regime", "steady"), "is a chain of steps and has no regime to choose: steady"),
        (("--pairs", "4"), "worked through whole, and not in pairs: --pairs 4"),
        (("--cache", "cold"), "a chain begins with nothing that could be cold"),
        (("--freeze", "signal"), "servers cannot be frozen in the chain regime"),
        (("--primary", "tps"), "the metric tps cannot be told of the workload insert-benchmark"),
        (("--handicap", "100"), "no handicap is put on a chain"),
        (("--handicap", "1%"), "no handicap is put on a chain"),
        (("-p", "rates=fast"), "not rates of the insert benchmark: fast"),
        (("--clients", "100", "-p", "l_i2_rows=10"), "l.i2 has fewer rows than one statement of each client"),
        (("--budget", "1s"), "the budget is shorter than one round"),
    ],
)
def test_what_a_chain_cannot_be_asked_for_is_said(
    arguments: tuple[str, ...], said: str, home: Path, store: str
) -> None:
    done = cli.run(
        "compare", "18", "18", "--workload", "insert-benchmark", *arguments, "--store", store, home=home
    )
    assert done.returncode == 2, done.stderr
    assert said in " ".join(done.stderr.split())
