"""What the documents show is what the program does."""

from pathlib import Path

from pgverdict.cli.reference import reference
from pgverdict.spec.metrics import METRICS

ROOT = Path(__file__).resolve().parents[2]

PRINTED = {
    "docs/cli.md",
    "docs/releases.md",
    "docs/studies/insert-benchmark.md",
    "docs/studies/standard-workloads.md",
    "docs/studies/ten-years.md",
    "docs/studies/v11-v12.md",
    "docs/studies/v15-v16.md",
    "docs/workloads/README.md",
}
"""Pages that commands print."""


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


def test_prose_is_broken_into_lines_that_fit_a_screen() -> None:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("[be]*/*.md")]:
        if str(path.relative_to(ROOT)) in PRINTED:
            continue
        is_code = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            is_code ^= line.startswith("```")
            is_laid_out = is_code or line.startswith("    ") or line.lstrip().startswith("|")
            assert is_laid_out or len(line) <= 130, f"{path}:{number}"
