"""What of a slice second by second is recorded."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from pgverdict.conduct.boundary import Growth
from pgverdict.conduct.slices import record_slice
from pgverdict.engine import messages
from pgverdict.errors import RoundFailed
from pgverdict.records.round import SecondsRecord

NATIVE = Path(__file__).resolve().parents[1] / "seam" / "native.jsonl"

COUNTED = Growth(
    server_cpu_ns=None,
    server_run_delay_ns=None,
    backend_switches_voluntary=None,
    backend_switches_involuntary=None,
    engine_switches_voluntary=1,
    engine_switches_involuntary=0,
    cores_busy_ns=0,
    steal_ns=0,
)
WHOLE = {"transactions": [30, 0, 10], "mean_ns": [19.5, None, 21.0]}
OF_SECOND_KIND = {"transactions": [0, 0, 10], "mean_ns": [None, None, 21.0]}


def a_message() -> dict[str, Any]:
    """The slice of two kinds that both sides are tested against, as if it had lasted three seconds."""
    said = (json.loads(line).get("from_engine", {}) for line in NATIVE.read_text().splitlines())
    message: dict[str, Any] = next(one for one in said if one.get("message") == "slice_done")
    assert message["seconds"] is None
    message["seconds"] = WHOLE
    message["kinds"][1]["seconds"] = OF_SECOND_KIND
    return message


def recorded(*kinds: str) -> tuple[SecondsRecord, ...]:
    done = messages.slice_done(a_message())
    return record_slice(done, COUNTED, arm=0, pair=0, position=0, name="it", kinds=kinds).seconds


ALL = SecondsRecord(None, (30, 0, 10), (19.5, None, 21.0))


def test_kinds_are_told_by_their_names_and_only_where_they_have_seconds() -> None:
    assert recorded("read", "order") == (ALL, SecondsRecord("order", (0, 0, 10), (None, None, 21.0)))


def test_without_names_of_kinds_the_whole_slice_is_recorded() -> None:
    assert recorded() == (ALL,)


def test_a_slice_without_a_transaction_is_its_arms_failure() -> None:
    done = dataclasses.replace(messages.slice_done(a_message()), latency=None)

    with pytest.raises(RoundFailed, match="it ended without a transaction") as caught:
        record_slice(done, COUNTED, arm=1, pair=0, position=0, name="it")
    assert caught.value.arm == 1
