"""Rows that make no sense. Without SQLAlchemy, as what lists runs is."""

from collections.abc import Iterator
from contextlib import contextmanager

from pgverdict.errors import UserError, WorldError


@contextmanager
def understood(deed: str) -> Iterator[None]:
    """What makes no sense in rows that were read: they were damaged, or nobody's program wrote them."""
    try:
        yield
    except (
        AssertionError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
        UserError,
    ) as error:
        raise WorldError(
            f"cannot {deed}: it is damaged ({type(error).__name__}: {str(error)[:80]})",
            hint="use another copy of the file that it came from",
        ) from error
