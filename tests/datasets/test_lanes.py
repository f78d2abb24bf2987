"""What each connection of a load does."""

import dataclasses

from pgverdict.datasets.load import lanes
from pgverdict.workloads import catalogue


def test_one_connection_fills_all_tables_in_one_transaction() -> None:
    (steps,) = lanes(catalogue.workload("select-only").dataset, 3)

    assert [step.get("sql", step.get("copy")) for step in steps] == [
        "BEGIN",
        "TRUNCATE pgbench_branches, pgbench_tellers, pgbench_accounts",
        "COPY pgbench_branches FROM STDIN WITH (FREEZE on)",
        "COPY pgbench_tellers FROM STDIN WITH (FREEZE on)",
        "COPY pgbench_accounts FROM STDIN WITH (FREEZE on)",
        "COMMIT",
    ]
    assert steps[2]["parameters"] == {"scale": 3}
    assert steps[2]["share"] == {"number": 0, "of": 1}


def test_tables_are_dealt_to_connections() -> None:
    dataset = catalogue.workload("sysbench-point-select", (("tables", 6),)).dataset
    found = lanes(dataset, 1)

    assert len(found) == 4
    copied = [[step["copy"].split()[1] for step in steps if "copy" in step] for steps in found]
    assert copied == [["sbtest1", "sbtest5"], ["sbtest2", "sbtest6"], ["sbtest3"], ["sbtest4"]]
    assert found[2][2]["parameters"] == {"scale": 1, "table": 3}


def test_a_table_is_loaded_in_shares() -> None:
    dataset = catalogue.workload("ycsb-a").dataset
    found = lanes(dataset, 1)

    assert [steps[0]["share"] for steps in found] == [{"number": number, "of": 4} for number in range(4)]
    assert all(len(steps) == 1 and steps[0]["copy"] == "COPY usertable FROM STDIN" for steps in found)


def test_templates_differ_where_lanes_or_shares_do() -> None:
    dataset = catalogue.workload("ycsb-a").dataset
    fewer = dataclasses.replace(dataset, lanes=2)
    whole = dataclasses.replace(dataset, tables=(dataclasses.replace(dataset.tables[0], shares=1),))

    assert len({one.digest(1) for one in (dataset, fewer, whole)}) == 3
