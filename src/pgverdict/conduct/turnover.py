"""Turnover: in an arm whose data is larger than its memory, every page that comes in displaces another.

Until then memory fills, and reads become fewer from second to second; slices that are measured meanwhile are of a
state that never comes again. So the arms work uncounted until their reads per transaction fall no further:

    of an arm's last six slices of a second, the median of the last three is at least 95 % of the median of those
    before, or both are less than a page in a hundred transactions

Reads are what its processes had fetched from storage. An arm that has not got there in two minutes of work fails the
round. It is asked of every round, since every server starts with empty memory.

The arms take turns, as they will when they are measured, and go on until the last one is there. One after the other,
the first would wait while the second works, and a host that takes back what lies idle would take the first one's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from pgverdict.engine.process import Engine
from pgverdict.errors import RoundFailed
from pgverdict.plan.rounds import RoundPlan
from pgverdict.plan.stretches import slice_seed

SLICE_US = 1_000_000
WINDOW = 3
FALL_MAX = 0.05
"""From the median of three slices to that of the next three: less is not told from chance in so few."""

FEW_BYTES = 82.0
"""Per transaction: a page in a hundred. It may go on falling for as long as it likes."""

SLICES_MAX = 120


@dataclass(frozen=True)
class WarmedUp:
    """How an arm's warm-up ended. `turnover_s`: its work until turnover; None where memory holds the data, and all
    arms worked for `warm_up_us`."""

    rate_hz: float
    turnover_s: float | None = None
    warm_up_us: int | None = None


@dataclass(frozen=True)
class Filling:
    """An arm that fills its memory. `storage_read_bytes`: what its server had fetched from storage so far."""

    name: str
    storage_read_bytes: Callable[[], int]


def has_turned_over(read_bytes: Sequence[float]) -> bool:
    """Whether reads have stopped falling; `read_bytes` per transaction, slice by slice.

    >>> has_turned_over([900, 700, 500, 300, 200, 100]), has_turned_over([900, 410, 400, 402, 399, 401, 400])
    (False, True)
    """
    if len(read_bytes) < 2 * WINDOW:
        return False
    before, last = _medians(read_bytes)
    return last >= (1 - FALL_MAX) * before or max(before, last) < FEW_BYTES


def warm_until_turnover(engine: Engine, arms: Mapping[int, Filling], plan: RoundPlan) -> dict[int, WarmedUp]:
    """Let the arms work uncounted, in the order given, until turnover of all; RoundFailed if that does not come."""
    read_bytes: dict[int, list[float]] = {arm: [] for arm in arms}
    done: dict[int, WarmedUp] = {}
    for number in range(SLICES_MAX):
        for arm, filling in arms.items():
            rate_hz, read = _work(engine, arm, filling, slice_seed(plan, -1 - number))
            read_bytes[arm].append(read)
            if arm in done or has_turned_over(read_bytes[arm]):
                first = done.get(arm)
                seconds = first.turnover_s if first else (number + 1) * SLICE_US / 1e6
                done[arm] = WarmedUp(rate_hz, seconds)
        if len(done) == len(arms):
            return done
    arm = next(arm for arm in arms if arm not in done)
    before, last = _medians(read_bytes[arm])
    raise RoundFailed(
        f"arm {arms[arm].name} was still filling its memory after {SLICES_MAX * SLICE_US / 1e6:.0f} s of work: bytes"
        f" read per transaction fell from {before:.0f} to {last:.0f} in its last {2 * WINDOW} slices",
        arm=arm,
        hint="more clients fill it sooner; or choose a smaller --memory, or a smaller --scale",
    )


def _work(engine: Engine, arm: int, filling: Filling, seed: int) -> tuple[float, float]:
    """A slice of an arm: its rate, and the bytes it read per transaction.

    Seeds of numbers below 0 give keys that no counted slice draws, whose numbers begin with 0.
    """
    before = filling.storage_read_bytes()
    bound, discard = {"duration_us": SLICE_US}, {"duration_us": 0}
    done = engine.slice(arm, seed=seed, bound=bound, discard=discard, keep=False)
    executed = max(1, done.transactions + done.failed)
    return done.rate_hz, (filling.storage_read_bytes() - before) / executed


def _medians(read_bytes: Sequence[float]) -> tuple[float, float]:
    return median(read_bytes[-2 * WINDOW : -WINDOW]), median(read_bytes[-WINDOW:])
