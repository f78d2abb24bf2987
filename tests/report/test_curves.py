"""Curves of throughput by clients in a report."""

import dataclasses
import json
from io import StringIO

from rich.console import Console

from pgverdict.judge.cell import judge_run
from pgverdict.records.round import ArmRecord, RoundRecord
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report.chart import HEIGHT, chart
from pgverdict.report.curves import curves_of
from pgverdict.report.html import to_html
from pgverdict.report.machine import to_json
from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import make_report
from pgverdict.report.terminal import print_report
from pgverdict.spec.campaign import CellSpec, Written

from . import samples

THROUGHPUT = {1: 10_000.0, 2: 19_500.0, 4: 20_000.0, 8: 9_000.0}


def a_run_of_many_clients() -> RunRecord:
    run = samples.a_run()
    cells = tuple(_cell(run.cells[0], clients, tps) for clients, tps in THROUGHPUT.items())
    campaign = dataclasses.replace(
        run.campaign, cells=tuple(cell.spec for cell in cells), written=Written("ten-years.toml", "", ())
    )
    return dataclasses.replace(run, cells=cells, campaign=campaign)


def _cell(cell: CellRecord, clients: int, tps: float) -> CellRecord:
    spec = dataclasses.replace(cell.spec, clients=clients)
    rounds = tuple(
        _round(record, clients, tps * (1 + 0.001 * (n % 5))) for n, record in enumerate(cell.rounds)
    )
    return dataclasses.replace(cell, spec=spec, rounds=rounds)


def _round(record: RoundRecord, clients: int, tps: float) -> RoundRecord:
    arms = tuple(_arm(arm, clients, tps * (1.1 if arm.arm else 1)) for arm in record.arms)
    return dataclasses.replace(record, arms=arms)


def _arm(arm: ArmRecord, clients: int, tps: float) -> ArmRecord:
    return dataclasses.replace(arm, transactions=10_000, busy_ns=round(clients * 1e9 * 10_000 / tps))


def test_cells_that_differ_in_clients_alone_make_a_curve_for_every_arm() -> None:
    (found,) = curves_of(a_run_of_many_clients())

    assert found.title == "select-only, scale 10"
    assert [label for label, _ in found.curves] == ["17.7", "18.1"]
    assert [round(point.tps, -2) for point in found.curves[0][1].points] == [10_000, 19_500, 20_000, 9_000]


def test_every_format_says_where_a_line_grows_stays_and_collapses() -> None:
    run = a_run_of_many_clients()
    report = make_report(run, judge_run(run))
    screen = StringIO()
    print_report(report, Console(file=screen, width=200))
    said = "17.7: linear up to 2 clients, plateau from 2, highest at 4, collapse from 8"

    for text in (screen.getvalue(), to_markdown(report), to_html(report)):
        assert said in text
    assert to_html(report).count("<polyline") == 2
    told = json.loads(to_json(report))["curves"][0]["curves"][0]
    assert told["collapse_from"] == {"earliest": 8, "latest": 8}


def test_the_higher_line_is_drawn_higher_and_labels_do_not_lie_on_each_other() -> None:
    drawn = chart(curves_of(a_run_of_many_clients())[0])
    lower, higher = drawn.lines

    assert all(high[1] < low[1] for low, high in zip(lower.dots, higher.dots, strict=True))
    assert all(0 <= y <= HEIGHT for line in drawn.lines for _, y in line.dots)
    assert abs(lower.label_y - higher.label_y) >= 15


def test_two_client_counts_make_no_curve() -> None:
    run = a_run_of_many_clients()

    assert curves_of(dataclasses.replace(run, cells=run.cells[:2])) == ()


def test_cells_that_differ_in_size_make_no_curve_together() -> None:
    run = a_run_of_many_clients()
    cells = tuple(
        dataclasses.replace(cell, spec=CellSpec("select-only", 10 + n, cell.spec.clients))
        for n, cell in enumerate(run.cells)
    )

    assert curves_of(dataclasses.replace(run, cells=cells)) == ()
