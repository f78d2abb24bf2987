"""A server against itself on every built-in workload, for a few rounds, and what became of it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.verdicts.measure import ROOT
from pgverdict.servers.found import find_installed
from pgverdict.servers.home import Home
from pgverdict.servers.install import list_releases
from pgverdict.servers.release import spell_major

ROUNDS = 2
SCALE = 1


@dataclass(frozen=True)
class Attempt:
    """`measured`: rounds that were measured, by workload. `story`: why not all, None if all were."""

    release: str
    obtained: str
    version: str
    measured: dict[str, int]
    story: str | None


def attempt(release: str, obtained: str, server: str, workloads: Sequence[str]) -> Attempt:
    """Run it; a run that fails is an attempt with a story."""
    with tempfile.TemporaryDirectory(prefix="pgv-releases-") as scratch:
        store, report = Path(scratch) / "runs.sqlite", Path(scratch) / "report.json"
        words = [
            sys.executable,
            "-m",
            "pgverdict",
            "compare",
            server,
            server,
            f"--scale={SCALE}",
            f"--rounds={ROUNDS}",
        ]
        words += [f"--workload={name}" for name in workloads]
        words += [f"--store={store}", f"--json={report}", f"--html={Path(scratch) / 'report.html'}"]
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, cwd=ROOT, env=dict(os.environ)
        )
        if not report.exists():
            return Attempt(release, obtained, "", {}, done.stderr.strip()[-500:])
        told = json.loads(report.read_text())
    measured = {cell["workload"]: cell["rounds"] for cell in told["cells"]}
    story = (
        None
        if done.returncode == 0 and all(measured.get(name) == ROUNDS for name in workloads)
        else done.stderr
    )
    return Attempt(release, obtained, told["arms"][0]["version"], measured, story)


def candidates(home: Home, sources: Sequence[str]) -> list[tuple[str, str, str]]:
    """(release, how it is obtained, spelling): ready-made, installed here, and from the sources that are named."""
    newest = {release.major: release for release in sorted(list_releases(home))}
    found = [(spell_major(major), "ready-made", release.version) for major, release in sorted(newest.items())]
    found += [(one.major, "installed", f"system:{one.major}") for one in find_installed()]
    return found + [("", "built", source) for source in sources]


def attempt_all(
    chosen: Sequence[tuple[str, str, str]], workloads: Sequence[str], tell: Callable[[str], None]
) -> list[Attempt]:
    """One after the other."""
    made = []
    for release, obtained, server in chosen:
        done = attempt(release, obtained, server, workloads)
        tell(f"{server}: {done.story or 'ran'}")
        made.append(done)
    return made
