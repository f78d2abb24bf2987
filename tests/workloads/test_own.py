"""What a user's own work makes of a cell."""

import pytest

from pgverdict.errors import UserError
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.own import OwnDump, OwnScript, OwnText, OwnWork
from pgverdict.spec.parameters import Chosen
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue
from pgverdict.workloads.own import parameters_of, workload_of
from pgverdict.workloads.workload import SliceBound

SCRIPTS = (OwnScript("/read.sql", "SELECT 1;\n"), OwnScript("/write.sql", "DELETE FROM t;\n", 3))
SCHEMA = OwnText("/s.sql", "CREATE TABLE t AS SELECT 1 FROM generate_series(1, :scale);")


def cell(own: OwnWork, scale: int = 1, parameters: Chosen = ()) -> CellSpec:
    return CellSpec(own.name, scale, 1, parameters, own=own)


def test_without_data_scripts_work_on_pgbenchs_tables_with_their_parameters() -> None:
    own = OwnWork(SCRIPTS)
    workload = workload_of(cell(own, parameters=(("partitions", 2),)))

    assert workload.dataset == catalogue.workload("select-only", (("partitions", 2),)).dataset
    assert [(one.name, one.weight) for one in workload.scripts] == [("read", 1), ("write", 3)]
    assert (workload.regime, workload.bound) == (Regime.FRESH, SliceBound.TRANSACTIONS)
    assert (workload.is_long, workload.pairs) == (False, None)
    assert parameters_of(own) == catalogue.parameters("select-only")


def test_data_of_ones_own_have_the_scale_and_no_parameters() -> None:
    own = OwnWork(SCRIPTS, SCHEMA, SCHEMA, OwnDump("/d", "aa", 10**9), read_only=True, long=True)
    workload = workload_of(cell(own, scale=5))

    assert workload.dataset.tables_sql_at(5).endswith("generate_series(1, 5);")
    assert workload.dataset.rows_sql == workload.dataset.tables_sql
    assert workload.dataset.bytes_per_scale * 5 >= 8 * 10**9
    assert (workload.regime, workload.is_long, workload.pairs) == (Regime.READ_ONLY, True, 4)
    assert parameters_of(own) == ()
    with pytest.raises(UserError, match=r"read\+write has no parameters: partitions"):
        workload_of(cell(own, parameters=(("partitions", 2),)))


def test_other_data_have_another_digest() -> None:
    variants = [
        OwnWork(SCRIPTS, SCHEMA),
        OwnWork(SCRIPTS, load=SCHEMA),
        OwnWork(SCRIPTS, SCHEMA, dump=OwnDump("/d", "aa", 1)),
        OwnWork(SCRIPTS, SCHEMA, dump=OwnDump("/d", "ab", 1)),
    ]

    assert len({workload_of(cell(own)).dataset.digest(1) for own in variants}) == 4


def test_a_cell_without_own_work_has_the_workload_of_the_catalogue() -> None:
    assert workload_of(CellSpec("full-scan", 1, 1)) == catalogue.workload("full-scan")
