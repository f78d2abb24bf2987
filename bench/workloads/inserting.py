"""The first step of the Insert Benchmark beside the same INSERTs sent by pgbench: rows per second, and what a row costs
the client."""

import itertools
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.engine.places import real_server
from bench.engine.programs import Program, run
from pgverdict.datasets.load import DATABASE
from pgverdict.errors import WorldError
from pgverdict.servers.server import Server
from pgverdict.workloads import catalogue
from pgverdict.workloads.chain import Chain

from .case import Case, Figures, Goal, Opened, Size
from .ours import ROW_CPU, ROWS, drop_database, play_first, settled

RELEASE = "18"
RIVAL = "pgbench"
VARIABLE = "PGVERDICT_REAL_PGBENCH"
ROWS_PER_STATEMENT = 100
READY_STATEMENTS = 64

COLUMNS = {"cashregisterid": 1000, "customerid": 100_000, "productid": 10_000, "price": 500}
"""Of the table, each with how many values it may have, from 0 on."""

INSERT = f"INSERT INTO pi:table (dateandtime, {', '.join(COLUMNS)}, data) VALUES "


def _path() -> Path:
    found = os.environ.get(VARIABLE) or shutil.which(RIVAL)
    if found is None:
        raise WorldError("there is no pgbench in PATH", hint=f"name one: {VARIABLE}=PATH")
    return Path(found)


def _version() -> str:
    return subprocess.run([_path(), "--version"], check=True, capture_output=True, text=True).stdout.strip()


def drawn_script() -> list[str]:
    """A statement whose numbers are drawn by pgbench. It has no texts to draw."""
    lines, rows = ["\\set table :client_id + 1"], []
    for row in range(ROWS_PER_STATEMENT):
        lines += [f"\\set {name}{row} random(0, {of - 1})" for name, of in COLUMNS.items()]
        rows.append(f"('2026-01-01', {', '.join(f':{name}{row}' for name in COLUMNS)}, 'aaaaaaaaaaabcde')")
    return ["\n".join(lines) + f"\n{INSERT}{', '.join(rows)};\n"]


def ready_scripts() -> list[str]:
    """Statements with all values in them: nothing is left to be drawn but which is next."""
    source = random.Random(1)

    def row() -> str:
        numbers = ", ".join(str(source.randrange(of)) for of in COLUMNS.values())
        letters = "".join(source.choices("abcdefghijklmnop", k=source.randint(10, 20)))
        return f"('2026-01-01', {numbers}, '{letters}')"

    return [
        f"\\set table :client_id + 1\n{INSERT}{', '.join(row() for _ in range(ROWS_PER_STATEMENT))};\n"
        for _ in range(READY_STATEMENTS)
    ]


@contextmanager
def _written(scripts: Sequence[str]) -> Iterator[list[str]]:
    """As options of pgbench."""
    with tempfile.TemporaryDirectory(prefix="pgv-insert-") as place:
        paths = [Path(place) / f"{number}.sql" for number in range(len(scripts))]
        for path, script in zip(paths, scripts, strict=True):
            path.write_text(script, encoding="utf-8")
        yield [word for path in paths for word in ("-f", str(path))]


def _make_tables(server: Server, chain: Chain) -> None:
    drop_database(server)
    server.create_database(DATABASE)
    with server.connect(DATABASE) as connection:
        for statement in chain.steps[0].before:
            connection.execute(statement.encode())


@contextmanager
def _running(scripts: Callable[[], list[str]], size: Size) -> Opened:
    workload = catalogue.workload("insert-benchmark")
    assert workload.chain is not None
    chain = workload.chain(size.scale, size.clients)
    rows, seeds, program = chain.steps[0].rows, itertools.count(1), Program(RIVAL, _path())
    statements_each = rows // ROWS_PER_STATEMENT // size.clients
    with real_server(RELEASE) as server, _written(scripts()) as files:
        words = [
            "-n", "-c", str(size.clients), "-j", "1", "-t", str(statements_each), *files,
            "-h", str(server.socket_directory), "-p", str(server.port), "-U", "postgres", DATABASE,
        ]  # fmt: skip

        def ours() -> Figures:
            return play_first(server, chain, next(seeds))

        def theirs() -> Figures:
            used = run(program, words)
            return {ROWS: used.tps * ROWS_PER_STATEMENT, ROW_CPU: 1e6 * used.cpu_s / rows}

        def on_new_tables(side: Callable[[], Figures]) -> Callable[[], Figures]:
            def done() -> Figures:
                _make_tables(server, chain)
                figures = settled(server, side)()
                _check_rows(server, size.clients, rows)
                return figures

            return done

        yield on_new_tables(ours), on_new_tables(theirs)


def _check_rows(server: Server, tables: int, rows: int) -> None:
    counts = " + ".join(f"(SELECT count(*) FROM pi{number})" for number in range(1, tables + 1))
    with server.connect(DATABASE) as connection:
        found = connection.execute(f"SELECT {counts}".encode()).fetchone()
    if found != (rows,):
        raise WorldError(f"not all rows were inserted: {found}, not {rows}")


def _case(name: str, title: str, differs: str, scripts: Callable[[], list[str]]) -> Case:
    return Case(
        name,
        f"Insert Benchmark l.i0, 600 000 rows over 4 connections, beside {title}",
        RIVAL,
        differs,
        (Goal(ROWS, least=1.0), Goal(ROW_CPU, most=0.75)),
        Size(seconds=0, scale=2, clients=4),
        Size(seconds=0, scale=1, clients=2),
        _version,
        partial(_running, scripts),
    )


CASES = (
    _case(
        "insert-drawn",
        "values drawn by pgbench",
        "Both draw all numbers, and send 100 rows a statement as a text with its values in it (pgbench: `-M simple`)."
        " pgbench has no texts to draw: its `data` is always the same. One thread each.",
        drawn_script,
    ),
    _case(
        "insert-ready",
        "ready statements",
        "pgbench draws nothing: it sends one of 64 statements that stand in its scripts, all values in their text; ours"
        " draws and writes every value. One thread each.",
        ready_scripts,
    ),
)
