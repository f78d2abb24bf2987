"""From a run of the product, as its store tells it, to a repetition. Pure."""

from pgverdict.judge.cell import judge_run
from pgverdict.judge.values import Question, values
from pgverdict.records.round import ArmRecord, RoundRecord, RoundState
from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report.command import compare_command
from pgverdict.spec.campaign import primary_metrics

from .lines import Line
from .recorded import Cell, Repetition, Round, SliceFigures


def take(line: Line, run: RunRecord, *, revision: str, failure: str | None = None) -> Repetition:
    """What of a run is kept."""
    verdicts = [primaries[0] for (primaries,) in judge_run(run)]
    rounds = [
        _round(record, number, cell, keeps_slices=line.keeps_slices)
        for number, cell in enumerate(run.cells)
        for record in cell.rounds
    ]
    return Repetition(
        line=line.name,
        begun=run.started,
        revision=revision,
        command=compare_command(run),
        # The host's name says nothing about the measurement.
        host={name: value for name, value in run.host if name != "name"},
        servers=tuple(arm.version for arm in run.arms),
        engine=next((_placement(r, "engine_version") for cell in run.cells for r in cell.measured), ""),
        seed=run.campaign.seed,
        margin=run.campaign.margin,
        confidence=run.campaign.confidence,
        budget_s=run.campaign.budget_s,
        fixed_rounds=run.campaign.rounds,
        injected=line.injected,
        handicap_ns=run.campaign.arms[1].handicap_ns,
        seconds=run.seconds,
        failure=failure,
        cells=tuple(
            Cell(
                key=cell.spec.key,
                primary=cell.primary,
                threads=int(next((_placement(r, "threads") for r in cell.measured), "1")),
                load_pools=cell.load_pools,
                install_pools=cell.install_pools,
                alpha=verdict.alpha,
                outcome=verdict.outcome.value,
                effect=verdict.effect,
                low=verdict.low,
                high=verdict.high,
            )
            for cell, verdict in zip(run.cells, verdicts, strict=True)
        ),
        rounds=tuple(rounds),
    )


def _placement(record: RoundRecord, name: str) -> str:
    return dict(record.placement)[name]


def _round(record: RoundRecord, number: int, cell: CellRecord, *, keeps_slices: bool) -> Round:
    said = {}
    if record.state is RoundState.MEASURED:
        for name in primary_metrics():
            value = values(record, Question(name), clients=cell.spec.clients)
            if value is not None:
                said[name] = (value.baseline, value.candidate, value.log_ratio)
    slices = record.slices if keeps_slices else ()
    return Round(
        cell=number,
        ordinal=record.plan.ordinal,
        state=record.state.value,
        seconds=record.seconds,
        start_order=record.plan.start_order,
        connect_order=record.plan.connect_order,
        slots=record.plan.slots,
        loads=record.plan.loads,
        installs=record.plan.installs,
        values=said,
        spun_us=_spun_us(record),
        messages=_messages(record.arms[0]) if record.arms else None,
        slices=tuple(
            SliceFigures(
                pair=one.pair,
                arm=one.arm,
                transactions=one.transactions,
                busy_us=one.busy_ns / 1e3,
                p50_us=one.latency.p50_ns / 1e3,
                p99_us=one.latency.p99_ns / 1e3,
                max_us=one.latency.max_ns / 1e3,
            )
            for one in slices
        ),
        story=record.story,
    )


def _spun_us(record: RoundRecord) -> tuple[float, ...] | None:
    """Per arm; what was spun in a slice's discarded part is divided by its transactions as well."""
    spun = []
    for arm in record.arms:
        if arm.handicap_spun_ns is None:
            return None
        executed = sum(s.transactions + s.failed + s.discarded for s in record.slices if s.arm == arm.arm)
        spun.append(arm.handicap_spun_ns / executed / 1e3)
    return tuple(spun) or None


def _messages(arm: ArmRecord) -> float:
    """Every statement of a transaction is a round trip of its own."""
    return sum(statement.count for statement in arm.statements) / arm.transactions
