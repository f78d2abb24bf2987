"""Defaults in the units of their release, and what another release would make of them."""

import pytest

from pgverdict.plan.defaults import Default


def an(kind: str, value: str, unit: str | None = None, **more: object) -> Default:
    return Default("x", value, kind, unit, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [
        ("16384", "8kB", "128MB"),
        ("80", "MB", "80MB"),
        ("5", "16MB", "80MB"),
        ("1023", "kB", "1023kB"),
        ("1024", "B", "1kB"),
        ("100", "B", "100"),
        ("300", "s", "5min"),
        ("90", "s", "90s"),
        ("60000", "ms", "1min"),
        ("86400", "s", "1d"),
        ("-1", "8kB", "-1"),
        ("0", "ms", "0"),
        ("100", None, "100"),
    ],
)
def test_a_whole_number_is_written_in_the_largest_unit_that_holds_it(
    value: str, unit: str | None, written: str
) -> None:
    assert an("integer", value, unit).written == written


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [("0.9", None, "0.9"), ("2", "ms", "2ms"), ("0.5", "ms", "500us"), ("1e-05", None, "0.00001")],
)
def test_a_fraction_is_written_plainly(value: str, unit: str | None, written: str) -> None:
    assert an("real", value, unit).written == written


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (an("integer", "5", "16MB"), an("integer", "80", "MB")),
        (an("integer", "20", "ms"), an("real", "20", "ms")),
        (an("integer", "1024"), an("integer", "1024", "B")),
        (an("string", '"$user",public'), an("string", '"$user", public')),
        (an("bool", "off"), an("enum", "off")),
        (an("bool", "off"), an("string", "")),
        (an("real", "0.50"), an("real", "0.5")),
    ],
    ids=lambda one: f"{one.kind} {one.value} {one.unit}",
)
def test_a_default_is_the_same_in_other_units_types_and_spellings(one: Default, other: Default) -> None:
    assert one.same_as(other)
    assert other.same_as(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (an("integer", "20", "ms"), an("real", "2", "ms")),
        (an("integer", "-1", "ms"), an("integer", "600000", "ms")),
        (an("integer", "1"), an("integer", "16")),
        (an("bool", "off"), an("bool", "on")),
        (an("integer", "0", "ms"), an("integer", "1", "ms")),
        (an("string", "a"), an("string", "")),
    ],
    ids=lambda one: f"{one.kind} {one.value} {one.unit}",
)
def test_a_changed_default_is_not_the_same(one: Default, other: Default) -> None:
    assert not one.same_as(other)
    assert not other.same_as(one)


@pytest.mark.parametrize(
    ("ours", "there"),
    [
        (an("integer", "20", "ms"), an("real", "2", "ms", low="-1", high="100")),
        (an("real", "2", "ms"), an("integer", "20", "ms", low="-1", high="100")),
        (an("integer", "16384", "8kB"), an("integer", "1024", "8kB", low="16", high="1073741823")),
        (an("bool", "off"), an("enum", "pglz", choices=("pglz", "on", "off"))),
        (an("integer", "-1", "ms"), an("integer", "600000", "ms", low="-1", high="2147483647")),
        (an("string", "a, b"), an("string", "")),
        (an("enum", "ON"), an("enum", "off", choices=("off", "on"))),
    ],
    ids=lambda one: f"{one.kind} {one.value} {one.unit}",
)
def test_a_default_is_taken_where_its_setting_can_have_it(ours: Default, there: Default) -> None:
    assert ours.refusal(there) is None


@pytest.mark.parametrize(
    ("ours", "there", "reason"),
    [
        (an("enum", "lz4"), an("bool", "off"), "it is on or off there, and the default is lz4"),
        (an("bool", "on"), an("enum", "md5", choices=("md5", "scram-sha-256")), "it cannot be on there"),
        (
            an("real", "0.5", "ms"),
            an("integer", "20", "ms"),
            "it takes whole numbers of ms there, and the default is 500us",
        ),
        (
            an("integer", "16"),
            an("integer", "0", None, low="0", high="0"),
            "it lies between 0 and 0 there, and the default is 16",
        ),
        (
            an("integer", "8", "kB"),
            an("integer", "8", "ms"),
            "it is counted in ms there, and the default is 8kB",
        ),
        (an("bool", "on"), an("integer", "8"), "it is a number there, and the default is on"),
    ],
    ids=lambda one: one if isinstance(one, str) else f"{one.kind} {one.value}",
)
def test_a_default_that_another_release_cannot_have_is_refused_with_the_reason(
    ours: Default, there: Default, reason: str
) -> None:
    assert ours.refusal(there) == reason


def test_a_setting_that_has_no_unit_yet_is_given_the_plain_number() -> None:
    assert an("integer", "1024", "B").written_for(an("integer", "512")) == "1024"
    assert an("integer", "1024", "B").written_for(an("integer", "512", "B")) == "1kB"
