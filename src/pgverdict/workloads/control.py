"""Which statements of a script begin and end transactions."""

_CONTROL = frozenset({"begin", "end", "commit", "rollback"})


def is_control(text: str) -> bool:
    """Whether a statement begins or ends a transaction: nothing is planned or executed for it.

    >>> is_control("BEGIN;"), is_control("commit"), is_control("SELECT 1")
    (True, True, False)
    """
    return text.strip(" ;\n").lower() in _CONTROL
