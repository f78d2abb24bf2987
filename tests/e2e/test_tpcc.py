"""The TPC-C-like workload, from the command line to the report; and what a broken check does to a round."""

import dataclasses
from pathlib import Path

import pytest

from pgverdict.cli.live import LiveView
from pgverdict.errors import WorldError
from pgverdict.records.round import RoundState
from pgverdict.run.execute import execute
from pgverdict.run.site import Site, measuring_alone
from pgverdict.servers.account import server_account
from pgverdict.servers.home import Home
from pgverdict.servers.workspace import Workspace
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.store.opening import open_store
from pgverdict.workloads import catalogue
from pgverdict.workloads.workload import Check
from tests.e2e import cli

pytestmark = pytest.mark.slow

KINDS = {"new_order", "payment", "order_status", "delivery", "stock_level"}
SMALL = ("--workload", "tpcc", "--scale", "1", "--clients", "2", "--rounds", "2", "--pairs", "1")


def test_all_releases_do_the_same_work_and_their_data_stay_whole(home: Path, store: str) -> None:
    report = cli.report_of("compare", "9.6", "12", "15", "18", *SMALL, "--store", store, home=home)

    assert len(report["cells"]) == 3
    for cell in report["cells"]:
        assert (cell["rounds"], cell["primary"]) == (2, "tps")
        assert not [note for note in cell["notes"] if "break check" in note]
        asked = {verdict["subject"] for verdict in cell["verdicts"] if verdict["metric"] == "kind_us_p50"}
        # Slices are small, and rare kinds may be missing from them.
        assert {"new_order", "payment"} <= asked <= KINDS


@pytest.mark.long
def test_functions_do_it_too_and_the_report_says_so(home: Path, store: str) -> None:
    report = cli.report_of(
        "compare", "18", "18", *SMALL, "-p", "variant=functions", "-p", "isolation=serializable",
        "-p", "waits=0.0005", "--store", store, home=home,
    )  # fmt: skip

    assert report["cells"][0]["rounds"] == 2
    assert "-p isolation=serializable" in report["run"]["command"].replace("--parameter", "-p")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--scale", "0"), "greater than or equal to 1"),
        (("--scale", "1", "--clients", "11"), "11 clients are more than tpcc has districts at scale 1: 10"),
        (("--scale", "1", "-p", "mix=1,2"), "not a mix of tpcc: 1,2"),
        (("--scale", "100000", "--clients", "1"), "not enough"),
    ],
)
def test_bad_sizes_and_parameters_are_told(
    home: Path, store: str, options: tuple[str, ...], said: str
) -> None:
    done = cli.run("compare", "18", "18", "--workload", "tpcc", *options, "--store", store, home=home)

    assert done.returncode in (1, 2), done.stderr
    assert said in " ".join(done.stderr.split()), done.stderr


def test_a_round_whose_data_break_a_check_has_failed_and_says_which(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, place = server_account(), Home.find({"PGVERDICT_HOME": str(home)})
    place.ensure(account)
    whole = catalogue.workload("simple-update")
    untouched = Check("untouched", "nobody works", "SELECT count(*) FROM pgbench_history HAVING count(*) > 0")
    checked = dataclasses.replace(whole, dataset=dataclasses.replace(whole.dataset, checks=(untouched,)))
    monkeypatch.setattr(catalogue, "workload", lambda *_: checked)
    campaign = Campaign(
        arms=make_arms(("18", "18")),
        cells=(CellSpec("simple-update", 1, 1, pairs=1),),
        budget_s=600,
        seed=1,
        rounds=2,
    )

    with open_store(tmp_path / "runs.sqlite") as store:
        with (
            measuring_alone(),
            LiveView() as view,
            Workspace.create(place, account) as workspace,
            pytest.raises(
                WorldError, match=r"gave up on simple-update .*break check untouched \(nobody works\)"
            ),
        ):
            execute(campaign, Site(place, account, workspace), store, view)
        (cell,) = store.load_run().cells

    assert [record.state for record in cell.rounds] == [RoundState.FAILED] * 3
    assert {record.blamed for record in cell.rounds} == {0}
