"""What a server makes of a task of a stream: how it plans the statement, and what it answers.

The statement is prepared as the engine prepares it, and explained with the task's values, so that the plan is the one
that the engine's execution gets: until the sixth, a prepared statement is planned for the values it is given.
"""

import hashlib
import re
from collections.abc import Mapping
from decimal import Decimal

from psycopg import sql

from pgverdict.observe.views import Connection

_PREPARED = "pgverdict_task"
_VARIABLE = re.compile(r"(?<!:):([A-Za-z_]\w*)")
_PARAMETER = re.compile(r"\$\d+")


def explain(connection: Connection, text: str, prepared_text: str, variables: Mapping[str, object]) -> str:
    """The plan, as EXPLAIN (COSTS OFF) says it. `text` is the statement as written, with `:name` where
    `prepared_text`, the engine's, has `$1`."""
    values = _values(text, prepared_text, variables)
    connection.execute(f"PREPARE {_PREPARED} AS {prepared_text}".encode())
    try:
        execute = sql.SQL("EXPLAIN (COSTS OFF) EXECUTE {}").format(_executed(values))
        return "\n".join(line for (line,) in connection.execute(execute).fetchall())
    finally:
        connection.execute(f"DEALLOCATE {_PREPARED}".encode())


def answer_sha256(
    connection: Connection, text: str, prepared_text: str, variables: Mapping[str, object]
) -> str:
    """A digest of the statement's rows, in no order. Numbers to two places, as the releases agree on them."""
    values = _values(text, prepared_text, variables)
    connection.execute(f"PREPARE {_PREPARED} AS {prepared_text}".encode())
    try:
        rows = connection.execute(sql.SQL("EXECUTE {}").format(_executed(values))).fetchall()
    finally:
        connection.execute(f"DEALLOCATE {_PREPARED}".encode())
    told = sorted("\t".join(map(_spell, row)) for row in rows)
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def _values(text: str, prepared_text: str, variables: Mapping[str, object]) -> list[str]:
    """A value for each parameter: the engine numbers them through, one for every place a variable stands in."""
    names = _VARIABLE.findall(text)
    assert len(names) == len(_PARAMETER.findall(prepared_text)), (text, prepared_text)
    return [str(variables[name]) for name in names]


def _executed(values: list[str]) -> sql.Composable:
    if not values:
        return sql.SQL(_PREPARED)
    # Literals without a type get that of their parameter, as texts that the engine sends do.
    return sql.SQL("{}({})").format(
        sql.SQL(_PREPARED), sql.SQL(", ").join(sql.Literal(value) for value in values)
    )


def _spell(value: object) -> str:
    """
    >>> _spell(Decimal("1995")), _spell(1995.0), _spell("Brand#12  "), _spell(None)
    ('1995.00', '1995.00', 'Brand#12', 'null')
    """
    match value:
        case None:
            return "null"
        case bool():
            return str(value)
        case Decimal() | float() | int():
            return f"{Decimal(value):.2f}"
    return str(value).rstrip()
