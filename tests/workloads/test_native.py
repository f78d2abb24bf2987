"""Workloads that are programs of the engine: what they ask of it, and what they refuse."""

import pytest

from pgverdict.errors import UserError
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.parameters import Chosen
from pgverdict.workloads import catalogue
from pgverdict.workloads.fitting import require_fit
from pgverdict.workloads.regimes import primary_of

NATIVE = [name for name in catalogue.names() if catalogue.workload(name).program]


def test_there_are_the_workloads_of_ycsb_and_sysbench() -> None:
    assert {f"ycsb-{letter}" for letter in "abcdef"} <= set(NATIVE)
    assert {"sysbench-point-select", "sysbench-oltp-read-write", "sysbench-points-covered-si"} <= set(NATIVE)


@pytest.mark.parametrize("name", [name for name in NATIVE if name.startswith(("ycsb", "sysbench"))])
def test_a_program_is_given_every_parameter_of_its_workload(name: str) -> None:
    workload = catalogue.workload(name)
    assert workload.program is not None

    assert {one.name for one in catalogue.parameters(name)} <= dict(workload.program.parameters).keys()
    assert not workload.scripts


@pytest.mark.parametrize(("name", "metric"), [("ycsb-a", "tps"), ("ycsb-c", "latency_us_p50")])
def test_a_mix_of_kinds_is_decided_by_its_total(name: str, metric: str) -> None:
    assert primary_of(CellSpec(name, 1, 1), catalogue.workload(name)) == metric


@pytest.mark.parametrize("name", ["ycsb-a", "ycsb-c"])
def test_work_at_a_rate_of_its_own_is_decided_by_its_mean_time(name: str) -> None:
    chosen: Chosen = (("target", 500),)

    assert primary_of(CellSpec(name, 1, 1, chosen), catalogue.workload(name, chosen)) == "latency_us_mean"


@pytest.mark.parametrize(
    ("name", "chosen", "what"),
    [
        ("ycsb-a", (("field_length", 10_000), ("fields", 6)), "at most 50000 bytes: fields=6 field_length=10000"),
        ("ycsb-a", (("fields", 0),), "not a value of the parameter fields: 0"),
        ("ycsb-a", (("layout", "json"),), "unknown value of the parameter layout: json"),
        ("ycsb-a", (("zipfian_exponent", 0.5),), "unknown parameter of ycsb-a"),
        ("sysbench-oltp-write-only", (("delete_inserts", 0), ("index_updates", 0), ("non_index_updates", 0)),
         "an event of sysbench-oltp-write-only without any statement"),
        ("sysbench-point-select", (("tables", 0),), "not a value of the parameter tables: 0"),
        ("sysbench-point-select", (("zipfian_exponent", 11.0),), "not a value of the parameter zipfian_exponent: 11"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_the_users_error(name: str, chosen: Chosen, what: str) -> None:
    with pytest.raises(UserError, match=what):
        catalogue.workload(name, chosen)


def test_a_client_that_would_have_no_table_to_fill_is_refused() -> None:
    workload = catalogue.workload("sysbench-bulk-insert", (("tables", 2),))

    require_fit(CellSpec("sysbench-bulk-insert", 1, 2), workload)
    with pytest.raises(
        UserError, match="3 clients are more than sysbench-bulk-insert has tables: 2"
    ) as caught:
        require_fit(CellSpec("sysbench-bulk-insert", 5, 3), workload)
    assert caught.value.hint == "-p tables=N for N clients"
