"""Workloads with parameters, and a user's own, from the command line to the store."""

import shlex
from pathlib import Path

import pytest

from pgverdict.spec.own import OwnText
from pgverdict.store.opening import open_store
from tests.e2e import cli

pytestmark = pytest.mark.slow

BUDGET = ("--scale", "1", "--rounds", "2", "--pairs", "2", "--seed", "1")


def test_parameters_and_long_queries_are_measured_and_the_command_has_them(home: Path, store: str) -> None:
    report = cli.report_of(
        "compare", "12", "18", "--workload", "full-scan", "--workload", "select-only", "-p", "partitions=2",
        "-p", "fillfactor=100", *BUDGET, "--store", store, home=home,
    )  # fmt: skip

    scan, read = report["cells"]
    assert scan["parameters"] == read["parameters"] == {"partitions": 2}
    assert [cell["rounds"] for cell in report["cells"]] == [2, 2]
    assert scan["placement"]["placement"] == "free"
    assert int(scan["placement"]["bound_transactions_per_client"]) >= 1
    assert "bound_duration_us" not in scan["placement"]
    assert scan["headline"].count("full-scan")
    figures = {figure["name"]: figure["values"] for figure in scan["statements"][0]["figures"]}
    assert figures["rows per call"] == [1.0, 1.0]
    assert figures["WAL per call"][0] is None
    assert "--parameter partitions=2" in report["run"]["command"]
    assert cli.report_of("report", "--store", store, home=home) == report


def test_own_work_is_measured_and_kept_with_its_texts(home: Path, store: str, tmp_path: Path) -> None:
    schema = tmp_path / "schema.sql"
    schema.write_text(
        "CREATE TABLE stock AS SELECT i AS id, 0 AS n FROM generate_series(1, 100 * :scale) AS i;"
    )
    scripts = [tmp_path / name for name in ("buy.sql", "look.sql")]
    scripts[0].write_text("\\set id random(1, 100 * :scale)\nUPDATE stock SET n = n + 1 WHERE id = :id;\n")
    scripts[1].write_text("SELECT count(*) FROM stock;\n")
    report = cli.report_of(
        "compare", "18", "18", "--script", f"{scripts[0]}@3", "--script", str(scripts[1]), "--schema", str(schema),
        *BUDGET, "--store", store, home=home,
    )  # fmt: skip

    (cell,) = report["cells"]
    assert (cell["workload"], cell["regime"], cell["primary"], cell["rounds"]) == (
        "buy+look",
        "fresh",
        "tps",
        2,
    )
    assert [statement["text"][:6] for statement in cell["statements"]] == ["UPDATE", "SELECT"]
    assert f"--script {scripts[0]}@3" in report["run"]["command"]
    assert shlex.split(report["run"]["command"])
    with open_store(store) as opened:
        own = opened.load_run().cells[0].spec.own
    assert own is not None
    assert [(one.name, one.weight) for one in own.scripts] == [("buy", 3), ("look", 1)]
    assert own.schema == OwnText(str(schema), schema.read_text())


def test_a_script_that_cannot_be_measured_ends_the_run_before_anything_is_loaded(
    home: Path, store: str, tmp_path: Path
) -> None:
    script = tmp_path / "slow.sql"
    script.write_text("SELECT 1;\n\\shell date\n")
    done = cli.run("compare", "18", "18", "--script", str(script), "--store", store, home=home)

    assert done.returncode == 2, done.stderr
    assert 'a script cannot be measured: script "slow" line 2' in done.stderr
    assert "loading" not in done.stderr
