"""Column types that give back exactly what they were given, on SQLite and on PostgreSQL alike."""

import base64
import math
from typing import Any

from sqlalchemy import BigInteger, Double, Integer, LargeBinary
from sqlalchemy.types import TypeDecorator

Key = BigInteger().with_variant(Integer, "sqlite")
"""A number the database gives out. SQLite counts by itself only in a column it calls INTEGER."""


class Measured(TypeDecorator[float]):
    """A float, to its last bit. NaN says that there was nothing to measure: NULL in the database.

    SQLite knows no NaN, and an SQL user would rather meet NULL; so both databases hold the same.
    """

    impl = Double
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Any) -> float | None:  # noqa: ARG002
        return None if value is None or math.isnan(value) else value

    def process_result_value(self, value: float | None, dialect: Any) -> float:  # noqa: ARG002
        return math.nan if value is None else float(value)


class Histogram(TypeDecorator[str]):
    """An HdrHistogram as the engine sends it, in base64; the database holds its bytes, a quarter less."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> bytes | None:  # noqa: ARG002
        if value is None:
            return None
        decoded = base64.b64decode(value, validate=True)
        assert base64.b64encode(decoded).decode() == value, f"not canonical base64: {value[:40]}"
        return decoded

    def process_result_value(self, value: bytes | None, dialect: Any) -> str | None:  # noqa: ARG002
        return None if value is None else base64.b64encode(value).decode()
