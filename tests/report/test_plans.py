"""Plans of streams: what counts as the same, which change within an arm, which differ between arms."""

import dataclasses

from pgverdict.judge.plans import plan_hash, query_plans, shape
from pgverdict.records.round import RoundRecord, TaskRecord
from pgverdict.records.run import CellRecord
from pgverdict.report.plans import plan_notes
from tests.store import made

NESTED = """Sort
  Sort Key: lineitem.l_shipmode
  ->  Nested Loop
        Join Filter: (a -> b)
        InitPlan 1 (returns $0)
          ->  Seq Scan on part
        ->  Index Scan using orders_pkey on orders
              Index Cond: (o_orderkey = 7)"""
SAME_OF_A_LATER_RELEASE = NESTED.replace("InitPlan 1 (returns $0)", "InitPlan 1").replace("= 7", "= 8")
HASHED = """Sort
  Sort Key: lineitem.l_shipmode
  ->  Hash Join
        ->  Seq Scan on orders
        ->  Hash
              ->  Seq Scan on part"""


def cell(*rounds: tuple[str, str]) -> CellRecord:
    """A round per pair of plans, the baseline's and the candidate's."""
    return CellRecord(
        made.a_run().campaign.cells[0],
        "latency_us_p50",
        "read-only",
        tuple(map(_round, range(len(rounds)), rounds)),
    )


def _round(ordinal: int, plans: tuple[str, str]) -> RoundRecord:
    record = made.a_round(ordinal)
    arms = tuple(
        dataclasses.replace(arm, tasks=(TaskRecord(0, "q12", (("date", "1994-01-01"),), plan, None),))
        for arm, plan in zip(record.arms, plans, strict=True)
    )
    return dataclasses.replace(record, arms=arms)


def test_the_shape_of_a_plan_is_its_nodes() -> None:
    assert shape(NESTED).splitlines() == [
        "Sort",
        "  ->  Nested Loop",
        "          ->  Seq Scan on part",
        "        ->  Index Scan using orders_pkey on orders",
    ]


def test_conditions_and_names_of_sub_plans_are_not_in_the_hash() -> None:
    assert plan_hash(NESTED) == plan_hash(SAME_OF_A_LATER_RELEASE)
    assert plan_hash(NESTED) != plan_hash(HASHED)


def test_what_a_node_reads_is_in_the_hash() -> None:
    assert plan_hash("Seq Scan on orders") != plan_hash("Seq Scan on lineitem")


def test_plans_are_counted_by_query_and_arm() -> None:
    (found,) = query_plans(cell((NESTED, HASHED), (SAME_OF_A_LATER_RELEASE, HASHED), (NESTED, NESTED)))

    assert found.script == "q12"
    assert found.by_arm == (((plan_hash(NESTED), 3),), ((plan_hash(HASHED), 2), (plan_hash(NESTED), 1)))
    assert (found.changes(0), found.changes(1)) == (False, True)
    assert not found.differs(1)


def test_a_cell_without_streams_has_no_plans_and_nothing_is_said_of_them() -> None:
    plain = CellRecord(made.a_run().campaign.cells[0], "tps", "read-only", (made.a_round(0),))

    assert query_plans(plain) == ()
    assert plan_notes(plain, {0: "PostgreSQL 17", 1: "PostgreSQL 18"}, 1) == ()


def test_a_report_says_which_queries_are_planned_differently() -> None:
    notes = plan_notes(cell((NESTED, HASHED), (NESTED, HASHED)), {0: "17", 1: "18"}, 1)

    assert notes == ("17 and 18 never had a plan of one shape for q12: what differs there may be the plan's",)


def test_a_report_says_whose_plans_changed_from_round_to_round() -> None:
    notes = plan_notes(cell((NESTED, NESTED), (NESTED, HASHED), (NESTED, NESTED)), {0: "17", 1: "18"}, 1)

    assert notes == (
        "18 changed its plan between rounds, by the values asked for or by the sample that ANALYZE took: q12 (2 and 1)",
    )


def test_a_report_says_that_nothing_changed() -> None:
    notes = plan_notes(cell((NESTED, SAME_OF_A_LATER_RELEASE)), {0: "17", 1: "18"}, 1)

    assert notes == ("17 and 18 planned every query in one shape, and the same, in all rounds",)
