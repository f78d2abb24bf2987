"""The steps that the parameters of the Insert Benchmark make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.errors import UserError
from pgverdict.spec.parameters import Chosen
from pgverdict.workloads import catalogue
from pgverdict.workloads.chain import Chain, Step


def chain(scale: int = 1, clients: int = 1, **chosen: int | bool | str) -> Chain:
    given: Chosen = tuple(sorted(chosen.items()))
    made = catalogue.workload("insert-benchmark", given).chain
    assert made is not None
    return made(scale, clients)


def named(made: Chain) -> dict[str, Step]:
    return {step.name: step for step in made.steps}


def test_the_published_size_of_a_small_server_is_scale_100() -> None:
    steps = named(chain(scale=100, seconds=1800))
    assert list(steps) == [
        "l.i0", "l.x", "l.i1", "l.i2", "wait", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000",
    ]  # fmt: skip
    rows = {name: step.rows for name, step in steps.items() if step.clients}
    assert rows == {
        "l.i0": 30_000_000, "l.i1": 40_000_000, "l.i2": 10_000_000, "qr100": 180_000, "qp100": 180_000,
        "qr500": 900_000, "qp500": 900_000, "qr1000": 1_800_000, "qp1000": 1_800_000,
    }  # fmt: skip
    assert steps["wait"].least_s == 60 + 80


def test_connections_are_those_of_the_roles() -> None:
    connections = {name: step.clients for name, step in named(chain(clients=4)).items()}
    assert [connections[name] for name in ("l.i0", "l.i1", "l.i2", "qr100", "qp1000")] == [4, 8, 8, 12, 12]
    assert [step.clients for step in named(chain(clients=4, deletes=False)).values()][:4] == [4, 0, 4, 4]
    assert named(chain(clients=4, htap_seconds=60))["qr100"].clients == 16


def test_every_table_gets_the_indexes_that_were_asked_for_on_a_connection_of_its_own() -> None:
    lanes = named(chain(clients=2, secondary_indexes=2))["l.x"].lanes
    assert lanes == tuple(
        (
            f"CREATE INDEX {table}_marketsegment ON {table} (productid, customerid, price)",
            f"CREATE INDEX {table}_registersegment ON {table} (cashregisterid, customerid, price)",
        )
        for table in ("pi1", "pi2")
    )
    assert "l.x" not in named(chain(secondary_indexes=0))
    assert len(named(chain(clients=2, shared_table=True))["l.x"].lanes) == 1


def test_partitions_share_all_rows_of_the_chain_evenly() -> None:
    made = chain(clients=2, partitions=4, rows=1000, l_i1_rows=400, l_i2_rows=100, rates="100", seconds=1)
    # By the source's formula: all rows and 100 more, over tables and partitions.
    size = round((1000 + 400 + 100 + 2 * 2 * 100 + 100) / 4 / 2)
    before = made.steps[0].before
    assert [one for one in before if "PARTITION OF pi2" in one] == [
        f"CREATE TABLE pi2_p0 PARTITION OF pi2 FOR VALUES FROM (0) TO ({size})",
        f"CREATE TABLE pi2_p1 PARTITION OF pi2 FOR VALUES FROM ({size}) TO ({2 * size})",
        f"CREATE TABLE pi2_p2 PARTITION OF pi2 FOR VALUES FROM ({2 * size}) TO ({3 * size})",
        f"CREATE TABLE pi2_p3 PARTITION OF pi2 FOR VALUES FROM ({3 * size}) TO (MAXVALUE)",
    ]
    assert len(named(made)["wait"].vacuumed) == 8


def test_a_statement_has_no_more_rows_than_a_second_of_its_rate() -> None:
    steps = named(chain(rates="7,1000", seconds=3, rw_rows_per_commit=50))
    assert dict(steps["qr7"].parameters)["rows_per_commit"] == 7
    assert steps["qr7"].rows == 21
    assert dict(steps["qr1000"].parameters)["rows_per_commit"] == 50


@given(
    clients=st.integers(1, 40),
    rows=st.integers(20_000, 10**6),
    rates=st.lists(st.integers(1, 5000), min_size=1, max_size=3, unique=True),
)
def test_every_client_goes_on_where_it_stood(clients: int, rows: int, rates: list[int]) -> None:
    made = chain(clients=clients, rows=rows, rates=",".join(map(str, rates)), seconds=2)
    stands = 0
    for step in made.steps:
        given = dict(step.parameters)
        if given:
            assert given["rows_before"] == stands
            assert step.rows == clients * int(given["inserts"]) * int(given["rows_per_commit"])
            stands += step.rows // clients


@pytest.mark.parametrize("rates", ["", "100,", "0", "100,100", "fast", "-5", "100;500"])
def test_rates_that_make_no_steps_are_refused_before_anything_is_done(rates: str) -> None:
    with pytest.raises(UserError, match="not rates of the insert benchmark"):
        catalogue.workload("insert-benchmark", (("rates", rates),))


def test_a_step_without_a_statement_for_every_client_is_refused() -> None:
    with pytest.raises(
        UserError, match=r"l\.i0 has fewer rows than one statement of each client: 500 for 8 clients"
    ):
        chain(clients=8, rows=500)
