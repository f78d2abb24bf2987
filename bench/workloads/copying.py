"""Loads beside COPY from ready files: what it takes that rows are made while they are sent."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic

from bench.engine.places import real_server
from pgverdict.datasets.load import DATABASE, Step, finish, lanes, make_tables
from pgverdict.servers.server import Server
from pgverdict.spec.parameters import Chosen
from pgverdict.workloads import catalogue
from pgverdict.workloads.workload import Workload

from .case import Case, Goal, Opened, Size
from .ours import SECONDS, drop_database, fill, settled

RELEASE = "18"
RIVAL = "COPY"

Part = tuple[str, int]
"""A table, and the number of its share."""

SHARE = "(SELECT * FROM {table} WHERE (ctid::text::point)[0]::bigint % {of} = {number})"
"""Every so manyth page. There is nothing but the rows' own columns to go by."""


def part(step: Step) -> Part:
    """Which rows a COPY of a load wants."""
    return str(step["copy"]).split()[1], int(step["share"]["number"])


def write_files(server: Server, workload: Workload, scale: int) -> dict[Part, Path]:
    """The rows of a loaded database, a file for every COPY of its load, written and read by the server."""
    place = server.data.parent / "ready"
    server.account.make_directory(place)
    files = {}
    with server.connect(DATABASE) as connection:
        for step in (step for lane in lanes(workload.dataset, scale) for step in lane if "copy" in step):
            (table, number), of = part(step), step["share"]["of"]
            what = table if of == 1 else SHARE.format(table=table, of=of, number=number)
            path = files[table, number] = place / f"{table}-{number}"
            connection.execute(f"COPY {what} TO '{path}'".encode())
    return files


def fill_from(server: Server, workload: Workload, scale: int, files: Mapping[Part, Path]) -> float:
    """The load that ours is, over as many connections, with the same statements before and after, but that the rows
    of each COPY are in a file. Seconds."""
    drop_database(server)
    begun = monotonic()
    make_tables(server, workload.dataset, scale)
    parts = lanes(workload.dataset, scale)
    with ThreadPoolExecutor(len(parts)) as threads:
        list(threads.map(partial(_fill, server, files), parts))
    finish(server, workload.dataset)
    return monotonic() - begun


def _fill(server: Server, files: Mapping[Part, Path], steps: Sequence[Step]) -> None:
    with server.connect(DATABASE) as connection:
        for step in steps:
            sql = step.get("sql") or step["copy"].replace("FROM STDIN", f"FROM '{files[part(step)]}'")
            connection.execute(sql.encode())


@contextmanager
def _loading(name: str, chosen: Chosen, size: Size) -> Opened:
    workload = catalogue.workload(name, chosen)
    with real_server(RELEASE) as server:
        fill(server, workload, size)
        files = write_files(server, workload, size.scale)
        yield (
            settled(server, lambda: {SECONDS: fill(server, workload, size)}),
            settled(server, lambda: {SECONDS: fill_from(server, workload, size.scale, files)}),
        )


DIFFERS = (
    "The server reads the files itself, from the page cache, over as many connections as ours loads; tables, indexes,"
    " vacuum and checkpoint are the same and part of both times. The harder of two ways to read it: files that a client"
    " sends would cost it more."
)

CASES = (
    Case(
        "tpch-load",
        "TPC-H-derived, load of scale factor 1 with keys and indexes",
        RIVAL,
        DIFFERS,
        (Goal(SECONDS, most=1.15),),
        Size(seconds=0, scale=100, clients=2),
        Size(seconds=0, scale=1, clients=2),
        lambda: f"COPY of PostgreSQL {RELEASE}",
        # Units of a hundredth, so that a tiny one is possible.
        partial(_loading, "tpch", (("scale_factor", 0.01),)),
    ),
    Case(
        "ycsb-load",
        "YCSB, load of 400 000 records of 1 KB with their key",
        RIVAL,
        DIFFERS,
        (Goal(SECONDS, most=1.15),),
        Size(seconds=0, scale=40, clients=4),
        Size(seconds=0, scale=1, clients=4),
        lambda: f"COPY of PostgreSQL {RELEASE}",
        partial(_loading, "ycsb-a", ()),
    ),
)
