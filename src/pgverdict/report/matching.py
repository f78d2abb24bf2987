"""Finding published figures again in the cells of a run: by what the cells are, not by their names."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pgverdict.judge.published import Agreement, agreement, mean_ratio
from pgverdict.judge.values import Question
from pgverdict.judge.verdict import WHOLE_CELL, Verdict
from pgverdict.plan.matrix import shared_buffers_of
from pgverdict.records.run import ArmFacts, RunRecord
from pgverdict.report import words
from pgverdict.report.beside import BesideReport, BesideRow, BesideTable
from pgverdict.report.names import work_name
from pgverdict.run.room import data_bytes
from pgverdict.spec.campaign import Campaign, CellSpec, settings_in
from pgverdict.spec.published import Figure, Published, Where
from pgverdict.workloads.own import workload_of

Judged = Sequence[Sequence[Sequence[Verdict]]]
"""Verdicts per cell and candidate."""


def beside(run: RunRecord, verdicts: Judged, published: Published) -> BesideReport:
    """Every figure in the order of the file, and a row for each cell it is about."""
    rows = [
        (figure.metric, row)
        for figure in published.figures
        for row in _rows(run, verdicts, published, figure)
    ]
    metrics = dict.fromkeys(metric for metric, _ in rows)
    counts = {said: sum(row.agreement is said for _, row in rows) for said in Agreement}
    return BesideReport(
        source=published.source,
        theirs=published.figures[0].arms if published.figures else ("baseline", "candidate"),
        labels=_labels(run, published),
        tables=tuple(
            BesideTable(metric, tuple(row for one, row in rows if one == metric)) for metric in metrics
        ),
        counts=tuple((said.value, number) for said, number in counts.items() if number),
        claims=published.claims,
        notes=_notes([row for _, row in rows]),
    )


def _labels(run: RunRecord, published: Published) -> tuple[str, str]:
    """Of the arms that the first figure is about which has both of them; else of the first two."""
    found = (_arms(run, figure) for figure in published.figures)
    candidate = next((arm for arm in found if arm is not None), 1)
    return words.arm_label(run.arms[0]), words.arm_label(run.arms[candidate])


def _rows(run: RunRecord, verdicts: Judged, published: Published, figure: Figure) -> list[BesideRow]:
    candidate = _arms(run, figure)
    if candidate is None:
        return [_row(figure, None, None, ())]
    asked = [
        (cell, judged[candidate - 1], verdict)
        for cell, judged in zip(run.cells, verdicts, strict=True)
        if is_about(figure, cell.spec, run)
        and (verdict := _verdict(figure, judged[candidate - 1])) is not None
    ]
    if not asked:
        return [_row(figure, None, None, ())]
    names = [work_name(cell.spec, run.campaign.cells) for cell, _, _ in asked]
    others = tuple(
        f"{words.arm_label(arm)} in place of {name}"
        for arm, name in zip((run.arms[0], run.arms[candidate]), figure.arms, strict=True)
        if not _is_called(arm, name)
    )
    missing = [
        others + deviations(run, cell.spec, published.conditions, (0, candidate)) for cell, _, _ in asked
    ]
    if not figure.over_all or len(asked) == 1:
        return [
            replace(
                _row(figure, name, verdict, without),
                asked=(cell.spec.key, verdict.candidate, verdict.subject),
            )
            for (cell, _, verdict), name, without in zip(asked, names, missing, strict=True)
        ]
    mean = mean_ratio(
        [(cell, Question(verdict.metric, verdict.subject)) for cell, _, verdict in asked],
        run.campaign,
        candidate,
    )
    row = _row(
        figure,
        f"mean over {words.count(len(asked), 'cell')}",
        None,
        tuple(dict.fromkeys(itertools.chain(*missing))),
    )
    if mean is None or not math.isfinite(mean.log_slowdown):
        return [_told(row, run.campaign, math.nan, 0.0, math.inf)]
    low, high = (_exp(limit) for limit in (mean.low, mean.high))
    return [_told(row, run.campaign, math.exp(mean.log_slowdown), low, high)]


def _row(figure: Figure, cell: str | None, verdict: Verdict | None, missing: tuple[str, ...]) -> BesideRow:
    """What is not known is left so."""
    row = BesideRow(
        name=figure.name,
        cell=cell,
        published=(figure.baseline, figure.candidate),
        published_ratio=figure.ratio,
        rounded=figure.rounded,
        printed=figure.printed,
        ours=(math.nan, math.nan),
        effect=math.nan,
        low=0.0,
        high=math.inf,
        verdict="",
        agreement=Agreement.NOT_RUN,
        deviates=missing,
        remark=figure.remark,
    )
    if verdict is None:
        return row
    return replace(
        row,
        ours=(verdict.baseline_value, verdict.candidate_value),
        effect=verdict.effect,
        low=verdict.low,
        high=verdict.high,
        verdict=verdict.outcome.value,
        agreement=agreement(figure.rounded, (verdict.low, verdict.high), verdict.margin),
    )


def _told(row: BesideRow, campaign: Campaign, effect: float, low: float, high: float) -> BesideRow:
    """A row of a mean."""
    said = agreement(row.rounded, (low, high), campaign.margin)
    return replace(row, effect=effect, low=low, high=high, agreement=said)


def _arms(run: RunRecord, figure: Figure) -> int | None:
    """The candidate it is about; None where the run has not both arms in their places.

    Another minor release of the same major one may stand for the source's, where that one is not there."""
    baseline, candidate = figure.arms
    if not _stands_for(run.arms[0], baseline):
        return None
    candidates = run.campaign.candidates
    exact = (n for n in candidates if _is_called(run.arms[n], candidate))
    return next(exact, None) or next((n for n in candidates if _stands_for(run.arms[n], candidate)), None)


