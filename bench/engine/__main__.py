"""./x bench engine: what the load engine costs beside pgbench, side by side in one run; prints a table, writes JSON.

./x bench engine                                  all cases, 5 rounds
./x bench engine --cases null-8 null-64 --rounds 9
./x bench engine --pgbench PATH                   beside this pgbench (else the one in PATH)
./x bench engine --memory 60m                     only whether its memory grows in so long a time
./x bench engine --show FILE                      only the table of what is recorded
"""

import argparse
import json
import math
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from bench.ending import run_and_leave
from bench.verdicts.measure import ROOT, revision_of_checkout
from pgverdict.errors import UserError, WorldError, unknown_word
from pgverdict.observe.host import host_facts
from pgverdict.run.site import measuring_alone
from pgverdict.spec.quantities import duration_s

from . import memory, stall
from .cases import CASES, LOADED, SCALE, SELECT, Case, Place, arguments, load_arguments
from .figures import IDLE_BYTES_MOST, OURS, THEIRS, Run, bytes_per_connection, compare, table
from .places import break_in, null_server, real_server
from .programs import Program, Used, run

RESULTS = ROOT / "bench" / "results" / "engine"
SERVER_CORE, CLIENT_CORE = 0, 1
STALLS = "stall"
ROWS_PER_SCALE = 100_000


def main(words: list[str]) -> None:
    """Measure, or show what was measured."""
    options = _parse(words)
    if options.show is not None:
        print(_page(json.loads(options.show.read_text(encoding="utf-8"))))
        return
    if options.memory is not None:
        _keep(_watch(options.memory, options.server))
        return
    names = [*(case.name for case in CASES), STALLS]
    for name in options.cases or ():
        if name not in names:
            raise unknown_word("case", name, names)
    chosen = options.cases or names
    programs = _programs(options.pgbench)
    needed = {case.less for case in CASES if case.name in chosen}
    cases = [case for case in CASES if case.name in chosen or case.name in needed]
    _allow_many_files()
    with measuring_alone():
        document = _measure(
            cases, programs, rounds=options.rounds, stalls=STALLS in chosen, server=options.server
        )
    _keep(document)


def _keep(document: dict[str, object]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    place = RESULTS / f"{datetime.now(UTC):%Y-%m-%d-%H%M}.json"
    place.write_text(_text(document), encoding="utf-8")
    print(_page(document))
    print(f"written: {place.relative_to(ROOT)}", file=sys.stderr)


def _parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./x bench engine", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", nargs="+", metavar="CASE", help="these only")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="both programs in turn, so often")
    parser.add_argument("--pgbench", type=Path, metavar="PATH", help="the pgbench to be held against")
    parser.add_argument("--server", default="18", metavar="SERVER", help="the release of the real server")
    parser.add_argument(
        "--memory", type=duration_s, metavar="DURATION", help="only watch its memory for so long"
    )
    parser.add_argument("--show", type=Path, metavar="FILE", help="only print the table of a file of results")
    options = parser.parse_args(words)
    if options.rounds < 1:
        raise UserError(f"too few rounds: {options.rounds}", hint="5 or more give a median worth telling")
    return options


def _programs(named: Path | None) -> tuple[Program, Program]:
    theirs = named or shutil.which("pgbench")
    if theirs is None:
        raise WorldError("there is no pgbench in PATH", hint="name one: --pgbench PATH")
    return (
        Program(OURS, ROOT / "target" / "release" / "pgverdict-pgbench"),
        Program(THEIRS, Path(theirs).absolute()),
    )


