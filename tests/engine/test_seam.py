"""The recorded streams of the seam, seen from Python: our requests are those recorded, their answers are understood.

The engine's own tests hold the same streams against the engine.
"""

import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pgverdict.engine.process import Engine, EngineError, Named, Where
from pgverdict.workloads.workload import Program, Script
from tests.engine.fake_engine import Line, make_fake_engine, read_stream

SEAM = Path(__file__).resolve().parents[1] / "seam"

Call = Callable[[Engine, dict[str, Any]], Any]


def _where(request: dict[str, Any]) -> Where | Named:
    if "dsn" in request:
        return Named(request["dsn"], request["database"], request["password"])
    return Where(Path(request["socket_directory"]), request["port"], request["user"], request["database"])


def _program(request: dict[str, Any]) -> Program:
    return Program(request["name"], tuple(request["parameters"].items()))


CALLS: dict[str, Call] = {
    "setup": lambda engine, r: engine.setup(
        clients=r["clients"],
        threads=r["threads"],
        cpus=r["cpus"],
        scripts=[Script(s["name"], s["text"], s["weight"]) for s in r.get("scripts", ())],
        variables=r.get("variables", {}),
        program=_program(r["workload"]) if "workload" in r else None,
    ),
    "connect": lambda engine, r: engine.connect(r["arm"], _where(r)),
    "slice": lambda engine, r: engine.slice(
        r["arm"], seed=r["seed"], bound=r["bound"], discard=r["discard"], keep=r["keep"]
    ),
    "totals": lambda engine, r: engine.totals(r["arm"]),
    "disconnect": lambda engine, r: engine.disconnect(r["arm"]),
    "load": lambda engine, r: engine.load(_where(r), r["lanes"]),
}


def _ours(lines: list[Line]) -> list[Line]:
    """A stream as far as this package would have its part in it: a request it never makes ends it."""
    kept: list[Line] = []
    for line in lines:
        request = line.get("to_engine")
        if request is not None and not _is_ours(request):
            break
        kept.append(line)
    return kept


def _is_ours(request: Any) -> bool:
    known = isinstance(request, dict) and request.get("request") in CALLS
    return known and not (request["request"] == "totals" and not request.get("reset"))


STREAMS = [path for path in sorted(SEAM.glob("*.jsonl")) if len(_ours(read_stream(path))) > 1]


def test_there_are_streams() -> None:
    assert {"comparison", "load", "errors_server"} <= {path.stem for path in STREAMS}


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_a_recorded_stream_is_understood_and_our_part_is_as_recorded(path: Path, tmp_path: Path) -> None:
    lines = _ours(read_stream(path))
    player = make_fake_engine(tmp_path, lines)
    process = subprocess.Popen([player], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    engine = Engine(process)
    try:
        for place, line in enumerate(lines):
            if "to_engine" not in line:
                continue
            request = line["to_engine"]
            answer = next(a["from_engine"] for a in lines[place + 1 :] if _closes(a["from_engine"]))
            if answer["message"] == "error":
                with pytest.raises(EngineError) as caught:
                    CALLS[request["request"]](engine, request)
                assert caught.value.kind == answer["kind"]
                assert caught.value.message.startswith(answer["what"])
            else:
                CALLS[request["request"]](engine, request)
    finally:
        engine.close()


def _closes(message: dict[str, Any]) -> bool:
    return bool(message["message"] != "load_progress")


def test_a_slice_is_read_with_all_its_figures(tmp_path: Path) -> None:
    lines = read_stream(SEAM / "comparison.jsonl")
    request, answer = next(
        (asked["to_engine"], said["from_engine"])
        for asked, said in itertools.pairwise(lines)
        if asked.get("to_engine", {}).get("keep")
    )
    hello = lines[0]
    player = make_fake_engine(tmp_path, [hello, {"to_engine": request}, {"from_engine": answer}])
    engine = Engine(subprocess.Popen([player], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    try:
        done = CALLS["slice"](engine, request)
    finally:
        engine.close()

    assert done.transactions == answer["transactions"]
    assert done.latency.p50_ns == answer["latency_ns"]["p50"]
    assert done.engine_run_delay_ns == answer["engine"]["run_delay_ns"]
