"""A user's schema, SQL and dump, loaded into real servers, and scripts that servers refuse."""

import dataclasses
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.placement import Placement
from pgverdict.datasets.load import DATABASE, load, where
from pgverdict.datasets.restore import program_for, read_dump, restore
from pgverdict.engine.process import Engine
from pgverdict.errors import UserError, WorldError
from pgverdict.observe import views
from pgverdict.plan.pools import Pools
from pgverdict.run.own import check_own_statements
from pgverdict.servers.cluster import SUPERUSER
from pgverdict.servers.install import Install
from pgverdict.servers.programs import find_program
from pgverdict.servers.server import Server
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.own import OwnScript, OwnText, OwnWork
from pgverdict.workloads.own import workload_of
from pgverdict.workloads.workload import Script

from .conftest import MakeServer

pytestmark = pytest.mark.slow

SCHEMA = OwnText(
    "/schema.sql", "CREATE SCHEMA shop;\nCREATE TABLE shop.stock (id int PRIMARY KEY, about text);\n"
)
LOAD = OwnText(
    "/load.sql", "INSERT INTO shop.stock SELECT i, repeat('x', i) FROM generate_series(1, 100 * :scale) AS i;"
)
WORK = OwnWork((OwnScript("/read.sql", "SELECT about FROM shop.stock WHERE id = 7;\n"),), SCHEMA, LOAD)


def a_cell(own: OwnWork) -> PreparedCell:
    spec = CellSpec(own.name, 3, 1, own=own)
    pools = Pools.apart(2, 1)
    return PreparedCell(spec, workload_of(spec), (), Placement(1, (0,)), (), pools, pools)


def put(own: OwnWork, server: Server) -> None:
    with Engine.start() as engine:
        load(engine, server, a_cell(own).workload.dataset, 3, lambda _done, _total: None)


def stock(server: Server) -> tuple[int, int]:
    with views.session(server, DATABASE) as connection:
        row = connection.execute("SELECT count(*), sum(length(about)) FROM shop.stock").fetchone()
    assert row is not None
    return row[0], row[1]


def played(script: str, server: Server) -> int:
    """How many of three transactions are done."""
    with Engine.start() as engine:
        engine.setup(
            clients=1, threads=1, cpus=None, scripts=(Script("played", script),), variables={"scale": 3}
        )
        engine.connect(0, where(server))
        each = {"transactions_per_client": 3}
        done = engine.slice(0, seed=1, bound=each, discard={"transactions_per_client": 0})
        return done.transactions


def drop(server: Server) -> None:
    with views.session(server) as connection:
        connection.execute(f"DROP DATABASE {DATABASE}".encode())


def test_schema_and_sql_make_the_data_and_the_server_says_which_line_it_refuses(
    make_server: MakeServer, any_install: Install
) -> None:
    with make_server(any_install, fsync="off") as server:
        put(WORK, server)
        assert stock(server) == (300, 300 * 301 // 2)
        check_own_statements(a_cell(WORK), server, "mine")
        unknown = dataclasses.replace(
            WORK, scripts=(OwnScript("/w.sql", "SELECT 1;\nSELECT price FROM shop.stock;\n"),)
        )
        with pytest.raises(UserError, match=r"arm mine does not take the scripts: .*price"):
            check_own_statements(a_cell(unknown), server, "mine")
        unset = dataclasses.replace(
            WORK,
            scripts=(OwnScript("/g.sql", "SELECT count(*) FROM shop.stock \\gset\nSELECT 1 + :counted;\n"),),
        )
        with pytest.raises(UserError, match=r"arm mine does not take the scripts: .*\"counted\""):
            check_own_statements(a_cell(unset), server, "mine")
        done = played(
            "SELECT count(*) AS rows, NULL AS none FROM shop.stock WHERE id <= 7 \\gset\n"
            "\\if :rows = 7\n\\startpipeline\nBEGIN;\nINSERT INTO shop.stock VALUES (1000 + :rows, :none);\n"
            "\\syncpipeline\nEND;\n\\endpipeline\n\\sleep 1 us\n\\else\nSELECT 1 / 0;\n\\endif\n"
            "DELETE FROM shop.stock WHERE id > :rows + 1000 - 1 RETURNING id, about AS none \\aset\n"
            "\\set rows 1 / (:id - 1006)\n",
            server,
        )
        assert done == 3
        drop(server)
        broken = dataclasses.replace(
            WORK, load=OwnText("/l", "SELECT 1;\n\nINSERT INTO shop.stok VALUES (1);\n")
        )
        with pytest.raises(UserError, match=r"does not take the SQL of the load in line 3: .*shop\.stok"):
            put(broken, server)


@pytest.fixture
def dumped(
    make_server: MakeServer, obtained: Callable[[str], Install], scratch: Path
) -> Callable[[str], Path]:
    """Dumps of the stock, as the format asked for."""
    try:
        program = find_program("pg_dump")
    except WorldError as error:
        pytest.skip(error.message)
    with make_server(obtained("9.6"), fsync="off") as server:
        put(WORK, server)
        made = {}
        for form in "ctp":
            made[form] = scratch / f"stock.{form}"
            subprocess.run(
                [
                    program, f"-F{form}", "-f", made[form], "-h", server.socket_directory, "-p", str(server.port),
                    "-U", SUPERUSER, "-n", "shop", DATABASE,
                ],
                check=True,
            )  # fmt: skip
    return lambda form: made[form]


def test_a_dump_of_any_format_makes_the_data_on_any_release(
    make_server: MakeServer, obtained: Callable[[str], Install], dumped: Callable[[str], Path]
) -> None:
    for release, form, program in (
        ("9.6", "c", "pg_restore"),
        ("18", "t", "pg_restore"),
        ("18", "p", "psql"),
    ):
        dump = read_dump(dumped(form))
        assert program_for(dump).name == program
        with make_server(obtained(release), fsync="off") as server:
            put(OwnWork(WORK.scripts, dump=dump), server)
            assert stock(server) == (300, 300 * 301 // 2), (release, form)
            with pytest.raises(WorldError, match=r"could not restore .*already exists"):
                restore(dump, server, DATABASE)
    dumped("c").write_bytes(b"PGDMP something else")
    with pytest.raises(UserError, match="the dump has changed since the run was asked for"):
        restore(dataclasses.replace(dump, path=str(dumped("c"))), server, DATABASE)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="no pg_restore on this host, which a dump needs"):
        find_program("pg_restore", tmp_path)
