"""How long a slice is: time, or an equal number of transactions on every arm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pgverdict.workloads.workload import SliceBound


@dataclass(frozen=True)
class Lengths:
    """A slice takes `usual_us`, or as long as every client needs for `transactions_per_client`, up to `most_us`.

    Before the first every client works uncounted, for `warm_up_us` if it has a core for itself.
    """

    usual_us: int
    transactions_per_client: int
    most_us: int
    warm_up_us: int


BY_TIME = Lengths(usual_us=20_000, transactions_per_client=80, most_us=100_000, warm_up_us=150_000)
"""Longer ones let the host drift between the halves of a pair: slices of 20 ms have half the variance of as much time
in slices of 50 (METHODOLOGY.md#pairs)."""

BY_TRANSACTIONS = Lengths(usual_us=50_000, transactions_per_client=200, most_us=250_000, warm_up_us=300_000)
"""Of work that changes data, or takes long. That shorter ones tell more was not seen with updates, nor tried with
long work."""

DISCARDED_US = 5_000
DISCARDED_SHARE = 0.1
"""The first transactions after a switch are up to 15 % slower while caches turn over; they are not counted: those of
the first 5 ms, and of a tenth of a longer slice."""

COLD_TRANSACTIONS = 1000
"""Of all clients, in the only slice that an arm has in a cold round. An equal number for all arms, and not known from
a warm-up, which would warm. So many take a fifth of a second where storage answers in 0.1 ms, and half a minute where
it takes 10; and in all but the smallest datasets most of them still meet pages that none met before."""

COLD_TRANSACTIONS_PER_CLIENT_MIN = 20

COLD_TRANSACTIONS_PER_CLIENT_LONG = 1
"""Of long transactions: one has read what there is to read, and a second would find it in memory."""


@dataclass(frozen=True)
class Bounds:
    """`bound` and `discard` as the seam words them; fixed for the whole of a cell."""

    bound: tuple[tuple[str, int], ...]
    discard: tuple[tuple[str, int], ...]

    def as_request(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """The two parts of a slice request."""
        return dict(self.bound), dict(self.discard)


WARM_UP_US_MAX = 2_000_000
"""For the sake of rounds with many clients; what is left undone then is found as a trend within rounds."""


def warm_up_us(kind: SliceBound, *, clients: int, cores: int) -> int:
    """How long an arm works before its first slice: clients that share a core take so many times as long to be warm.

    >>> [warm_up_us(SliceBound.TIME, clients=clients, cores=2) for clients in (1, 8, 100)]
    [150000, 600000, 2000000]
    """
    sharing = max(1.0, clients / cores)
    return min(round(_lengths(kind).warm_up_us * sharing), WARM_UP_US_MAX)


def choose_bounds(kind: SliceBound, rates_hz: Sequence[float], clients: int) -> Bounds:
    """Bounds for a cell whose arms did `rates_hz` transactions per second, all clients, while they warmed up.

    >>> choose_bounds(SliceBound.TIME, [50_000.0, 51_000.0], clients=1).bound
    (('duration_us', 20000),)
    >>> choose_bounds(SliceBound.TRANSACTIONS, [10_000.0, 9_000.0], clients=1).bound
    (('transactions_per_client', 450),)
    """
    lengths = _lengths(kind)
    per_client_hz = min(rates_hz) / clients
    needed_us = lengths.transactions_per_client / per_client_hz * 1e6
    duration_us = int(min(max(lengths.usual_us, needed_us), lengths.most_us))
    discarded_us = int(max(DISCARDED_US, duration_us * DISCARDED_SHARE))
    if kind is SliceBound.TIME:
        return Bounds((("duration_us", duration_us),), (("duration_us", discarded_us),))
    count = max(1, round(per_client_hz * duration_us / 1e6))
    return Bounds(
        (("transactions_per_client", count),),
        (("transactions_per_client", round(count * discarded_us / duration_us)),),
    )


def _lengths(kind: SliceBound) -> Lengths:
    return BY_TIME if kind is SliceBound.TIME else BY_TRANSACTIONS


def cold_bounds(clients: int, *, long: bool = False) -> Bounds:
    """Of the slices of cold rounds: all of it counts, the first transactions above all.

    >>> cold_bounds(8).bound, cold_bounds(8, long=True).bound
    ((('transactions_per_client', 125),), (('transactions_per_client', 1),))
    """
    count = max(COLD_TRANSACTIONS_PER_CLIENT_MIN, COLD_TRANSACTIONS // clients)
    if long:
        count = COLD_TRANSACTIONS_PER_CLIENT_LONG
    return Bounds((("transactions_per_client", count),), (("transactions_per_client", 0),))
