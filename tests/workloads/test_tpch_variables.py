"""The variables of TPC-H's queries lie in the ranges of the specification, and are those the queries ask for."""

import random
import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.workloads import tpch_variables as variables
from pgverdict.workloads.files import text_of

SEEDS = st.integers(0, 2**63)
QUERIES = st.integers(1, 22)
MONTHS = {
    4: ((1993, 1), (1997, 10)),
    10: ((1993, 2), (1995, 1)),
    14: ((1993, 1), (1997, 12)),
    15: ((1993, 1), (1997, 10)),
}
WHOLE = {
    (1, "delta"): (60, 120),
    (2, "size"): (1, 50),
    (6, "quantity"): (24, 25),
    (18, "quantity"): (312, 315),
    (19, "quantity1"): (1, 10),
    (19, "quantity2"): (10, 20),
    (19, "quantity3"): (20, 30),
}  # fmt: skip
COLUMNS = {
    "region": variables.REGIONS,
    "segment": variables.SEGMENTS,
    "nation": tuple(variables.NATIONS),
    "color": variables.COLORS,
    "shipmode": variables.SHIPMODES,
    "container": tuple(f"{a} {b}" for a in variables.CONTAINERS[0] for b in variables.CONTAINERS[1]),
    "brand": tuple(f"Brand#{a}{b}" for a in range(1, 6) for b in range(1, 6)),
    "word": tuple(word for words in variables.WORDS for word in words),
    "code": tuple(str(code) for code in range(10, 35)),
}


def drawn(query: int, seed: int) -> variables.Variables:
    return variables.draw(query, random.Random(seed))


@pytest.mark.parametrize("query", range(1, 23))
def test_a_query_asks_for_the_variables_that_are_drawn_and_for_no_others(query: int) -> None:
    sql = re.sub(r"--.*", "", text_of(f"scripts/tpch/q{query:02}.sql"))

    asked = set(re.findall(r":([a-z]\w*)", sql))

    assert asked == set(drawn(query, 1)) == set(variables.validation(query))


@given(QUERIES, SEEDS)
def test_the_same_seed_draws_the_same_variables(query: int, seed: int) -> None:
    assert drawn(query, seed) == drawn(query, seed)


@given(QUERIES, SEEDS)
def test_words_are_words_of_the_data(query: int, seed: int) -> None:
    for name, value in drawn(query, seed).items():
        words = COLUMNS.get(re.sub(r"\d$", "", name))
        if words is not None:
            assert value in words


@given(st.sampled_from(sorted(WHOLE)), SEEDS)
def test_whole_numbers_are_in_their_ranges(which: tuple[int, str], seed: int) -> None:
    query, name = which
    low, high = WHOLE[which]

    assert low <= int(drawn(query, seed)[name]) <= high


@given(st.sampled_from(sorted(MONTHS)), SEEDS)
def test_months_begin_and_end_where_the_specification_says(query: int, seed: int) -> None:
    day = date.fromisoformat(str(drawn(query, seed)["date"]))
    first, last = MONTHS[query]

    assert day.day == 1
    assert first <= (day.year, day.month) <= last


@given(st.sampled_from((5, 6, 12, 20)), SEEDS)
def test_years_are_those_from_1993_to_1997(query: int, seed: int) -> None:
    assert drawn(query, seed)["date"] in [f"{year}-01-01" for year in range(1993, 1998)]


@given(SEEDS)
def test_the_rest_is_in_its_ranges_too(seed: int) -> None:
    market = drawn(8, seed)
    sizes = [drawn(16, seed)[f"size{n}"] for n in range(1, 9)]
    codes = list(drawn(22, seed).values())
    words = drawn(13, seed)

    assert date(1995, 3, 1) <= date.fromisoformat(str(drawn(3, seed)["date"])) <= date(1995, 3, 31)
    assert 0.02 <= float(drawn(6, seed)["discount"]) <= 0.09
    assert len(set(drawn(7, seed).values())) == 2
    assert variables.NATIONS[str(market["nation"])] == market["region"]
    assert all(
        word in words for word, words in zip(str(market["type"]).split(), variables.TYPES, strict=True)
    )
    assert drawn(2, seed)["type"] in variables.TYPES[2]
    assert len({drawn(12, seed)["shipmode1"], drawn(12, seed)["shipmode2"]}) == 2
    assert words["word1"] in variables.WORDS[0]
    assert words["word2"] in variables.WORDS[1]
    assert len(set(sizes)) == 8
    assert all(1 <= int(size) <= 50 for size in sizes)
    assert len(set(codes)) == 7


def test_there_are_as_many_words_as_the_generator_has() -> None:
    assert len(variables.NATIONS) == 25
    assert set(variables.NATIONS.values()) == set(variables.REGIONS)
    assert len(set(variables.COLORS)) == 92
    assert len(set(variables.SEGMENTS)) == 5
    assert len(set(variables.SHIPMODES)) == 7


@pytest.mark.parametrize(
    ("scale_factor", "fraction"), [(0.01, "0.0100000000"), (1.0, "0.0001000000"), (300.0, "0.0000003333")]
)
def test_the_fraction_of_query_11_shrinks_with_the_scale(scale_factor: float, fraction: str) -> None:
    assert variables.validation(11, scale_factor)["fraction"] == fraction
    assert variables.draw(11, random.Random(1), scale_factor)["fraction"] == fraction
