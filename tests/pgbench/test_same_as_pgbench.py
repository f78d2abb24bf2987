"""What a real pgbench does with random expressions and scripts, ours does too."""

import os
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgverdict.servers.server import Server

from .program import Program, Said
from .scripts import VARIABLES, expressions, nonsense, scripts

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("PGVERDICT_EXAMPLES", "60"))

EVERY_TIME = settings(
    # The same cases every time: a test that fails sometimes helps nobody.
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

DEFINED = [argument for name, value in VARIABLES.items() for argument in ("-D", f"{name}={value}")]


def _same(both: tuple[Program, Program], script: str, *more: str) -> None:
    arguments = ("-n", "-t", "2", "--random-seed=15", *DEFINED, "-D", "zero=0", *more)
    ours, theirs = (program.run(*arguments, script=script) for program in both)
    assert _steady(ours) == _steady(theirs), script


def _steady(said: Said) -> Said:
    """Without times, and without what releases say in different ways."""
    out = [re.sub(r"\d+\.\d+", "N", line) for line in said.out if not line.startswith("pgbench (")]
    # Where nothing was done older ones go on with shares of nothing.
    nothing_done = [number for number, line in enumerate(out) if "actually processed: 0/" in line]
    return Said(said.code, out[: nothing_done[0] + 1] if nothing_done else out, said.err)


def test_expressions_have_the_same_values(both: tuple[Program, Program], real_release: int) -> None:
    @EVERY_TIME
    @given(st.lists(expressions(real_release), min_size=1, max_size=8))
    def check(drawn: list[str]) -> None:
        _same(both, "".join(f"\\set a debug({expression})\n" for expression in drawn))

    check()


def test_nonsense_is_refused_in_the_same_words(both: tuple[Program, Program]) -> None:
    @EVERY_TIME
    @given(nonsense())
    def check(drawn: str) -> None:
        _same(both, f"\\set a {drawn}\n")

    check()


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_scripts_run_the_same_way(both: tuple[Program, Program], mode: str) -> None:
    @EVERY_TIME
    @given(scripts())
    def check(drawn: str) -> None:
        _same(both, drawn, "-M", mode)

    check()


def test_clients_and_threads_draw_the_same_numbers(both: tuple[Program, Program]) -> None:
    script = "\\set a random_zipfian(1, 1000, 1.2)\n\\set b debug(:client_id * 10000 + :a + hash(:a) % 7)\nselect :b;\n"
    arguments = ("-n", "-t", "5", "-c", "7", "-j", "3", "--random-seed=3")
    ours, theirs = (program.run(*arguments, script=script) for program in both)

    # Threads of the real one write into each other's lines.
    drawn = [sorted(re.findall(r"int (\d+)$", "\n".join(said.err), re.MULTILINE)) for said in (ours, theirs)]
    assert len(drawn[0]) == 5 * 7
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    "steps",
    [
        ["-s", "2"],
        ["--partitions=3", "--foreign-keys"],
        ["-I", "dtGvp", "-F", "90", "--unlogged-tables", "-q"],
    ],
)
def test_tables_are_made_the_same_way(
    both: tuple[Program, Program], server: Server, steps: list[str]
) -> None:
    def make(program: Program) -> tuple[list[str], object]:
        said = program.run("-i", *steps)
        assert said.code == 0, said.err
        with server.connect() as connection:
            columns = connection.execute(
                "select relname, relkind, relpersistence, reloptions,"
                " pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid),"
                " (select array_agg(row(attname, format_type(atttypid, atttypmod), attnotnull)::text order by attnum)"
                "  from pg_attribute where attrelid = c.oid and attnum > 0)"
                " from pg_class as c where relname like 'pgbench%' order by 1"
            ).fetchall()
            sums = [
                connection.execute(
                    f"select count(*), md5(string_agg(t::text, ',' order by t::text)) from {table} as t"
                ).fetchone()
                for table in ("pgbench_accounts", "pgbench_branches", "pgbench_tellers", "pgbench_history")
            ]
        # Older releases do not name the table.
        told = [re.sub(r"\d+\.\d+", "N", line).replace(" of pgbench_accounts", "") for line in said.err]
        return told, (columns, sums)

    make(both[0])  # so that both find tables to drop

    assert make(both[0]) == make(both[1])


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_scripts_are_bytes_in_whatever_encoding_the_server_is_told(
    both: tuple[Program, Program], mode: str
) -> None:
    # If the server did not get the bytes that the script has, it would divide by zero.
    script = "\\set größe 5\nSELECT 1 / ('grün' = U&'gr\\00FCn' AND :größe = 5)::int;\n".encode("latin-1")
    for program in both:
        latin = replace(program, environment=program.environment | {"PGCLIENTENCODING": "LATIN1"})
        said = latin.run("-n", "-t", "3", "-M", mode, script=script)
        assert said.code == 0, said.err


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_variables_are_bytes_too(both: tuple[Program, Program], mode: str) -> None:
    # As LATIN1 the letter is one byte, which is no UTF-8.
    script = "SELECT U&'\\00FC' AS letter \\gset\nSELECT 1 / (ascii({}) = 252)::int;\n"
    script = script.format("':letter'" if mode == "simple" else ":letter")
    for program in both:
        latin = replace(program, environment=program.environment | {"PGCLIENTENCODING": "LATIN1"})
        said = latin.run("-n", "-t", "3", "-M", mode, script=script)
        assert said.code == 0, said.err


def test_what_is_wrong_in_a_script_of_another_encoding_is_shown_where_it_is(
    both: tuple[Program, Program],
) -> None:
    ours, theirs = (program.run("-n", script="\\set größe 1 +\n".encode("latin-1")) for program in both)
    assert (ours.code, theirs.code) == (1, 1)
    shown = [line.replace("\udcf6", "\ufffd").replace("\udcdf", "\ufffd") for line in theirs.err]
    assert ours.err == shown
