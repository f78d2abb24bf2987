"""Runs to keep: one made by hand, and hypothesis's worst."""

import base64
import dataclasses
import math
from typing import Any

from hypothesis import strategies as st

from pgverdict.plan.rounds import Pair, RoundPlan, arrange
from pgverdict.records.host import Diagnosis, Level, Surroundings
from pgverdict.records.round import (
    ArmRecord,
    KindRecord,
    Latency,
    LogRecord,
    PreliminariesRecord,
    RoundRecord,
    RoundState,
    SecondsRecord,
    SliceRecord,
    StatementRecord,
    StepRecord,
    TableRecord,
    TaskRecord,
)
from pgverdict.records.run import ArmFacts, CellRecord, Purpose, RunRecord, RunState
from pgverdict.spec.arms import Arm, Role
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import (
    PAIRS_MOST,
    Campaign,
    CellSpec,
    Defaults,
    EventLoop,
    Freeze,
    Pinning,
    Written,
    primary_metrics,
)
from pgverdict.spec.own import OwnDump, OwnScript, OwnText, OwnWork
from pgverdict.spec.regime import Regime
from pgverdict.spec.tuning import MEMORY_BYTES_MIN, Disk, Tuning, Use

LATENCY = Latency(15_001.0, 19_201.5, 2210.1, 19_010.0, 22_840.3, 27_112.9, 190_887.0)
HISTOGRAM = base64.b64encode(b"\x1c\x84\x93\x14" + bytes(range(60))).decode()

SECONDS = (
    SecondsRecord(None, (5012, 0, 4988), (19_201.5, None, 19_340.25)),
    SecondsRecord("read", (5012, 0, 4988), (19_201.5, None, 19_340.25)),
)


def a_round(ordinal: int, *, key: str = "select-only scale=10 clients=1") -> RoundRecord:
    """A measured round whose figures tell it from any other round."""
    plan = arrange(key, seed=7, ordinal=ordinal)
    kinds = (
        KindRecord("read", 20_000, 0, 0, 0, LATENCY, HISTOGRAM),
        KindRecord("order", 8092, 3, 81, 12, LATENCY, HISTOGRAM),
        KindRecord("delivery", 0, 1, 0, 0, None, HISTOGRAM),
    )
    used = (4_000_000, 120, 8192, 65_536, 100_000, 9_000_000)
    steps = (
        StepRecord("l.i0", "rows inserted", 30_000, 30_000, None, 5, 700_000_000, LATENCY, *used),
        StepRecord("wait", None, 0, 0, None, 700_000_001, 800_000_000, None, *used),
        StepRecord("qr100", "queries", 7100, 3000, 100, 800_000_001, 30_800_000_000, LATENCY, *used),
    )
    statement = StatementRecord(
        "SELECT abalance", 2341, 18_900.1, 2000.5, HISTOGRAM, 2400, 0.0051 + ordinal, None
    )
    return RoundRecord(
        plan=plan,
        state=RoundState.MEASURED,
        started=f"2026-11-21T10:{ordinal:02}:00Z",
        seconds=2.85 + ordinal / 10,
        slices=tuple(
            SliceRecord(
                pair=number,
                position=position,
                arm=arm,
                begun_at_ns=10**9 * ordinal + number,
                ended_at_ns=10**9 * ordinal + number + 50_000_000,
                transactions=2341,
                failed=0,
                discarded=190,
                busy_ns=44_987_654,
                rate_hz=52_036.5 + ordinal,
                latency=LATENCY,
                server_cpu_ns=31_000_000,
                engine_cpu_ns=14_000_000,
                engine_run_delay_ns=120_000,
                begin_late_ns_max=4000,
                drain_ns_max=18_000,
                seconds=SECONDS if number == 0 else (),
            )
            for number, pair in enumerate(plan.pairs)
            for position, arm in enumerate(pair.order)
        ),
        arms=tuple(
            ArmRecord(
                arm,
                "17.7",
                28_092,
                0,
                539_851_848,
                LATENCY,
                HISTOGRAM,
                (statement,),
                131.5,
                10**9,
                0,
                0,
                kinds=kinds,
                steps=steps,
                huge_pages=arm == 1,
                preliminaries=(PreliminariesRecord("select-only", 40, 40 * arm, 25.25 * arm, 9, 2),),
            )
            for arm in (0, 1)
        ),
        placement=(("pinned", "yes"), ("threads", "1")),
        surroundings=Surroundings(1_300_000_000, 21_000_000 + ordinal, 0, None, 3),
    )


def a_failed_round(ordinal: int) -> RoundRecord:
    plan = arrange("select-only scale=10 clients=1", seed=7, ordinal=ordinal)
    return RoundRecord(
        plan,
        RoundState.FAILED,
        "2026-11-21T10:59:00Z",
        1.25,
        story="cannot start PostgreSQL 18.1: no space left",
        blamed=1,
        logs=(
            LogRecord(0, "2026-11-21 10:59:00.000 UTC [815] LOG:  ready\n"),
            LogRecord(1, "2026-11-21 10:59:01.000 UTC [816] FATAL:  could not write: \ufffd\n"),
        ),
    )


