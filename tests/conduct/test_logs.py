"""Which logs go with a round that failed."""

from types import SimpleNamespace
from typing import Any, cast

from pgverdict.conduct.logs import BYTES_MAX, Writers
from pgverdict.records.round import LogRecord
from pgverdict.servers.server import Server

ANY: Any = None


def test_every_server_that_was_launched_and_wrote_something_is_told_by_its_arm() -> None:
    said = {0: "", 1: "FATAL: no\n", 2: "LOG: ready\n"}
    asked: list[int] = []

    def launch(_cell: Any, _plan: Any, arm: int, _data: Any) -> Any:
        def log_end(bytes_max: int) -> str:
            asked.append(bytes_max)
            return said[arm]

        return SimpleNamespace(log_end=log_end)

    writers = Writers(launch)
    for arm in (2, 0, 1):
        writers.launch(ANY, ANY, arm, ANY)

    assert writers.logs() == (LogRecord(1, "FATAL: no\n"), LogRecord(2, "LOG: ready\n"))
    assert set(asked) == {BYTES_MAX}


def test_a_log_that_cannot_be_read_says_so() -> None:
    def log_end(_bytes_max: int) -> str:
        raise OSError(5, "Input/output error")

    writers = Writers(lambda *_: cast(Server, SimpleNamespace(log_end=log_end)))
    writers.launch(ANY, ANY, 0, ANY)

    assert writers.logs() == (LogRecord(0, "its log cannot be read: [Errno 5] Input/output error\n"),)


def test_where_no_server_was_launched_there_are_no_logs() -> None:
    assert Writers(ANY).logs() == ()
