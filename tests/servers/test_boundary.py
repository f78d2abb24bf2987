"""What is read at the boundaries of a slice, on a real server."""

import os
import time

import pytest

from pgverdict.conduct.boundary import Reader, growth
from pgverdict.engine.process import Engine
from pgverdict.observe import views
from pgverdict.servers.install import Install

from .conftest import MakeServer

pytestmark = pytest.mark.slow

PARALLEL = {
    "max_parallel_workers_per_gather": "2", "min_parallel_table_scan_size": "0", "parallel_setup_cost": "0",
    "parallel_tuple_cost": "0", "jit": "off",
}  # fmt: skip
PATIENCE_S = 30.0


def test_what_parallel_workers_used_counts_after_their_end(
    borrow_server: MakeServer, install: Install
) -> None:
    with (
        borrow_server(install, **PARALLEL) as server,
        views.session(server) as connection,
        Engine.start() as engine,
    ):
        connection.execute("CREATE TABLE numbers AS SELECT generate_series(1, 1000000) AS n")
        try:
            readers = [
                Reader(
                    server,
                    [connection.info.backend_pid],
                    engine,
                    tuple(os.sched_getaffinity(0)),
                    has_workers=has_workers,
                )
                for has_workers in (False, True)
            ]
            before = [reader.read() for reader in readers]
            row = connection.execute("SELECT count(*) FROM numbers WHERE sqrt(n) > sqrt(n + 1)").fetchone()
            assert row == (0,)
            deadline = time.monotonic() + PATIENCE_S
            while True:  # the postmaster takes note of an end when it comes to it
                blind, seeing = (
                    growth(begun, reader.read())["server_cpu_ns"]
                    for begun, reader in zip(before, readers, strict=True)
                )
                assert seeing is not None
                assert blind is not None
                if seeing - blind >= 20_000_000:
                    break
                assert time.monotonic() < deadline, (blind, seeing)
        finally:
            connection.execute("DROP TABLE numbers")