def a_run(
    run_id: str = "2026-11-21-3f9a",
    *,
    started: str = "2026-11-21T10:00:00Z",
    rounds: tuple[RoundRecord, ...] = (),
) -> RunRecord:
    """A run of two cells; the rounds are the first one's."""
    arms = (
        Arm("17", Role.BASELINE, "17", (("shared_buffers", "512MB"),)),
        Arm("18", Role.CANDIDATE, "18", (("shared_buffers", "512MB"), ("io_method", "sync"))),
    )
    cells = (
        CellSpec("select-only", 10, 1),
        CellSpec("simple-update", 10, 4, (("partitions", 8),), primary="tps"),
    )
    return RunRecord(
        id=run_id,
        state=RunState.RUNNING,
        started=started,
        seconds=0.0,
        campaign=Campaign(arms, cells, seed=7),
        host=(("cpu", "AMD EPYC"), ("cores", "2")),
        arms=tuple(
            ArmFacts(a.name, a.role, a.server, v, (("compiler", "gcc 7.5.0"),), a.settings, ("no LLVM",))
            for a, v in zip(arms, ("17.7", "18.1"), strict=True)
        ),
        cells=(
            CellRecord(cells[0], "latency_us_p50", "read-only", rounds),
            CellRecord(cells[1], "tps", "fresh"),
        ),
        diagnoses=(Diagnosis("cpu governor", Level.WARNING, "powersave on 2 of 2 cores"),),
    )


# What databases cannot hold is left out: NUL and lone surrogates in text, whole numbers beyond 64 bits.
_text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
_texts = st.lists(_text, max_size=3).map(tuple)
_named = st.lists(st.tuples(_text, _text), max_size=3).map(tuple)
_whole = st.integers(-(2**63), 2**63 - 1)
_small = st.integers(-(2**31), 2**31 - 1)
_number = st.floats(allow_nan=False, allow_infinity=False)
_measured = st.floats(allow_nan=False) | st.just(
    math.nan
)  # this very NaN, which is equal to itself in a tuple
_histogram = st.binary(max_size=20).map(lambda content: base64.b64encode(content).decode())
_cores = st.just((None, None)) | st.permutations(range(6)).map(
    lambda cores: (tuple(cores[:4]), tuple(cores[4:]))
)
_order = st.lists(_small, max_size=2).map(tuple)
_diagnosis = st.builds(Diagnosis, _text, st.sampled_from(Level), _text)


