"""Quantities as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.errors import UserError
from pgverdict.spec.quantities import HandicapAsked, duration_s, handicap, percentage, setting


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("5m", 300), ("1h30m", 5400), ("1.5h", 5400), (" 2m ", 120)]
)
def test_a_duration_is_read_as_people_write_it(text: str, seconds: float) -> None:
    assert duration_s(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "5", "m", "5 m", "-5m", "0s", "5d", "5m!", "1m-30s", "1s1m", "5m5m", "1.2.3s", ".s"]
)
def test_what_is_no_duration_is_refused_by_name(text: str) -> None:
    with pytest.raises(UserError, match="duration"):
        duration_s(text)


@pytest.mark.parametrize(("text", "value"), [("1%", 0.01), ("99 %", 0.99), ("0.5%", 0.005)])
def test_a_percentage_is_read_as_people_write_it(text: str, value: float) -> None:
    assert percentage(text, what="margin") == value


@pytest.mark.parametrize(
    "text",
    ["0%", "0.01", "1", "100%", "-1%", "nan%", "sNaN%", "inf%", "one", "", "%", "99.99999999999999999999%"],
)
def test_what_is_no_percentage_is_refused_by_name(text: str) -> None:
    with pytest.raises(UserError, match="margin"):
        percentage(text, what="margin")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("work_mem=4MB", (None, "work_mem", "4MB")),
        ("candidate:JIT = off", ("candidate", "jit", "off")),
        ("17#2:pg_stat_statements.max=100", ("17#2", "pg_stat_statements.max", "100")),
        ("search_path=a=b:c", (None, "search_path", "a=b:c")),
        ("log_line_prefix=", (None, "log_line_prefix", "")),
    ],
)
def test_a_setting_has_an_arm_a_name_and_a_value(text: str, parts: tuple[str | None, str, str]) -> None:
    assert setting(text) == parts


@given(st.text())
def test_any_text_is_a_setting_or_a_clear_refusal(text: str) -> None:
    try:
        _, name, _ = setting(text)
    except UserError:
        return
    assert name


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("400", HandicapAsked(None, 400, None)),
        ("candidate:400", HandicapAsked("candidate", 400, None)),
        ("2%", HandicapAsked(None, None, 0.02)),
        ("17#2:0.5%", HandicapAsked("17#2", None, 0.005)),
    ],
)
def test_a_handicap_is_nanoseconds_or_a_share(text: str, asked: HandicapAsked) -> None:
    assert handicap(text) == asked


@pytest.mark.parametrize(
    "text", ["", "0", "-5", "2.5", "candidate:", "1e3", "9999999999", "candidate:much", "0%"]
)
def test_what_is_no_handicap_is_refused_by_name(text: str) -> None:
    with pytest.raises(UserError, match="handicap"):
        handicap(text)
