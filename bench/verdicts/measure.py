"""Measuring: one whole run of the product at a time, through what `pgverdict compare` goes through.

Datasets are made by the first run of a line and stay in the product's cache; they are no part of a run's seconds.
Before each repetition with an injected slow-down comes its probe: a few rounds of equal servers, in the same minute of
the host, from which the nanoseconds come.
"""

import secrets
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

from pgverdict.cli.live import LiveView
from pgverdict.errors import WorldError
from pgverdict.observe.host import host_name
from pgverdict.records.run import RunRecord
from pgverdict.run.execute import execute
from pgverdict.run.site import Site, measuring_alone
from pgverdict.servers.account import server_account
from pgverdict.servers.home import Home
from pgverdict.servers.workspace import Workspace, sweep
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.quantities import setting
from pgverdict.store.opening import open_store

from .injection import handicap_ns
from .lines import CONFIDENCE, Line
from .recorded import PROBE, Repetition, count, keep, next_name
from .taken import take

PROBE_ROUNDS = 4

ROOT = Path(__file__).resolve().parents[2]


def measure(
    lines: Sequence[Line], results: Path, *, repetitions: int | None, minutes: float | None, view: LiveView
) -> None:
    """Repetition after repetition, of the line that has the fewest, until each has as many as it should.

    After the time limit none is begun, and the one that runs is brought to its end: to drop those that take long
    would make the product look fast. An interruption drops the one that runs.
    """
    revision = revision_of_checkout()
    begun = monotonic()
    while minutes is None or monotonic() - begun < 60 * minutes:
        line = next_line(lines, {one.name: count(results / one.name) for one in lines}, repetitions)
        if line is None:
            return
        measure_one(line, results, revision=revision, view=view)


def next_line(lines: Sequence[Line], done: dict[str, int], repetitions: int | None) -> Line | None:
    """The line with the fewest repetitions among those that want more; the first of several."""
    wanting = [one for one in lines if done[one.name] < (repetitions or one.repetitions)]
    return min(wanting, key=lambda one: done[one.name], default=None)


def measure_one(line: Line, results: Path, *, revision: str, view: LiveView) -> Repetition:
    """One repetition, kept; its probe before it, if it wants one."""
    folder = results / line.name
    name = next_name(folder)
    handicap = 0
    if line.injected:
        view.note(f"{line.name}: probing what {line.injected * 100:g} % is")
        probe = run_once(replace(line, rounds=PROBE_ROUNDS), 0, revision, view)
        if probe.failure is not None or not probe.measured():
            raise WorldError(f"the probe of {line.name} failed: {probe.failure}")
        keep(probe, folder, f"{name}-{PROBE}", compress=False)
        handicap = handicap_ns(line.injected, probe.cells[0], probe.measured())
    view.note(f"{line.name}: repetition {name}")
    repetition = run_once(line, handicap, revision, view)
    place = keep(repetition, folder, name, compress=line.keeps_slices)
    outcomes = ", ".join(cell.outcome for cell in repetition.cells)
    view.note(f"{line.name}: {outcomes} after {repetition.seconds:.0f} s: {place.name}")
    return repetition


def campaign_of(line: Line, *, seed: int, handicap: int) -> Campaign:
    """What `pgverdict compare` would make of the line's options."""
    baseline, candidate = make_arms(line.servers, tuple(setting(text) for text in line.settings))
    return Campaign(
        arms=(baseline, replace(candidate, handicap_ns=handicap)),
        cells=tuple(
            CellSpec(name, line.scale, line.clients, primary=line.primary, pairs=line.pairs)
            for name in line.workloads
        ),
        budget_s=line.cap_s,
        margin=line.margin,
        confidence=CONFIDENCE,
        seed=seed,
        rounds=line.rounds,
        placement=line.placement,
    )


def run_once(line: Line, handicap: int, revision: str, view: LiveView) -> Repetition:
    """A run of the line with a new seed; nothing is kept of it yet. `handicap`: of the candidate, ns per message."""
    run, failure = _execute(campaign_of(line, seed=secrets.randbelow(2**31), handicap=handicap), view)
    return take(line, run, revision=revision, failure=failure)


def _execute(campaign: Campaign, view: LiveView) -> tuple[RunRecord, str | None]:
    """The run, and why a cell of it was given up, if one was. WorldError if there was no run at all."""
    account, home = server_account(), Home.find()
    home.ensure(account)
    with (
        tempfile.TemporaryDirectory(prefix="pgverdict-bench-") as directory,
        open_store(Path(directory) / "runs.sqlite") as store,
        measuring_alone(),
    ):
        for remains in sweep(home):
            view.note(remains)
        with Workspace.create(home, account) as workspace:
            try:
                return execute(campaign, Site(home, account, workspace), store, view), None
            except WorldError as error:
                if not store.list_runs():
                    raise
                failure = error.message
        store.stop_orphans(host_name())
        return store.load_run(), failure


def revision_of_checkout() -> str:
    """The commit, with a plus sign where the sources have been changed since. Pages are written by what asks."""
    commit = _git("rev-parse", "--short=12", "HEAD")
    return commit + ("+" if _git("status", "--porcelain", "--", ".", ":!bench/results", ":!docs") else "")


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise WorldError(
            f"cannot ask git for the revision: {error}", hint="results say which sources they are of"
        ) from error
    return done.stdout.strip()