def _made(kind: Any, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The kind's fields by their type, where they are not named."""
    by_type: dict[Any, Any] = {
        int: _whole,
        float: _measured,
        str: _text,
        int | None: st.none() | _whole,
        # Of these None says that there was nothing to measure, and never NaN.
        float | None: st.none() | _number,
        str | None: st.none() | _text,
    }
    known = {f.name: by_type[f.type] for f in dataclasses.fields(kind) if f.type in by_type}
    return st.builds(kind, **{**known, **fields})


_latency = _made(Latency)
_seconds = st.builds(
    SecondsRecord,
    st.none() | _text,
    st.lists(_whole, max_size=3).map(tuple),
    st.lists(st.none() | _number, max_size=3).map(tuple),
)
_slice = _made(
    SliceRecord,
    pair=_small,
    position=_small,
    arm=_small,
    latency=_latency,
    seconds=st.lists(_seconds, max_size=2).map(tuple),
)
_statement = _made(
    StatementRecord,
    histogram=_histogram,
    server_calls=st.none() | _whole,
    server_rows=st.none() | _whole,
    server_wal_bytes=st.none() | _whole,
)
_kind = _made(KindRecord, histogram=_histogram, count=st.just(0), latency=st.none()) | _made(
    KindRecord, histogram=_histogram, count=st.integers(1, 2**63 - 1), latency=_latency
)
_task = _made(TaskRecord, client=_small, variables=_named, answer_sha256=st.none() | _text)
_step = _made(StepRecord, counts=st.none(), latency=st.none()) | _made(
    StepRecord, counts=_text, latency=_latency
)
_arm = _made(
    ArmRecord,
    arm=_small,
    latency=_latency,
    histogram=_histogram,
    statements=st.lists(_statement, max_size=2).map(tuple),
    buffers_read=st.none() | _whole,
    handicap_messages=st.none() | _whole,
    handicap_spun_ns=st.none() | _whole,
    checkpoints=st.none() | _small,
    wal_bytes=st.none() | _whole,
    kinds=st.lists(_kind, max_size=2).map(tuple),
    steps=st.lists(_step, max_size=2).map(tuple),
    tables=st.lists(_made(TableRecord, hot=st.booleans(), vacuums=_small), max_size=2).map(tuple),
    tasks=st.lists(_task, max_size=2).map(tuple),
    preliminaries=st.lists(
        _made(
            PreliminariesRecord,
            plans=st.none() | _whole,
            relations_locked=_small,
            relations_locked_fast_path=_small,
        ),
        max_size=2,
    ).map(tuple),
)
_plan = _made(
    RoundPlan,
    ordinal=_small,
    start_order=_order,
    connect_order=_order,
    slots=_order,
    loads=_order,
    installs=_order,
    pairs=st.lists(st.builds(Pair, _order, st.integers()), max_size=2).map(tuple),
)
rounds = _made(
    RoundRecord,
    plan=_plan,
    state=st.sampled_from(RoundState),
    seconds=_number,
    slices=st.lists(_slice, max_size=3).map(tuple),
    arms=st.lists(_arm, max_size=2).map(tuple),
    placement=_named,
    story=st.none() | _text,
    blamed=st.none() | _small,
    surroundings=st.none() | _made(Surroundings),
    logs=st.lists(_made(LogRecord, arm=_small), max_size=2, unique_by=lambda log: log.arm).map(
        lambda logs: tuple(sorted(logs, key=lambda log: log.arm))
    ),
)


_tuning = st.builds(
    Tuning,
    st.sampled_from(Use),
    st.integers(MEMORY_BYTES_MIN, 2**50),
    st.integers(1, 4096),
    st.sampled_from(Disk),
)


_own_text = st.builds(OwnText, _text, _text)
_own = st.builds(
    OwnWork,
    st.builds(OwnScript, _text, _text, st.integers(1, 99)).map(lambda script: (script,)),
    st.none() | _own_text,
    st.none() | _own_text,
    st.none() | st.builds(OwnDump, _text, _text, _whole),
    st.booleans(),
    st.booleans(),
    st.just(()) | st.just(("shell",)),
)
_parameters = st.dictionaries(_text, _whole | _number | st.booleans() | _text, max_size=3)


@st.composite
def _spec(draw: st.DrawFn, number: int) -> CellSpec:
    cache = draw(st.sampled_from(Cache))
    cold = cache is Cache.COLD
    return CellSpec(
        draw(_text),
        draw(_whole),
        draw(_small),
        tuple(sorted({"number": number, **draw(_parameters)}.items())),
        draw(st.none() | st.sampled_from(primary_metrics())),
        draw(st.none() | st.sampled_from([r for r in Regime if not (cold and r is Regime.STEADY)])),
        None if cold else draw(st.none() | st.integers(1, PAIRS_MOST)),
        cache,
        draw(st.none() | _own),
        draw(_named),
    )


@st.composite
def runs(draw: st.DrawFn) -> RunRecord:
    roles = (*Role, *draw(st.lists(st.just(Role.CANDIDATE), max_size=2)))
    arms = tuple(
        Arm(
            draw(_text),
            role,
            draw(_text),
            draw(_named),
            draw(_whole),
            origins=draw(_named),
            data_directory=draw(st.none() | _text),
            wal_directory=draw(st.none() | _text),
        )
        for role in roles
    )
    cores, engine_cores = draw(_cores)
    specs = tuple(draw(_spec(number)) for number in range(draw(st.integers(1, 2))))
    return RunRecord(
        id=draw(_text.filter(bool)),
        state=draw(st.sampled_from(RunState)),
        started=draw(_text),
        seconds=draw(_number),
        campaign=Campaign(
            arms,
            specs,
            draw(_number),
            draw(_number),
            draw(st.floats(0.5, 1, exclude_max=True)),
            draw(_whole),
            draw(st.none() | st.integers(2, 1000)),
            draw(st.sampled_from(Freeze)),
            draw(st.sampled_from(Pinning)),
            draw(st.sampled_from(EventLoop)),
            draw(st.sampled_from(Defaults)),
            draw(st.none() | _tuning),
            draw(st.booleans()),
            draw(st.none() | _whole),
            cores=cores,
            engine_cores=engine_cores,
            written=draw(st.none() | st.builds(Written, _text, _text, _texts)),
        ),
        host=draw(_named),
        arms=tuple(
            ArmFacts(
                a.name, a.role, a.server, draw(_text), draw(_named), draw(_named), draw(_texts), draw(_named)
            )
            for a in arms
        ),
        cells=tuple(
            CellRecord(
                spec,
                draw(_text),
                draw(_text),
                tuple(draw(st.lists(rounds, max_size=2))),
                draw(_order),
                draw(_order),
                draw(st.none() | _text),
            )
            for spec in specs
        ),
        purpose=draw(st.sampled_from(Purpose)),
        diagnoses=tuple(draw(st.lists(_diagnosis, max_size=2))),
        left_out=draw(_named),
    )
