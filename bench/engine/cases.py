"""What is run: each case is one setting, run with both programs in turn, and the goals its figures are held against.

A figure is a ratio of ours to pgbench's, of the same round.
"""

from dataclasses import dataclass
from enum import Enum


class Place(Enum):
    """The server: `NULL` answers at once, on a core of its own; `REAL` shares the cores with the client."""

    NULL = "null"
    REAL = "real"
    NONE = "none"
    """Scripts without SQL, connected to the null server."""


class Figure(Enum):
    """What is compared, per transaction (or statement, or command)."""

    CPU = "CPU"
    USER = "user CPU"
    TPS = "transactions per second"
    ROWS = "rows per second"


@dataclass(frozen=True)
class Goal:
    """`most`: the ratio is to be at most this; `least`: at least; `most_us`: ours, whatever the other takes."""

    figure: Figure
    most: float | None = None
    least: float | None = None
    most_us: float | None = None

    def met(self, ratio: float, ours: float) -> bool:
        """Whether a ratio, and our own figure, meet it."""
        return (
            (self.most is None or ratio <= self.most)
            and (self.least is None or ratio >= self.least)
            and (self.most_us is None or ours <= self.most_us)
        )

    def spelled(self) -> str:
        if self.most_us is not None:
            return f"<= {1e3 * self.most_us:g} ns"
        return f"<= {self.most:g}" if self.most is not None else f">= {self.least:g}"


@dataclass(frozen=True)
class Case:
    """`script`: text of a script; None is the built-in select-only. `units`: statements or commands per transaction
    that the figures are per. `less`: a case whose time per transaction is first taken away."""

    name: str
    title: str
    place: Place
    clients: int
    goals: tuple[Goal, ...]
    threads: int = 1
    script: str | None = None
    units: int = 1
    seconds: float = 4.0
    transactions_each: int | None = None
    """Instead of seconds: so many per client; one transaction each is run as well, and taken away."""
    less: str | None = None
    weighed: bool = False
    """Its memory is looked at."""
    loads: int = 0
    """No script: the accounts of this scale are loaded anew, by `threads` connections of ours and pgbench's one."""
    event_loop: str = "auto"
    """Of our client: `epoll` and `io_uring` have goals of their own."""


SELECT = "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
"""The built-in select-only, as a file: with a built-in pgbench asks the server for the scale."""

PIPELINE = (
    "\\startpipeline\n"
    + "".join(
        f"\\set aid{n} random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid{n};\n"
        for n in range(10)
    )
    + "\\endpipeline\n"
)

COMMANDS = 50


def _sets(expression: str) -> str:
    return "".join(f"\\set v{n % 5} {expression}\n" for n in range(COMMANDS))


EPOLL, RING = "epoll", "io_uring"
NULL_EPOLL = (Goal(Figure.CPU, most=0.75), Goal(Figure.USER, most=0.40))
NULL_RING = (Goal(Figure.CPU, most=0.65), Goal(Figure.USER, most=0.40))
MANY = (Goal(Figure.CPU, most=0.45), Goal(Figure.TPS, least=1.6))
FASTEST = Goal(Figure.TPS, least=1.3)
REAL_EPOLL, REAL_RING = (Goal(Figure.CPU, most=0.85),), (Goal(Figure.CPU, most=0.70),)

CASES = (
    Case("null-8", "select-only, null server, 8 connections, epoll", Place.NULL, 8, NULL_EPOLL, weighed=True,
         event_loop=EPOLL),
    Case("null-8-ring", "select-only, null server, 8 connections, io_uring", Place.NULL, 8, NULL_RING,
         event_loop=RING),
    Case("null-64", "select-only, null server, 64 connections, epoll", Place.NULL, 64, (*NULL_EPOLL, FASTEST),
         event_loop=EPOLL),
    Case("null-64-ring", "select-only, null server, 64 connections, io_uring", Place.NULL, 64,
         (*NULL_RING, FASTEST), event_loop=RING),
    Case("real-8", "select-only, real server on the same cores, 8 connections, epoll", Place.REAL, 8, REAL_EPOLL,
         event_loop=EPOLL),
    Case("real-8-ring", "select-only, real server on the same cores, 8 connections, io_uring", Place.REAL, 8,
         REAL_RING, event_loop=RING),
    Case("real-64", "select-only, real server on the same cores, 64 connections, epoll", Place.REAL, 64,
         REAL_EPOLL, event_loop=EPOLL),
    Case("real-64-ring", "select-only, real server on the same cores, 64 connections, io_uring", Place.REAL, 64,
         REAL_RING, event_loop=RING),
    Case("few-1", "select-only, real server, 1 connection, 1 thread", Place.REAL, 1,
         (Goal(Figure.TPS, least=0.97),)),
    Case("few-2", "select-only, real server, 2 connections, 2 threads", Place.REAL, 2,
         (Goal(Figure.TPS, least=0.97),), threads=2),
    Case("few-8", "select-only, real server, 8 connections, 8 threads", Place.REAL, 8,
         (Goal(Figure.TPS, least=0.97),), threads=8),
    Case("pipeline-10", "10 statements pipelined, null server, 8 connections, per statement", Place.NULL, 8,
         (Goal(Figure.CPU, most=0.50),), script=PIPELINE, units=10),
    Case("many", "select-only, null server, 10 000 connections, epoll", Place.NULL, 10_000, MANY,
         transactions_each=60, weighed=True, event_loop=EPOLL),
    Case("many-ring", "select-only, null server, 10 000 connections, io_uring", Place.NULL, 10_000, MANY,
         transactions_each=60, event_loop=RING),
    Case("load-1", "load of the accounts, one connection", Place.REAL, 1, (Goal(Figure.ROWS, least=1.15),), loads=20),
    Case("load-2", "load of the accounts, two connections of ours", Place.REAL, 1, (Goal(Figure.ROWS, least=2.0),),
         threads=2, loads=20),
    Case("script-empty", "a script of one \\set, no SQL", Place.NONE, 1, (), script="\\set a 1\n", seconds=2.0),
    Case("set-random", "\\set with random()", Place.NONE, 1, (Goal(Figure.CPU, most_us=0.030),),
         script=_sets("random(1, 100000)"), units=COMMANDS, seconds=2.0, less="script-empty"),
    Case("set-zipfian", "\\set with random_zipfian()", Place.NONE, 1, (Goal(Figure.CPU, most_us=0.120),),
         script=_sets("random_zipfian(1, 100000, 1.5)"), units=COMMANDS, seconds=2.0, less="script-empty"),
)  # fmt: skip

SCALE = 10


LOADED = "loaded"
"""The database that loads go into: the other cases keep their tables."""


def load_arguments(case: Case, directory: str, *, ours: bool) -> list[str]:
    """Options that load the tables, without keys; pgbench's jobs are of no use to a load."""
    jobs = ["-j", str(case.threads)] if ours and case.threads > 1 else []
    return [
        "-i", "-I", "dtg", "-q", "-s", str(case.loads), *jobs, "-h", directory, "-U", "postgres", LOADED,
    ]  # fmt: skip


def arguments(case: Case, script_path: str, directory: str, *, transactions: int | None = None) -> list[str]:
    """Options of pgbench, the same for both programs. `transactions`: per client, instead of the case's seconds."""
    bound = ["-T", f"{case.seconds:g}"] if transactions is None else ["-t", str(transactions)]
    return [
        "-n", "-M", "prepared", "-c", str(case.clients), "-j", str(case.threads), *bound,
        "-D", f"scale={SCALE}", "-f", script_path, "-h", directory, "-U", "postgres", "postgres",
    ]  # fmt: skip
