"""`pgverdict compare BASELINE CANDIDATE...`: measure now, and say which is slower."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from pgverdict.cli.arm_options import (
    AllowDebugBuilds,
    As,
    DataDirectory,
    Set,
    Tune,
    TuneCores,
    TuneDisk,
    TuneMemory,
    WalDirectory,
    tuning_of,
    with_directories,
)
from pgverdict.cli.confinement import CacheState, Cores, EngineCores, Memory
from pgverdict.cli.options import ReportAsJson, Scale, StoreUrl
from pgverdict.cli.own_options import Allow, Dump, Load, Long, ReadOnly, Schema, Script, own_work
from pgverdict.errors import UserError
from pgverdict.servers.home import Home
from pgverdict.spec.arms import Arm, find_arms, make_arms
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign, CellSpec, Defaults, EventLoop, Freeze, Pinning
from pgverdict.spec.confinement import core_numbers, memory_limit_bytes, spell_size
from pgverdict.spec.parameters import share_out
from pgverdict.spec.quantities import HandicapAsked, duration_s, handicap, percentage, setting
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue
from pgverdict.workloads.fitting import require_fit
from pgverdict.workloads.own import parameters_of, workload_of
from pgverdict.workloads.regimes import regimes_of

DEFAULT_WORKLOADS = ("select-only",)


class ChosenRegime(Enum):
    """The regimes there is a choice of: of work that changes data."""

    FRESH = "fresh"
    STEADY = "steady"


class FailOn(Enum):
    """What makes the exit code 3."""

    SLOWER = "slower"


def compare(
    baseline: Annotated[
        str,
        typer.Argument(
            metavar="BASELINE",
            help="The server to compare against: 17 (the newest 17.x), 17.7, system:17, source:PATH, git:PATH@REV or"
            " dsn:postgresql://... docs/servers.md has them all.",
        ),
    ],
    candidate: Annotated[
        list[str],
        typer.Argument(
            metavar="CANDIDATE",
            help="The servers to judge, each against the baseline. The same release twice is allowed.",
        ),
    ],
    workload: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A workload of `pgverdict list workloads`; may be repeated.",
            show_default="select-only",
        ),
    ] = None,
    script: Script = None,
    schema: Schema = None,
    load: Load = None,
    dump: Dump = None,
    read_only: ReadOnly = False,
    long: Long = False,
    allow: Allow = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            "-p",
            metavar="NAME=VALUE",
            help="A parameter of every workload named that knows it; may be repeated. `pgverdict list workloads` has"
            " them all.",
        ),
    ] = None,
    regime: Annotated[
        list[ChosenRegime] | None,
        typer.Option(
            help="For work that changes data: short rounds on fresh copies, or long rounds on aged data, through"
            " checkpoints and vacuums; may be given twice.",
            show_default="fresh",
        ),
    ] = None,
    scale: Scale = 10,
    clients: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Concurrent clients.")] = 1,
    primary: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help="The metric that decides when a cell is done, such as tps or latency_us_mean.",
            show_default="the workload's",
        ),
    ] = None,
    pairs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Pairs of slices per round.",
            show_default="what a calibration of this host found best, else 20, and 60 on fresh copies",
        ),
    ] = None,
    budget: Annotated[
        str, typer.Option(metavar="DURATION", help="Time for all rounds, starts included, set-up apart.")
    ] = "5m",
    margin: Annotated[str, typer.Option(metavar="PERCENT", help="The smallest effect that matters.")] = "1%",
    confidence: Annotated[
        str,
        typer.Option(metavar="PERCENT", help="How sure verdicts are to be: of many, the rest may be wrong."),
    ] = "99%",
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=2**63 - 1, help="Seed of orders and keys.", show_default="drawn"
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Exactly so many rounds per cell, whatever they say.",
            show_default="until decided",
        ),
    ] = None,
    freeze: Annotated[
        Freeze,
        typer.Option(
            help="Keep the arm whose turn it is not from all work, so that what it does in the background is"
            " counted in its own slices: by signals, or by a cgroup of ours (v2, else v1)."
        ),
    ] = Freeze.OFF,
    placement: Annotated[
        Pinning,
        typer.Option(
            help="Whether every client shares a core with its server process, or all run where the kernel puts"
            " them: what users live with, and noisier."
        ),
    ] = Pinning.PINNED,
    event_loop: Annotated[
        EventLoop,
        typer.Option(
            help="How the load engine waits for its servers: by io_uring, which costs it less, where the kernel"
            " allows it, else by epoll; all arms alike."
        ),
    ] = EventLoop.EPOLL,
    memory: Memory = None,
    cores: Cores = None,
    engine_cores: EngineCores = None,
    cache: CacheState = Cache.WARM,
    set_: Set = None,
    as_: As = Defaults.SHIPPED,
    tune: Tune = None,
    tune_memory: TuneMemory = None,
    tune_cores: TuneCores = None,
    tune_disk: TuneDisk = None,
    data_directory: DataDirectory = None,
    wal_directory: WalDirectory = None,
    allow_debug_builds: AllowDebugBuilds = False,
    handicap_: Annotated[
        list[str] | None,
        typer.Option(
            "--handicap",
            metavar="[ARM:]NS",
            help="Slow an arm (the candidate) down by NS ns per message, or by 2% of its typical latency.",
            hidden=True,
        ),
    ] = None,
    json: ReportAsJson = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the HTML report here.", show_default="the data directory"),
    ] = None,
    store: StoreUrl = None,
    fail_on: Annotated[
        FailOn | None, typer.Option(help="Exit with 3 if a cell's primary metric is this.")
    ] = None,
) -> None:
    """Measure PostgreSQL servers and give verdicts on the candidates.

    In a round of `--regime steady` each arm works by itself for as long as three checkpoints and three vacuums of
    every hot table take, and a quarter longer. With settings as shipped that is up to 25 minutes per arm, and
    eight rounds of two arms take seven hours. Minutes suffice with, for example, --set checkpoint_timeout=30s
    --set max_wal_size=64MB --set autovacuum_naptime=1s, which is then what the verdict is about.
    """
    if pairs is not None and ChosenRegime.STEADY in (regime or ()):
        raise UserError(
            f"steady rounds have no pairs: --pairs {pairs}", hint="leave out --pairs, or --regime steady"
        )
    arms, shares = _with_handicaps(
        make_arms((baseline, *candidate), tuple(setting(text) for text in set_ or ())),
        [handicap(text) for text in handicap_ or ()],
    )
    own = own_work(script or (), schema, load, dump, read_only=read_only, long=long, allow=allow or ())
    if own is not None and workload:
        raise UserError(
            f"a script takes the place of a workload: --workload {workload[0]}",
            hint="leave one of the two out",
        )
    names = [own.name] if own else workload or DEFAULT_WORKLOADS
    parameters = share_out(
        parameter or (), {name: parameters_of(own) if own else catalogue.parameters(name) for name in names}
    )
    bare = [
        CellSpec(name, scale, clients, parameters[name], primary, None, pairs, cache, own) for name in names
    ]
    for cell in bare:
        require_fit(cell, workload_of(cell))
    campaign = Campaign(
        arms=with_directories(arms, data_directory or (), wal_directory or ()),
        cells=tuple(
            replace(cell, regime=chosen)
            for cell in bare
            for chosen in regimes_of(workload_of(cell), [Regime(r.value) for r in regime or ()])
        ),
        budget_s=duration_s(budget),
        margin=percentage(margin, what="margin"),
        confidence=percentage(confidence, what="confidence"),
        seed=secrets.randbelow(2**31) if seed is None else seed,
        rounds=rounds,
        freeze=freeze,
        placement=placement,
        event_loop=event_loop,
        defaults=as_,
        # What servers are confined to is what they are tuned for, unless something else was said.
        tuning=tuning_of(
            tune,
            tune_memory or (spell_size(memory_limit_bytes(memory)) if tune and memory else None),
            tune_cores or (len(core_numbers(cores)) if tune and cores else None),
            tune_disk,
            data=Home.find().cache,
        ),
        debug_builds=allow_debug_builds,
        memory_bytes=memory_limit_bytes(memory) if memory is not None else None,
        cores=core_numbers(cores) if cores is not None else None,
        engine_cores=core_numbers(engine_cores) if engine_cores is not None else None,
    )
    from pgverdict.cli.measure import (
        measure,
    )  # loads numpy, SQLAlchemy and psycopg, which errors above need not

    slower = measure(campaign, json=json, html=html, store=store, handicap_shares=shares)
    if fail_on is FailOn.SLOWER and slower:
        raise typer.Exit(3)


def _with_handicaps(
    arms: tuple[Arm, ...], asked: Sequence[HandicapAsked]
) -> tuple[tuple[Arm, ...], dict[int, float]]:
    """The arms with the handicaps that were given in ns; and those that are shares, by the arm's number."""
    handicapped = list(arms)
    shares: dict[int, float] = {}
    taken: set[int] = set()
    for one in asked:
        for number in find_arms(arms, one.arm, where="--handicap"):
            if number in taken:
                raise UserError(f"two handicaps for one arm: {arms[number].name}", hint="name each arm once")
            taken.add(number)
            if one.share is not None:
                shares[number] = one.share
            else:
                assert one.ns is not None
                handicapped[number] = replace(arms[number], handicap_ns=one.ns)
    return tuple(handicapped), shares
