"""Whether this host can confine servers, for tests that need it to."""

from pgverdict.errors import WorldError
from pgverdict.servers.confine import find_confiner
from pgverdict.spec.confinement import Limits

SOME_MEMORY = Limits(memory_bytes=64 << 20)


def why_unconfined(limits: Limits = SOME_MEMORY) -> str | None:
    """Why servers cannot be confined so here; None if they can."""
    try:
        find_confiner(limits)
    except WorldError as error:
        return error.message
    return None
