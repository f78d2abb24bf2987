"""./x bench releases: run every supported release on every built-in workload, and write docs/releases.md.

./x bench releases                             ready-made and installed ones
./x bench releases --source source:PATH ...    and what is built from these
./x bench releases --show FILE                 only the page of what is recorded
"""

import argparse
import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from bench.ending import run_and_leave
from bench.verdicts.measure import ROOT, revision_of_checkout
from pgverdict.servers.account import server_account
from pgverdict.servers.home import Home
from pgverdict.workloads import catalogue

from .attempts import Attempt, attempt_all, candidates
from .page import page

RESULTS = ROOT / "bench" / "results" / "releases"
PAGE = ROOT / "docs" / "releases.md"


def main(words: list[str]) -> None:
    """Run, or show what was run."""
    parser = argparse.ArgumentParser(prog="./x bench releases", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--source", nargs="*", default=[], metavar="SPELLING", help="servers to be built as well"
    )
    parser.add_argument("--show", type=Path, metavar="FILE", help="only print the page of a file of results")
    options = parser.parse_args(words)
    if options.show is not None:
        print(render(options.show))
        return
    home = Home.find()
    home.ensure(server_account())
    workloads = catalogue.names()
    made = attempt_all(candidates(home, options.source), workloads, lambda text: print(text, file=sys.stderr))
    now = datetime.now(UTC)
    RESULTS.mkdir(parents=True, exist_ok=True)
    place = RESULTS / f"{now:%Y-%m-%d-%H%M}.json"
    document = {
        "date": now.isoformat(timespec="seconds"),
        "revision": revision_of_checkout(),
        "workloads": list(workloads),
        "attempts": [asdict(one) for one in made],
    }
    place.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(render(place), encoding="utf-8")
    print(f"written: {place.relative_to(ROOT)}, {PAGE.relative_to(ROOT)}", file=sys.stderr)


def render(place: Path) -> str:
    """The page of a file of results."""
    document = json.loads(place.read_text(encoding="utf-8"))
    attempts = [Attempt(**one) for one in document["attempts"]]
    return page(attempts, document["workloads"], date=document["date"], revision=document["revision"])


if __name__ == "__main__":
    run_and_leave(lambda: main(sys.argv[1:]))
