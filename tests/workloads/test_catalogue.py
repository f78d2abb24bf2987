"""The catalogue of workloads."""

import pytest

from pgverdict.conduct.bounds import choose_bounds
from pgverdict.errors import UserError
from pgverdict.spec.parameters import Chosen
from pgverdict.workloads import catalogue
from pgverdict.workloads.partitions import Partitioning, PartitionMethod
from pgverdict.workloads.workload import SliceBound


@pytest.mark.parametrize("name", catalogue.names())
def test_every_workload_is_whole(name: str) -> None:
    workload = catalogue.workload(name)

    assert workload.name == name
    assert all(script.text.endswith(";\n") for script in workload.scripts)


def test_an_unknown_workload_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match="unknown workload: selct-only") as caught:
        catalogue.workload("selct-only")

    assert caught.value.hint == "did you mean select-only?"


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(UserError, match="select-only"):
        catalogue.workload("select-only", (("nonsense", 1),))


@pytest.mark.parametrize("name", catalogue.names())
def test_names_of_parameters_are_told_apart_and_said(name: str) -> None:
    known = catalogue.parameters(name)

    assert len({one.name for one in known}) == len(known)
    assert all(one.about and not one.about.endswith(".") for one in known)


def test_data_that_differ_have_different_digests_and_equal_data_the_same() -> None:
    variants: list[tuple[str, Chosen]] = [
        ("select-only", ()),
        ("select-only", (("fillfactor", 90),)),
        ("select-only", (("unlogged", True),)),
        ("select-only", (("foreign_keys", True),)),
        ("select-only", (("extra_indexes", "lookups"),)),
        ("select-only", (("extra_indexes", "ranking"),)),
        ("select-only", (("partitions", 16),)),
        ("select-only", (("partitions", 17),)),
        ("select-only", (("partition_method", "hash"), ("partitions", 16))),
        ("analytic-q1", ()),
    ]
    datasets = [catalogue.workload(name, chosen).dataset for name, chosen in variants]

    assert len({one.digest(1) for one in datasets}) == len(variants)
    assert datasets[6].digest(1) != datasets[6].digest(2)
    for like, chosen in (("tpcb-like-indexed", variants[4][1]), ("batch-update", ())):
        assert catalogue.workload(like).dataset == catalogue.workload("select-only", chosen).dataset


@pytest.mark.parametrize(
    ("chosen", "complaint"),
    [
        (
            (("partition_method", "hash"),),
            "a method for partitions that there are not: partition_method=hash",
        ),
        ((("foreign_keys", True), ("partitions", 2), ("unlogged", True)), "partitioned table is logged"),
        ((("partitions", 1025),), "not a value of the parameter partitions: 1025"),
    ],
)
def test_parameters_that_make_no_sense_together_are_refused(chosen: Chosen, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        catalogue.workload("simple-update", chosen)


@pytest.mark.parametrize(
    ("count", "scale", "bounds"),
    [
        (1, 1, ["FROM (MINVALUE) TO (MAXVALUE)"]),
        (3, 1, ["FROM (MINVALUE) TO (33335)", "FROM (33335) TO (66669)", "FROM (66669) TO (MAXVALUE)"]),
        (2, 5, ["FROM (MINVALUE) TO (250001)", "FROM (250001) TO (MAXVALUE)"]),
    ],
)
def test_ranges_are_those_of_pgbench(count: int, scale: int, bounds: list[str]) -> None:
    sql = Partitioning("accounts", "aid", count, PartitionMethod.RANGE, 100_000).sql_at(scale)

    assert [line.split("VALUES ")[1].split(" WITH")[0] for line in sql.splitlines()] == bounds


def test_partitions_by_hash_share_all_rows_out() -> None:
    sql = Partitioning("t", "aid", 2, PartitionMethod.HASH, 1, unlogged=True, fillfactor=80).sql_at(9)

    assert sql == (
        "CREATE UNLOGGED TABLE t_1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0) WITH (fillfactor = 80);\n"
        "CREATE UNLOGGED TABLE t_2 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1) WITH (fillfactor = 80);\n"
    )


def test_long_queries_have_slices_of_whole_ones_few_pairs_and_time() -> None:
    for name in ("full-scan", "top-accounts-all", "analytic-q1", "analytic-q2", "analytic-q3", "analytic-q4"):
        workload = catalogue.workload(name)
        assert (workload.bound, workload.has_workers, workload.pairs) == (SliceBound.TRANSACTIONS, True, 4)
        assert workload.statement_s == 3600
        bounds = choose_bounds(workload.bound, [0.05, 0.06], clients=1)
        assert (bounds.bound, bounds.discard) == (
            (("transactions_per_client", 1),),
            (("transactions_per_client", 0),),
        )
