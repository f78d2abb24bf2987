"""The engine as an object, against a fake one."""

from pathlib import Path
from typing import Any

import pytest

from pgverdict.engine import process
from pgverdict.engine.process import Engine, EngineError, Where
from pgverdict.errors import WorldError
from tests.engine.fake_engine import HELLO, make_fake_engine

WHERE = Where(Path("/run/x"), 5432, "postgres", "bench")


@pytest.fixture(autouse=True)
def _sources_as_the_fake_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "source_identity", lambda _root: "of this checkout")


def _start(directory: Path, *lines: dict[str, Any]) -> Engine:
    return Engine.start(make_fake_engine(directory, list(lines)))


def _hello(**build: str) -> dict[str, Any]:
    return {"from_engine": {**HELLO, "build": {**HELLO["build"], **build}}}  # type: ignore[dict-item]


def test_a_debug_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="refusing to measure with a debug build"):
        _start(tmp_path, _hello(profile="debug"))


def test_a_stale_engine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="the engine is stale"):
        _start(tmp_path, _hello(identity="of last week"))


def test_another_protocol_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="speaks protocol 2"):
        _start(tmp_path, {"from_engine": {**HELLO, "protocol": 2}})


def test_an_engine_that_cannot_be_started_is_an_error_of_the_world(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="cannot start the engine"):
        Engine.start(tmp_path / "nothing")


def test_an_error_message_names_arm_kind_and_what_the_server_said(tmp_path: Path) -> None:
    request = {"request": "connect", "arm": 1, **WHERE.as_request()}
    error = {
        "message": "error", "request": "connect", "kind": "server", "arm": 1, "what": "arm 1 refused client 0",
        "sqlstate": "53300", "detail": "too many clients already",
    }  # fmt: skip
    with (
        _start(tmp_path, {"from_engine": HELLO}, {"to_engine": request}, {"from_engine": error}) as engine,
        pytest.raises(EngineError) as caught,
    ):
        engine.connect(1, WHERE)

    assert (caught.value.kind, caught.value.arm) == ("server", 1)
    assert caught.value.message == (
        "arm 1 refused client 0; the server said: too many clients already (SQLSTATE 53300)"
    )


def test_an_engine_that_ends_in_the_middle_is_an_error_not_a_hang(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.write_text("#!/bin/sh\nexit 3\n")
    gone.chmod(0o755)

    with pytest.raises(EngineError, match="ended by itself, exit code 3"):
        Engine.start(gone)


def test_an_answer_to_another_question_is_an_error(tmp_path: Path) -> None:
    wrong = {"message": "disconnected", "arm": 0}
    with (
        _start(tmp_path, {"from_engine": HELLO}, {"from_engine": wrong}) as engine,
        pytest.raises(EngineError, match="said disconnected where totals was due"),
    ):
        engine.totals(0)


def test_a_line_that_is_no_json_is_an_error_that_shows_it(tmp_path: Path) -> None:
    with (
        _start(tmp_path, {"from_engine": HELLO}, {"from_engine": "Segmentation fault\n"}) as engine,
        pytest.raises(EngineError, match="Segmentation fault"),
    ):
        engine.totals(0)


def test_an_engine_that_does_not_answer_in_time_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _start(tmp_path, {"from_engine": HELLO}) as engine:
        monkeypatch.setattr(process, "ANSWER_S", 0.05)
        with pytest.raises(EngineError, match="did not answer in time"):
            engine.totals(0)
