"""What the documents show is what the program does."""

from pathlib import Path

from pgverdict.cli.reference import reference
from pgverdict.spec.metrics import METRICS

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_the_command_line_is_what_help_says() -> None:
    assert (ROOT / "docs" / "cli.md").read_text() == reference(), "`./x docs` makes it anew"


def test_the_glossary_gives_every_metric_its_meaning() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text()

    for metric in METRICS.values():
        assert f"| `{metric.name}` | {metric.better.value} | {metric.meaning}" in glossary


def test_no_document_refers_to_what_is_not_in_the_repository() -> None:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "engine" / "PROTOCOL.md"]:
        text = path.read_text()
        assert "shared/" not in text, path
        assert "issue " not in text.lower().replace("issues", ""), path
