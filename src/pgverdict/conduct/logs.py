"""What the servers of a round wrote, for a round that failed.

    writers = Writers(launch)
    ...                       # the round, in which servers are launched by `writers.launch`
    writers.logs()            # afterwards, whatever became of the servers

A log is a file beside the data, and the next server in the same slot writes to it, too: what is not read before the
next round is hard to tell apart from what comes then.
"""

from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.live import Data, Launch
from pgverdict.plan.rounds import RoundPlan
from pgverdict.records.round import LogRecord
from pgverdict.servers.outside import AnyServer

BYTES_MAX = 64 * 1024
"""Of each log. A crash and its recovery take a few KB; what comes to more says the same again and again."""


class Writers:
    """Launches servers, and remembers them."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._servers: dict[int, AnyServer] = {}

    def launch(self, cell: PreparedCell, plan: RoundPlan, arm: int, data: Data) -> AnyServer:
        """As the `conduct.live.Launch` that it was made with."""
        server = self._launch(cell, plan, arm, data)
        self._servers[arm] = server
        return server

    def logs(self) -> tuple[LogRecord, ...]:
        """The end of each log, by arm; none of a server that wrote nothing, or whose log is not ours to read."""
        ends = ((arm, _end(self._servers[arm])) for arm in sorted(self._servers))
        return tuple(LogRecord(arm, text) for arm, text in ends if text)


def _end(server: AnyServer) -> str:
    """A log that cannot be read is no reason to lose the round's story, and says so in its own place."""
    try:
        return server.log_end(BYTES_MAX)
    except OSError as error:
        return f"its log cannot be read: {error}\n"
