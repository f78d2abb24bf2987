"""What clients are asked for in rounds of streams, and what is refused: without servers."""

from typing import Any, cast

import pytest

from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.streams import _require_same_answers, draw_streams, variables_of
from pgverdict.errors import RoundFailed
from pgverdict.plan.pools import Pools
from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.round import TaskRecord
from pgverdict.run.chains import connections_of
from pgverdict.spec.campaign import CellSpec
from pgverdict.workloads import catalogue


def cell(workload: str, clients: int, *chosen: tuple[str, int]) -> PreparedCell:
    return PreparedCell(
        spec=CellSpec(workload, 2, clients, chosen),
        workload=catalogue.workload(workload, chosen),
        arms=cast(Any, (None, None)),
        placement=cast(Any, None),
        slots=(),
        load_pools=Pools.apart(2, 1),
        install_pools=Pools.apart(2, 1),
    )


def plan(clients: int, ordinal: int = 0) -> RoundPlan:
    return cell("tpch", clients).arrange(seed=3, ordinal=ordinal)


def answer(script: str, sha256: str | None) -> TaskRecord:
    return TaskRecord(0, script, (("nation", "PERU"),), "Seq Scan on nation", sha256)


def test_one_client_has_a_pair_for_every_query() -> None:
    streams = draw_streams(cell("tpch", 1), plan(1))

    assert streams is not None
    assert len(plan(1).pairs) == 22
    asked = [streams.of_slice(pair) for pair in range(22)]
    assert all(len(clients) == 1 and len(clients[0]) == 1 for clients in asked)
    assert {clients[0][0].script for clients in asked} == {f"q{n:02}" for n in range(1, 23)}
    assert streams.bounds.bound == (("transactions_per_client", 1),)


def test_several_clients_work_through_streams_of_their_own_in_one_pair() -> None:
    streams = draw_streams(cell("tpch", 3), plan(3))

    assert streams is not None
    assert len(plan(3).pairs) == 1
    (first, second, third) = streams.of_slice(0)
    assert len(first) == len(second) == len(third) == 22
    assert len({first, second, third}) == 3
    assert streams.bounds.bound == (("transactions_per_client", 22),)


def test_the_only_client_refreshes_before_its_queries_and_behind_them() -> None:
    refreshing = cell("tpch", 1, ("refresh_sets", 1))
    drawn = refreshing.arrange(seed=3, ordinal=0)
    streams = draw_streams(refreshing, drawn)

    assert streams is not None
    assert len(drawn.pairs) == 24
    scripts = [streams.of_slice(pair)[0][0].script for pair in range(24)]
    assert (scripts[0], scripts[23]) == ("rf1", "rf2")
    assert sorted(scripts[1:23]) == [f"q{n:02}" for n in range(1, 23)]
    assert [task.script for task in streams.reading[0]] == scripts[1:23]


def test_beside_several_clients_one_more_refreshes_as_often_as_there_are_clients() -> None:
    refreshing = cell("tpch", 3, ("refresh_sets", 3))
    drawn = refreshing.arrange(seed=3, ordinal=0)
    streams = draw_streams(refreshing, drawn)

    assert streams is not None
    assert len(drawn.pairs) == 1
    (*queries, refresh) = streams.of_slice(0)
    assert [len(stream) for stream in queries] == [22, 22, 22]
    assert [(task.script, dict(task.variables)["refresh_set"]) for task in refresh] == [
        ("rf1", 1), ("rf2", 1), ("rf1", 2), ("rf2", 2), ("rf1", 3), ("rf2", 3),
    ]  # fmt: skip
    assert streams.bounds.bound == (("transactions_per_client", 22),)
    assert streams.reading == (*queries, ())
    assert connections_of(refreshing.spec, refreshing.workload) == len(streams.by_client) == 4


def test_a_refresh_may_have_more_to_do_than_a_stream_of_queries() -> None:
    refreshing = cell("tpch", 12, ("refresh_sets", 12))
    streams = draw_streams(refreshing, refreshing.arrange(seed=3, ordinal=0))

    assert streams is not None
    assert streams.bounds.bound == (("transactions_per_client", 24),)


def test_a_round_is_drawn_from_its_plan_alone() -> None:
    assert draw_streams(cell("tpch", 1), plan(1)) == draw_streams(cell("tpch", 1), plan(1))
    assert draw_streams(cell("tpch", 1), plan(1)) != draw_streams(cell("tpch", 1), plan(1, ordinal=1))


def test_every_variable_of_the_tasks_is_known_from_the_start() -> None:
    streams = draw_streams(cell("tpch", 1), plan(1))

    known = variables_of(streams, 2)

    assert known["scale"] == 2
    assert streams is not None
    assert {name for task in streams.by_client[0] for name, _ in task.variables} == set(known) - {"scale"}


def test_a_workload_without_streams_has_none() -> None:
    assert draw_streams(cell("select-only", 1), cell("select-only", 1).arrange(seed=1, ordinal=0)) is None
    assert variables_of(None, 5) == {"scale": 5}


def test_arms_that_answer_differently_fail_the_round() -> None:
    same, other = (answer("q02", "a"), answer("q05", "b")), (answer("q02", "a"), answer("q05", "c"))

    _require_same_answers(["17", "18"], [same, same])
    with pytest.raises(RoundFailed, match="17 and 18 answer q05 differently: nation=PERU"):
        _require_same_answers(["17", "18"], [same, other])