def _allow_many_files() -> None:
    """A connection is a descriptor, in the client as in the server."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _measure(
    cases: Sequence[Case], programs: tuple[Program, Program], *, rounds: int, stalls: bool, server: str
) -> dict[str, object]:
    runs: list[Run] = []
    stalled: list[stall.Stalled] = []
    with ExitStack() as stack:
        scripts = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgv-engine-")))
        directories = {}
        if any(case.place is not Place.REAL for case in cases):
            directories[Place.NULL] = directories[Place.NONE] = stack.enter_context(null_server(SERVER_CORE))
        real = None
        if stalls or any(case.place is Place.REAL for case in cases):
            real = stack.enter_context(real_server(server))
            directories[Place.REAL] = real.socket_directory
            with real.connect() as connection:
                connection.execute(f"CREATE DATABASE {LOADED}".encode())
            run(
                programs[1],
                [
                    "-i",
                    "-q",
                    "-s",
                    str(SCALE),
                    "-h",
                    str(real.socket_directory),
                    "-U",
                    "postgres",
                    "postgres",
                ],
            )
        for case in cases:
            # Uncounted, for the WAL files of those that count.
            if case.loads and real is not None:
                run(programs[1], load_arguments(case, str(real.socket_directory), ours=False))
        for number in range(rounds):
            for case in cases:
                script = scripts / f"{case.name}.sql"
                script.write_text(case.script or SELECT, encoding="utf-8")
                for program in programs if number % 2 == 0 else programs[::-1]:
                    if case.loads and real is not None:
                        break_in(real)
                    found = _run(case, number, program, script, directories[case.place])
                    runs.append(found)
                    print(
                        f"round {number + 1}: {case.name}: {program.name}: {found.tps:,.0f} /s",
                        file=sys.stderr,
                    )
            if stalls and real is not None:
                stalled += [
                    stall.run_stalled(programs[0], real, limit_ms=limit) for limit in (None, stall.LIMIT_MS)
                ]
    return {
        **_circumstances(programs, server),
        "runs": [asdict(one) for one in runs],
        "stalls": [stall.as_json(one) for one in stalled],
    }


def _circumstances(programs: Sequence[Program], server: str) -> dict[str, object]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "revision": revision_of_checkout(),
        "programs": {program.name: program.version() for program in programs},
        "server": server,
        "host": {name: value for name, value in host_facts() if name != "name"},
    }


def _watch(seconds: float, server: str) -> dict[str, object]:
    """No measurement of time: whatever else the host does, memory stays flat or does not."""
    ours = Program(OURS, ROOT / "target" / "release" / "pgverdict-pgbench")
    with real_server(server) as real:
        watched = memory.watch(ours.path, real.socket_directory, seconds=seconds)
    return {**_circumstances([ours], server), "memory": asdict(watched), "runs": [], "stalls": []}


def _load(case: Case, number: int, program: Program, directory: Path) -> Run:
    whole = run(program, load_arguments(case, str(directory), ours=program.name == OURS))
    rows = case.loads * ROWS_PER_SCALE
    return Run(
        case.name,
        number,
        program.name,
        rows,
        whole.user_s,
        whole.system_s,
        rows / whole.generate_s,
        whole.rss_bytes,
    )


def _run(case: Case, number: int, program: Program, script: Path, directory: Path) -> Run:
    if case.loads:
        return _load(case, number, program, directory)
    # The null server has one core, its client the other; beside a real server, both are where the kernel puts them.
    core = None if case.place is Place.REAL else CLIENT_CORE

    def used(transactions: int | None, *, weighed: bool = False) -> Used:
        words = arguments(case, str(script), str(directory), transactions=transactions)
        if program.name == OURS:
            words = [f"--event-loop={case.event_loop}", *words]
        return run(program, words, core=core, weighed=weighed)

    whole = used(case.transactions_each, weighed=case.weighed)
    user_s, system_s, transactions = whole.user_s, whole.system_s, whole.transactions
    if case.transactions_each is not None:
        one = used(1)
        user_s, system_s = user_s - one.user_s, system_s - one.system_s
        transactions -= one.transactions
    return Run(case.name, number, program.name, transactions, user_s, system_s, whole.tps, whole.rss_bytes)


def _text(document: dict[str, object]) -> str:
    """JSON with a line per run."""
    head = {name: value for name, value in document.items() if name not in ("runs", "stalls")}
    parts = [f'"{name}": {json.dumps(value)}' for name, value in head.items()]
    for name in ("runs", "stalls"):
        rows = ",\n  ".join(json.dumps(row) for row in document[name])  # type: ignore[attr-defined]
        parts.append(f'"{name}": [\n  {rows}\n ]')
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _page(document: dict[str, object]) -> str:
    head = f"{document['date']}, revision {document['revision']}"
    if watched := document.get("memory"):
        return f"{head}\n\n{memory.told(memory.Watched(**watched))}"  # type: ignore[arg-type]
    runs = [Run(**row) for row in document["runs"]]  # type: ignore[attr-defined]
    stalls = [
        stall.Stalled(**{name: row[name] for name in stall.Stalled.__dataclass_fields__})
        for row in document["stalls"]  # type: ignore[attr-defined]
    ]
    programs = document["programs"]
    assert isinstance(programs, dict)
    parts = [
        f"{head}, beside {programs[THEIRS]}",
        table(compare(runs)),
    ]
    if idle := bytes_per_connection(runs):
        told = ", ".join(f"{name} {value / 1e3:.1f} KB" for name, value in idle.items())
        met = "met" if idle.get(OURS, math.inf) <= IDLE_BYTES_MOST else "missed"
        parts.append(f"Memory of one more connection: {told} (goal <= {IDLE_BYTES_MOST / 1e3:g} KB: {met}).")
    if stalls:
        parts.append(
            f"{stall.RATE_HZ} arrivals per second for {stall.SECONDS:g} s, the server standing still once:"
        )
        parts.append(stall.table(stalls))
    return "\n\n".join(parts)


if __name__ == "__main__":
    os.environ.pop("PGOPTIONS", None)
    run_and_leave(lambda: main(sys.argv[1:]))
