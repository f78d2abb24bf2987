"""Equal coldness: in a cold round, what every arm fetched came from storage, for one arm as for the other.

How much they fetched may differ, which can be the very effect that is looked for, and is told in the report. That an
arm met its data in the page cache, while the other had to read it, is no effect of PostgreSQL's.
"""

from pgverdict.errors import RoundFailed

COLD_SHARE = 0.5
"""Of what an arm fetched from outside shared buffers, at least so much has to come from storage. Some of it was read
ahead, or together with what was fetched before, so it need not be all; of a warm arm it is next to nothing."""

FETCHED_BLOCKS_MIN = 32
"""With fewer, a share says nothing: the workload read next to nothing, from wherever."""


def check_coldness(
    arm: int, arm_name: str, *, storage_read_bytes: int, buffers_read: int | None, block_bytes: int
) -> None:
    """RoundFailed for an arm that found its data in memory.

    Where the server does not tell what it fetched (no pg_stat_statements), an arm that read nothing at all was warm.
    """
    if buffers_read is None:
        if storage_read_bytes > 0:
            return
        story = "it read nothing from storage"
    else:
        fetched_bytes = buffers_read * block_bytes
        if buffers_read < FETCHED_BLOCKS_MIN or storage_read_bytes >= COLD_SHARE * fetched_bytes:
            return
        story = f"of {fetched_bytes} bytes that it fetched, {storage_read_bytes} came from storage"
    raise RoundFailed(f"arm {arm_name} was not cold while it was measured: {story}", arm=arm)
