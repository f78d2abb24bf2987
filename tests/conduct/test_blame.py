"""Whose failure a round's failure is."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgverdict.conduct.live import blaming, quoting_logs, running
from pgverdict.conduct.warmth import check_warmth
from pgverdict.engine.process import EngineError
from pgverdict.errors import RoundFailed, WorldError
from pgverdict.servers.server import Server
from pgverdict.spec.regime import Regime


class Stubborn:
    """A server that starts and stops, or fails to; not confined, unless it says so."""

    confines: Any = None

    def __init__(self, fails: str) -> None:
        self.fails = fails

    def start(self) -> float:
        return self._do("start")

    def stop(self, _mode: str) -> float:
        return self._do("stop")

    def _do(self, deed: str) -> float:
        if deed == self.fails:
            raise WorldError(f"cannot {deed}", hint="try again")
        return 1.0


def run_it(fails: str) -> RoundFailed:
    with (
        pytest.raises(RoundFailed, match=f"^cannot {fails}$") as caught,
        running(cast(Server, Stubborn(fails)), Regime.FRESH, 1),
    ):
        pass
    return caught.value


@pytest.mark.parametrize("deed", ["start", "stop"])
def test_a_server_that_does_not_start_or_stop_is_its_arms_failure(deed: str) -> None:
    failure = run_it(deed)

    assert (failure.arm, failure.hint) == (1, "try again")


def test_a_server_that_does_as_it_is_told_is_blamed_for_nothing_that_happens_meanwhile() -> None:
    with pytest.raises(WorldError) as caught, running(cast(Server, Stubborn("never")), Regime.READ_ONLY, 0):
        raise WorldError("out of memory")

    assert not isinstance(caught.value, RoundFailed)


def test_an_arm_that_lost_a_process_for_want_of_memory_is_blamed_and_it_is_said_why() -> None:
    server = Stubborn("never")
    server.confines = SimpleNamespace(killed=lambda: 2)

    with (
        pytest.raises(
            RoundFailed, match="killed 2 processes of arm 1, whose memory did not suffice: gone"
        ) as caught,
        running(cast(Server, server), Regime.FRESH, 1),
    ):
        raise WorldError("gone")

    assert caught.value.arm == 1
    assert "--memory" in (caught.value.hint or "")


def test_who_is_known_to_have_failed_is_not_exchanged() -> None:
    with pytest.raises(RoundFailed) as caught, blaming(1):
        raise RoundFailed("the other one", arm=0)

    assert caught.value.arm == 0


def test_a_full_disk_is_no_arms_failure() -> None:
    with pytest.raises(OSError, match="No space"), blaming(1):
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("kind", "blamed"), [("server", 1), ("request", None), ("world", None)])
def test_the_arm_that_the_engine_names_is_blamed_if_its_server_failed(kind: str, blamed: int | None) -> None:
    servers: Any = {1: SimpleNamespace(log_tail=lambda _lines: "FATAL: it is late\nbye")}

    with (
        pytest.raises(
            RoundFailed, match=r"arm 1 hung up; the log of arm 1 ends: FATAL: it is late \| bye"
        ) as caught,
        quoting_logs(servers),
    ):
        raise EngineError("arm 1 hung up", kind=kind, arm=1)

    assert caught.value.arm == blamed


def test_an_engine_that_ended_is_no_arms_failure() -> None:
    with pytest.raises(EngineError), quoting_logs({}):
        raise EngineError("the engine ended by itself", kind="protocol")


def test_a_cold_arm_is_to_blame() -> None:
    with pytest.raises(RoundFailed) as caught:
        check_warmth(1, "18", storage_read_bytes=1 << 20, data_bytes=1, memory_bytes=2)

    assert caught.value.arm == 1


def test_an_arm_that_used_all_its_memory_may_read_back_what_it_displaced() -> None:
    limit = 256 << 20
    read = {"storage_read_bytes": 60 << 20, "data_bytes": 120 << 20, "memory_bytes": limit}

    check_warmth(1, "18", **read, memory_bytes_max=limit - 4096)

    with pytest.raises(RoundFailed, match="read 62914560 bytes from storage"):
        check_warmth(1, "18", **read, memory_bytes_max=limit * 9 // 10)
