"""The campaign files that come with the product, and those that the documentation shows."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from pgverdict.cli.own_tables import own_work_of
from pgverdict.plan.matrix import HostSize, campaign_of
from pgverdict.run.outlook import look_ahead
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.document import read_document
from pgverdict.spec.file import CampaignFile, SmallTable, WorkloadTable
from pgverdict.spec.tuning import Disk
from tests.campaign_page import EXAMPLES, PAGE, write_sql_files

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "campaigns").glob("*.toml"))
LAPTOP = HostSize(16 << 30, 4, Disk.SSD)


def _campaign(text: str, *, small: bool = False) -> Campaign:
    return campaign_of(read_document("c.toml", text), LAPTOP, seed=1, small=small)


def test_the_studies_are_there() -> None:
    assert [file.stem for file in FILES] == [
        "insert-benchmark",
        "quickstart",
        "standard-workloads",
        "ten-years",
        "v11-v12",
        "v15-v16",
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("small", [False, True], ids=["whole", "small"])
def test_a_file_that_comes_with_the_product_is_a_campaign(file: Path, small: bool) -> None:
    campaign = _campaign(file.read_text(), small=small)

    assert len(campaign.cells) <= 200
    assert len({cell.key for cell in campaign.cells}) == len(campaign.cells)
    if small:
        assert max(cell.scale for cell in campaign.cells) <= 100
        assert campaign.budget_s <= 3600


def test_the_studies_have_the_cells_they_were_published_with() -> None:
    studies = {file.stem: _campaign(file.read_text()) for file in FILES}
    ten, old, new = (studies[name] for name in ("ten-years", "v11-v12", "v15-v16"))

    assert [arm.server for arm in ten.arms] == ["9.6", *map(str, range(10, 19))]
    assert {cell.clients for cell in ten.cells} == {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32}
    assert {dict(cell.settings)["shared_buffers"] for cell in ten.cells} == {"128MB", "1GB"}
    assert len({cell.workload for cell in old.cells}) == 7
    assert {cell.scale for cell in old.cells if cell.workload == "select-only"} == {100, 260, 2100}
    assert {dict(cell.parameters).get("partitions", 0) for cell in new.cells} == {0, 16, 128}


STUDIES = ("v11-v12", "v15-v16", "ten-years")


@pytest.mark.parametrize("name", STUDIES)
def test_a_small_study_has_all_its_work_and_is_forecast_to_leave_half_an_hour_something_to_decide_with(
    name: str,
) -> None:
    text = (ROOT / "campaigns" / f"{name}.toml").read_text()
    whole, small = _campaign(text), _campaign(text, small=True)
    outlook = look_ahead(small, LAPTOP, free_bytes=10**12, known_s={})

    assert {cell.workload for cell in small.cells} == {cell.workload for cell in whole.cells}
    assert small.budget_s == 1800
    assert outlook.enough_for == len(small.cells)
    assert outlook.least_s < 0.75 * small.budget_s


def test_small_studies_keep_what_they_are_about() -> None:
    ten, old, new = (
        _campaign((ROOT / "campaigns" / f"{name}.toml").read_text(), small=True)
        for name in ("ten-years", "v11-v12", "v15-v16")
    )

    for workload, sizes in {
        "tpcb-like": 3,
        "tpcb-like-indexed": 1,
        "select-only": 3,
        "analytic-q3": 1,
    }.items():
        assert len({cell.scale for cell in old.cells if cell.workload == workload}) == sizes
    in_memory = min(cell.scale for cell in new.cells if cell.workload == "select-only")
    partitioned = [c for c in new.cells if dict(c.parameters).get("partitions") == 16]
    assert len({cell.workload for cell in partitioned}) == 6
    assert {cell.scale for cell in partitioned} == {in_memory}
    assert len({cell.scale for cell in new.cells}) == 2
    smallest = min(cell.scale for cell in ten.cells)
    for workload in ("select-only", "tpcb-like"):
        clients = {c.clients for c in ten.cells if c.workload == workload and c.scale == smallest}
        assert clients == {1, 2, 4}, "a curve"
        assert max(c.scale for c in ten.cells if c.workload == workload) > smallest


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_of_the_page_is_a_campaign(text: str, tmp_path: Path) -> None:
    write_sql_files(tmp_path)
    document = read_document(str(tmp_path / "c.toml"), text)
    for small in (False, True):
        assert campaign_of(document, LAPTOP, own_work_of(document), seed=1, small=small).cells


def test_the_page_has_examples_and_the_shortest_is_five_lines() -> None:
    assert len(EXAMPLES) >= 2
    assert len(EXAMPLES[0].splitlines()) <= 5
    keys = [cell.key for cell in _campaign(EXAMPLES[1]).cells]
    assert len(keys) == 2 * 3 * 2 * 2 - 4, "what the page says of it: less what is left out"


@pytest.mark.parametrize("table", [CampaignFile, WorkloadTable, SmallTable], ids=lambda table: table.__name__)
def test_the_page_describes_every_key(table: type) -> None:
    for name, field in table.model_fields.items():  # type: ignore[attr-defined]
        assert f"`{field.alias or name}`" in PAGE or f"[{name}]" in PAGE, name


def test_the_schema_knows_every_key_of_the_files() -> None:
    schema = TypeAdapter(CampaignFile).json_schema()

    assert schema["additionalProperties"] is False
    assert {"arms", "workload", "small", "as"} <= set(schema["properties"])
    assert json.dumps(schema)
    axis = schema["$defs"]["WorkloadTable"]["properties"]["scale"]
    assert {"type": "integer", "minimum": 1} in axis["anyOf"]
