"""Files of published numbers: what they may say, and how a wrong one is told."""

from pathlib import Path

import pytest

from pgverdict.errors import UserError
from pgverdict.spec.published import Where
from pgverdict.spec.published_file import read_published

CAMPAIGNS = Path(__file__).parents[2] / "campaigns"

HEAD = """
[source]
author = "A. Author"
title = "Two releases"
date = "2019"
address = "https://example.org"
[arms]
baseline = "11.5"
candidate = "12.0"
[[figure]]
name = "one"
metric = "tps"
"""


def test_every_published_study_can_be_read_and_has_a_campaign_of_its_name() -> None:
    files = sorted((CAMPAIGNS / "published").glob("*.toml"))

    assert len(files) == 5
    for file in files:
        found = read_published(str(file), file.read_text(encoding="utf-8"))
        assert found.source.address.startswith("http")
        assert found.figures or found.claims
        assert (CAMPAIGNS / file.name).exists()


def test_a_ratio_is_as_precise_as_its_values_are_printed() -> None:
    figure = read_published("p.toml", HEAD + 'baseline = ".034"\ncandidate = ".0408"').figures[0]

    assert figure.ratio == pytest.approx(1.2)
    assert figure.rounded == pytest.approx((0.04075 / 0.0345, 0.04085 / 0.0335))


@pytest.mark.parametrize(
    ("said", "ratio", "rounded"),
    [
        ('change = "+3.6 %"', 1.036, (1.0355, 1.0365)),
        ('change = "-7 %"', 0.93, (0.925, 0.935)),
        ('ratio = "0.98"', 0.98, (0.975, 0.985)),
        ('ratio = "1.00"\nwithin = "2 %"', 1.0, (0.98, 1.02)),
    ],
)
def test_a_change_alone_is_enough(said: str, ratio: float, rounded: tuple[float, float]) -> None:
    figure = read_published("p.toml", HEAD + said).figures[0]

    assert figure.ratio == pytest.approx(ratio)
    assert figure.rounded == pytest.approx(rounded)


def test_where_data_lies_is_one_of_three_places() -> None:
    figure = read_published("p.toml", HEAD + 'ratio = "1"\ndata = ["in memory", "beyond memory"]').figures[0]

    assert figure.where == (Where.MEMORY, Where.BEYOND)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("", "p.toml:10: figure one: no number"),
        ('baseline = "1"', "p.toml:10: figure one: only one of baseline and candidate"),
        ('ratio = "fast"', "p.toml:10: figure one: not a number: fast"),
        ('ratio = "-1"', "p.toml:10: figure one: not a ratio: -1"),
        ('ratio = "nan"', "p.toml:10: figure one: not a number: nan"),
        ('baseline = "0"\ncandidate = "1"', "p.toml:10: figure one: a ratio of these says nothing: 0 and 1"),
        (
            'ratio = "1"\nstatement = "SELECT"',
            "p.toml:10: figure one: tps is of a whole cell, not of statement",
        ),
        ("ratio = 1.0", "p.toml:13: figure.ratio must be in quotes: 1.0"),
        ('ratio = "1"\ndata = "on disk"', "p.toml:14: figure.data cannot be on disk"),
        ('ratio = "1"\nworklaod = "tpcb-like"', "p.toml:14: unknown key in [[figure]]: worklaod"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(said: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        read_published("p.toml", HEAD + said)

    assert error.value.message == message


def test_a_metric_of_statements_wants_a_statement() -> None:
    text = HEAD.replace('"tps"', '"server_ms_mean"') + 'ratio = "1"'

    with pytest.raises(UserError) as error:
        read_published("p.toml", text)

    assert (
        error.value.message == "p.toml:10: figure one: server_ms_mean is of a statement, not of a whole cell"
    )
    assert error.value.hint == 'write statement = "..."'


def test_an_unknown_metric_gets_the_nearest_word() -> None:
    with pytest.raises(UserError) as error:
        read_published("p.toml", HEAD.replace('"tps"', '"tsp"') + 'ratio = "1"')

    assert error.value.message == "p.toml:10: figure one: unknown metric: tsp"


def test_a_file_without_a_source_is_told_so() -> None:
    with pytest.raises(UserError) as error:
        read_published("p.toml", '[arms]\nbaseline = "1"\ncandidate = "2"\n')

    assert error.value.message == "p.toml:1: no source"
