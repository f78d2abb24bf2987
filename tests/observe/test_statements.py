"""Statements find their rows in pg_stat_statements, whichever texts these have."""

import pytest

from pgverdict.observe.statements import assign_counts

# As sent; as 9.6 shows it once it has analysed it; as releases since 10 do.
NORMALISED = [
    ("UPDATE t SET k = k+1 WHERE i = $1", "UPDATE t SET k = k+? WHERE i = $1", "UPDATE t SET k = k+$2 WHERE i = $1"),
    ("SELECT a - 5, -5, - 5 FROM t", "SELECT a - ?, ?, ? FROM t", "SELECT a - $1, $2, $3 FROM t"),
    ("SELECT true, NULL, FALSE", "SELECT ?, ?, ?", "SELECT $1, $2, $3"),
    ("SELECT date '1994-01-01', interval '3' day", "SELECT date ?, interval ? day", "SELECT date $1, interval $2 day"),
    ("SELECT E'a\\'b', 'c''d', $q$e'$q$, 1.5e3", "SELECT ?, ?, ?, ?", "SELECT $1, $2, $3, $4"),
    ("SELECT 'C:\\', 1", "SELECT ?, ?", "SELECT $1, $2"),
    ("SELECT a FROM t ORDER BY 1 LIMIT 9", "SELECT a FROM t ORDER BY 1 LIMIT ?", "SELECT a FROM t ORDER BY 1 LIMIT $1"),
    ("SELECT '{}'::jsonb ? 'a'", "SELECT ?::jsonb ? ?", "SELECT $1::jsonb ? $2"),
    ("SELECT a FROM t WHERE b IN (1, 2)", "SELECT a FROM t WHERE b IN (?, ?)", "SELECT a FROM t WHERE b IN ($1, $2)"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "oldest", "newest"), NORMALISED)
def test_a_statement_is_found_under_its_text_with_and_without_constants(
    sent: str, oldest: str, newest: str
) -> None:
    for text in (sent, oldest, newest, f"  {newest} ;", f"/* here */ {newest} -- there"):
        assert assign_counts([sent], [("BEGIN", 1), (text, 2), ("SELECT 1 FROM other", 3)]) == {sent: 2}, text


def test_lists_that_18_makes_short_are_found_with_all_parameters_numbered_anew() -> None:
    sent = "SELECT a FROM t WHERE b = $1 AND c IN ($2, $3, 4) AND d = ANY (ARRAY[(1), 2]) AND e = 5"
    row = (
        "SELECT a FROM t WHERE b = $1 AND c IN ($2 /*, ... */) AND d = ANY (ARRAY[$3 /*, ... */]) AND e = $4"
    )

    assert assign_counts([sent], [(row, 1)]) == {sent: 1}


@pytest.mark.parametrize("row", [
    "UPDATE t SET k = k + $2 WHERE id = $3",
    "UPDATE t SET k = k - $2 WHERE id = $1",
    "UPDATE u SET k = k + $2 WHERE id = $1",
    "UPDATE t SET k = k + $2",
    "UPDATE t SET k = k + $2 WHERE id = $1 OR id = $3",
    "UPDATE t SET k = k + 2 WHERE id = $1",
    "UPDATE t SET k = k + $1 WHERE id = $1",
])  # fmt: skip
def test_a_row_of_another_statement_is_not_taken(row: str) -> None:
    assert assign_counts(["UPDATE t SET k = k + 1 WHERE id = $1"], [(row, 1)]) == {}


def test_statements_that_differ_in_constants_only_are_not_told_apart() -> None:
    both = ["SELECT a FROM t WHERE b = 'x'", "SELECT a FROM t WHERE b = 'y'"]

    for row in (*both, "SELECT a FROM t WHERE b = $1", "SELECT a FROM t WHERE b = ?"):
        assert assign_counts(both, [(row, 1)]) == {}, row
        assert assign_counts(both[:1], [(row.replace("'y'", "'x'"), 1)]) == {both[0]: 1}, row


@pytest.mark.parametrize("other", ["IN (3)", "IN (4, 5, 6)", "IN ($1, $2)", "IN (-1, 2)"])
def test_lists_that_18_counts_as_one_statement_are_not_told_apart(other: str) -> None:
    both = ["SELECT a FROM t WHERE b IN (1, 2)", f"SELECT a FROM t WHERE b {other}"]

    assert assign_counts(both, [(both[0], 1)]) == assign_counts(both, [(both[1], 1)]) == {}
    assert assign_counts(both, [(both[0], 1), (both[1], 2)]) == {both[0]: 1, both[1]: 2}


def test_constants_that_are_none_to_the_server_tell_statements_apart() -> None:
    first, second = "SELECT a, b FROM t ORDER BY 1 LIMIT 3", "SELECT a, b FROM t ORDER BY 2 LIMIT 3"
    rows = [(first.replace("3", "$1"), 1), (second.replace("3", "$1"), 2)]

    assert assign_counts([first, second], rows) == {first: 1, second: 2}
    assert assign_counts([first, second], [(first, 1), (second, 2)]) == {first: 1, second: 2}


def test_a_constant_and_a_parameter_in_its_place_are_two_statements() -> None:
    with_constant, with_parameter = "SELECT a FROM t WHERE b = 5", "SELECT a FROM t WHERE b = $1"

    both = [with_constant, with_parameter]
    assert assign_counts(both, [(with_constant, 1), (with_parameter, 2)]) == {
        with_constant: 1,
        with_parameter: 2,
    }
    # Which of two rows of one text is whose, no text says.
    assert assign_counts(both, [(with_parameter, 1), (with_parameter, 2)]) == {}


def test_one_statement_in_two_scripts_has_one_row() -> None:
    assert assign_counts(["END", "END", "end"], [("END", 1)]) == {"END": 1, "end": 1}