def _is_called(arm: ArmFacts, name: str) -> bool:
    return name in (arm.name, arm.server, arm.version)


def _stands_for(arm: ArmFacts, name: str) -> bool:
    return _is_called(arm, name) or _major(arm.version) == _major(name) is not None


def _major(version: str) -> str | None:
    """
    >>> _major("12.22"), _major("9.6.24"), _major("v18-sync")
    ('12', '9.6', None)
    """
    match = re.match(r"(9\.\d+|\d\d+)(?:\.|$)", version)
    return match[1] if match else None


def is_about(figure: Figure, spec: CellSpec, run: RunRecord) -> bool:
    """Whether a cell of the run is one that the figure is about, apart from arms and statements."""
    chosen = dict(spec.parameters)
    return (
        (not figure.workloads or spec.workload in figure.workloads)
        and (not figure.clients or spec.clients in figure.clients)
        and (not figure.where or where_data_lies(spec, run) in figure.where)
        # A parameter that is not chosen is at its default, which for numbers of things is none of them.
        and all(chosen.get(name, 0) in values for name, values in figure.parameters)
    )


def _verdict(figure: Figure, judged: Sequence[Verdict]) -> Verdict | None:
    return next(
        (
            v
            for v in judged
            if v.metric == figure.metric
            and v.rounds > 0
            and (v.subject == WHOLE_CELL if figure.subject is None else v.subject.startswith(figure.subject))
        ),
        None,
    )


def where_data_lies(spec: CellSpec, run: RunRecord) -> Where:
    """By the sizes that were asked for, and what a server may have of memory: what it is confined to, else the host's.

    The host's it has for itself in chains; elsewhere larger data is measured on confined servers only."""
    campaign = run.campaign
    size = data_bytes(spec, workload_of(spec))
    if size <= shared_buffers_of(campaign, spec.settings):
        return Where.BUFFERS
    memory = campaign.memory_bytes or int(dict(run.host).get("memory_bytes", 0))
    return Where.BEYOND if memory and size > memory else Where.MEMORY


def deviations(
    run: RunRecord, spec: CellSpec, conditions: Sequence[tuple[str, str]], arms: Sequence[int]
) -> tuple[str, ...]:
    """The conditions that arms do not meet in a cell: 'llvm: no, not yes'. A fact nobody knows is not told."""
    found = []
    for name, wanted in conditions:
        had = {value for arm in arms if (value := _had(run, spec, arm, name)) is not None}
        found += [f"{name}: {value}, not {wanted}" for value in sorted(had - {wanted})]
    return tuple(found)


def _had(run: RunRecord, spec: CellSpec, arm: int, name: str) -> str | None:
    facts = run.arms[arm]
    known: Mapping[str, str] = {
        **dict(facts.defaults),
        **dict(facts.build),
        **dict(facts.settings),
        **dict(settings_in(run.campaign.arms[arm], spec)),
    }
    return known.get(name)


def _notes(rows: Sequence[BesideRow]) -> tuple[str, ...]:
    notes = [
        "published numbers have no interval: how far they would scatter, and what another host does, is in none of ours"
    ]
    if any(row.published[0] is not None for row in rows):
        notes.append(
            "a published ratio is known only as precisely as its values are printed; it counts as held if any ratio"
            " that is printed so lies in our interval"
        )
    if any(row.verdict == "" and row.cell is not None for row in rows):
        notes.append("a mean over cells has an interval of its own, by itself, and no verdict")
    missing = dict.fromkeys(one for row in rows for one in row.deviates)
    if missing:
        notes.append(f"deviates: servers or settings were not the source's ({'; '.join(missing)})")
    return tuple(notes)


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < 700 else math.inf
