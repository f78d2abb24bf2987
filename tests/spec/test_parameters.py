"""Parameters of workloads are read, checked and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.errors import UserError
from pgverdict.spec.parameters import Kind, Parameter, Value, choose, filled, share_out, spell, spell_chosen

PARTITIONS = Parameter("partitions", "partitions", Kind.INTEGER, 0, least=0, most=1000)
METHOD = Parameter("method", "how", Kind.CHOICE, "range", choices=("range", "hash"))
SKEW = Parameter("skew", "skew", Kind.NUMBER, 0.99, least=0.0, most=10.0)
UNLOGGED = Parameter("unlogged", "no WAL", Kind.BOOLEAN, False)
COLUMN = Parameter("column", "which", Kind.TEXT, "aid")
ALL = (PARTITIONS, METHOD, SKEW, UNLOGGED, COLUMN)


def test_what_is_the_default_is_not_kept_and_the_rest_is_sorted() -> None:
    chosen = choose({"unlogged": True, "method": "range", "partitions": 16}, ALL, of="w")

    assert chosen == (("partitions", 16), ("unlogged", True))
    assert filled(chosen, ALL, of="w") == {
        "partitions": 16, "method": "range", "skew": 0.99, "unlogged": True, "column": "aid",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parameter", "text", "complaint", "hint"),
    [
        (PARTITIONS, "many", "not a value of the parameter partitions: many", "partitions is 0 to 1000"),
        (PARTITIONS, "1001", "not a value of the parameter partitions: 1001", "partitions is 0 to 1000"),
        (PARTITIONS, "1.5", "not a value of the parameter partitions: 1.5", "partitions is 0 to 1000"),
        (SKEW, "nan", "not a value of the parameter skew: nan", "skew is 0 to 10"),
        (UNLOGGED, "maybe", "not a value of the parameter unlogged: maybe", "unlogged is on or off"),
        (METHOD, "hsh", "unknown value of the parameter method: hsh", "did you mean hash?"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_with_what_is(
    parameter: Parameter, text: str, complaint: str, hint: str
) -> None:
    with pytest.raises(UserError, match=complaint) as caught:
        parameter.parse(text)

    assert caught.value.hint == hint


@pytest.mark.parametrize("value", [True, 2.5, "16", None, [16]])
def test_a_value_of_another_type_is_refused(value: object) -> None:
    with pytest.raises(UserError, match="not a value of the parameter partitions"):
        PARTITIONS.check(value)


def test_a_whole_number_is_a_number() -> None:
    assert choose({"skew": 2}, ALL, of="w") == (("skew", 2.0),)


def test_an_unknown_parameter_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match="unknown parameter of w: partition") as caught:
        choose({"partition": 2}, ALL, of="w")

    assert caught.value.hint == "did you mean partitions?"


def test_a_workload_without_parameters_says_so() -> None:
    with pytest.raises(UserError, match="w has no parameters: partitions"):
        choose({"partitions": 2}, (), of="w")


def test_a_parameter_goes_to_every_workload_that_knows_it() -> None:
    shared = share_out(
        ["partitions=16", "unlogged=yes"], {"one": (PARTITIONS, UNLOGGED), "other": (PARTITIONS,), "bare": ()}
    )

    assert shared == {
        "one": (("partitions", 16), ("unlogged", True)),
        "other": (("partitions", 16),),
        "bare": (),
    }


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (["partitions"], "not a parameter: partitions"),
        (["=3"], "not a parameter: =3"),
        (["partitions=3", "partitions=4"], "partitions is given twice: 3 and 4"),
        (["partitons=3"], "unknown parameter of one and other: partitons"),
    ],
)
def test_what_no_workload_can_take_is_refused(texts: list[str], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        share_out(texts, {"one": (PARTITIONS,), "other": ()})


_values = st.sampled_from(ALL).flatmap(
    lambda one: st.tuples(
        st.just(one),
        {
            Kind.INTEGER: st.integers(0, 1000),
            Kind.NUMBER: st.floats(0, 10),
            Kind.BOOLEAN: st.booleans(),
            Kind.CHOICE: st.sampled_from(METHOD.choices),
            Kind.TEXT: st.text(),
        }[one.kind],
    )
)


@given(_values)
def test_a_value_is_read_as_it_was_written(named: tuple[Parameter, Value]) -> None:
    parameter, value = named
    read = parameter.parse(spell(value))

    assert (read, type(read)) == (value, type(value))


_texts = st.lists(st.tuples(st.sampled_from("ab"), st.text('ab ="\\', max_size=6)), max_size=3)


@given(_texts, _texts)
def test_different_choices_are_written_differently(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    written = [" ".join(spell_chosen(tuple(pairs))) for pairs in (one, other)]

    assert (written[0] == written[1]) == (one == other)
