"""The page: everything is in it, nothing else is needed, and nobody's text becomes markup."""

import dataclasses
import re
from html.parser import HTMLParser

from pgverdict.report.formats import FORMATS
from pgverdict.report.html import to_html
from pgverdict.report.model import Report, make_report

from . import samples

VOID = {"meta", "wbr", "br", "img", "input", "link", "hr"}
HOSTILE = """</title></code><script>alert(1)</script><img src=x onerror="alert(2)">'"&{{ 7 * 7 }}"""


class Page(HTMLParser):
    """Tags with their attributes, and a complaint where one is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_every_tag_is_closed(report: Report) -> None:
    assert Page(to_html(report)).tags[0][0] == "html"


def test_the_page_needs_nothing_from_elsewhere(report: Report) -> None:
    page = to_html(report)
    assert re.findall(r"https?:|url\(|@import|//[a-z]", page) == []
    tags = Page(page).tags
    assert {"script", "link", "img", "iframe", "object"}.isdisjoint(tag for tag, _ in tags)
    addresses = [
        value for _, attributes in tags for name, value in attributes.items() if name in ("href", "src")
    ]
    assert addresses == ["#cell-1", "#cell-2"]


def test_the_page_forbids_itself_any_request(report: Report) -> None:
    assert """content="default-src 'none'; style-src 'unsafe-inline'">""" in to_html(report)


def test_the_sentences_stand_first(report: Report) -> None:
    words = " ".join(Page(to_html(report).replace("\u00a0", " ")).words)
    first = words.index("18.1 is 2.1 % slower than 17.7 on select-only (typical latency)")
    assert first < words.index("Cannot tell yet whether 18.1") < words.index("Round by round")


def test_every_verdict_has_a_row_and_a_picture(report: Report) -> None:
    page = to_html(report)
    for verdict in (*samples.READ_ONLY_VERDICTS, *samples.FRESH_VERDICTS):
        assert f"<title>{verdict.metric}: " in page
    assert page.count('scope="row">') >= 16
    assert "<title>latency_us_p50: +2.09 %, from +1.63 % to +2.55 %, SLOWER</title>" in page


def test_a_picture_can_be_read_out(report: Report) -> None:
    page = to_html(report)
    pictures = re.findall(r'<svg [^>]*role="img"[^>]*>(.{7})', page, re.DOTALL)
    assert len(pictures) == 2 + 16 + 2
    assert set(pictures) == {"<title>"}


def test_what_others_wrote_stays_text() -> None:
    run = samples.a_run()
    arms = tuple(
        dataclasses.replace(
            arm,
            version=f"{HOSTILE}{number}",
            build=(("compiler", f"{HOSTILE}{number}"),),
            settings=((HOSTILE, f"{HOSTILE}{number}"), (f"same{HOSTILE}", HOSTILE)),
            notes=(HOSTILE,),
        )
        for number, arm in enumerate(run.arms)
    )
    verdicts = (
        *samples.READ_ONLY_VERDICTS[:6],
        *(dataclasses.replace(v, subject=HOSTILE) for v in samples.READ_ONLY_VERDICTS[6:]),
    )
    rounds = tuple(
        dataclasses.replace(r, story=HOSTILE, placement=((HOSTILE, HOSTILE),)) for r in run.cells[1].rounds
    )
    cells = (run.cells[0], dataclasses.replace(run.cells[1], rounds=rounds))
    hostile = dataclasses.replace(
        run, id=HOSTILE, started=HOSTILE, host=((HOSTILE, HOSTILE),), arms=arms, cells=cells
    )
    page = to_html(make_report(hostile, ((verdicts,), (samples.FRESH_VERDICTS,))))
    tags = Page(page).tags
    assert {"script", "img"}.isdisjoint(tag for tag, _ in tags)
    assert not any(name.startswith("on") for _, attributes in tags for name in attributes)
    assert "{{ 7 * 7 }}" in page


def test_a_run_without_rounds_has_a_page() -> None:
    run = samples.a_run()
    cells = tuple(dataclasses.replace(cell, rounds=()) for cell in run.cells)
    page = to_html(make_report(dataclasses.replace(run, cells=cells, host=()), (((),), ((),))))
    assert "Nothing is known yet about select-only" in "".join(Page(page).words)


def test_limits_without_measure_are_capped() -> None:
    wild = samples.a_verdict("tps", (5000.0, 6000.0), (1e-9, 1.3, 3.8e23), samples.UNDECIDED)
    page = to_html(make_report(samples.a_run(), (((wild,),), (samples.FRESH_VERDICTS,))))
    assert "<title>tps: +30.00 %, from &lt; −99 % to &gt; +9900 %, UNDECIDED</title>" in page  # noqa: RUF001
    assert "<small>&lt; −99 to &gt; +9900</small>" in page  # noqa: RUF001


def test_the_command_stands_once_and_is_about_the_whole_run(report: Report) -> None:
    page = to_html(report)
    assert page.count("pgverdict compare") == 1
    assert (
        page.index("How it was measured")
        < page.index("The whole run: its cells share")
        < page.index("--workload select-only --workload simple-update")
    )


def test_an_arm_is_shown_with_the_name_that_settings_take(report: Report) -> None:
    page = to_html(report)
    assert "<td>17.7</td><td><code>17</code></td><td>named <code>17</code></td>" in page


def test_a_cell_short_of_its_rounds_makes_no_forecast() -> None:
    run = samples.a_run()
    campaign = dataclasses.replace(run.campaign, rounds=40)
    page = to_html(make_report(dataclasses.replace(run, campaign=campaign), samples.VERDICTS))
    assert " rounds</small>" not in page
    assert page.count(": stopped before its 40 rounds;") == 1


def test_all_formats_end_with_a_line(report: Report) -> None:
    assert {name: write(report)[-1] for name, write in FORMATS.items()} == dict.fromkeys(FORMATS, "\n")
