"""When a table under constant change has settled: it is no larger and no deader than it was.

A table that is updated grows until vacuum frees as many rows as updates make, and saws up and down from then on.
So it is looked at at equal phases only, the ends of its vacuums, and its dead rows by the most there were between
two of these.

Some tables are changed all the time and never vacuumed: updates prune the pages they touch, and the dead rows that
remain stay below what autovacuum waits for. These have settled when the second half of their ageing added next to
nothing. Dead rows that pile up towards a vacuum double in that half. Pure.

    >>> history = TableHistory()
    >>> for vacuums, size, dead in [(0, 100, 20), (1, 140, 0), (1, 140, 20), (2, 140, 0)]:
    ...     history.add(0, TableState(0, 1000, dead, vacuums, size * 1_000_000))
    >>> history.settled(unvacuumed_s=60), history.growth
    (True, 0.0)
"""

from dataclasses import dataclass, field

from pgverdict.observe.cycles import TableState

VACUUMS_MIN = 2
GROWTH_MAX = 0.01
"""Of size, and of the most dead rows, over the last vacuum cycle."""

PRUNED_GROWTH_MAX = 0.05
"""Of dead rows that only pruning keeps down, over the second half of ageing: they rise ever slower, and never stop."""

SLACK_BYTES = 256 << 10
"""A table of a few pages may gain some and be steady all the same."""

SLACK_ROWS = 0.01
"""The same for dead rows, as a share of all rows."""


@dataclass(frozen=True)
class Cycle:
    """From one vacuum's end to the next: the size at its end, the most dead rows seen in it."""

    bytes: int
    dead_rows: int


@dataclass
class TableHistory:
    """What was seen of one table, look by look."""

    cycles: list[Cycle] = field(default_factory=list)
    vacuums: int = 0
    """Finished since the first look; several between two looks end one cycle."""
    _looks: list[tuple[float, TableState]] = field(default_factory=list)
    _dead_rows: int = 0

    def add(self, seconds: float, table: TableState) -> None:
        """One more look, so many seconds after ageing began."""
        done = table.vacuums - self._looks[-1][1].vacuums if self._looks else 0
        if done:
            self.vacuums += done
            self.cycles.append(Cycle(table.bytes, self._dead_rows))
            self._dead_rows = 0
        self._looks.append((seconds, table))
        self._dead_rows = max(self._dead_rows, table.dead_rows)

    @property
    def growth(self) -> float:
        """How much larger the table was after its last vacuum than after any earlier one, as a share; at least 0.

        For a table without two vacuums: at the last look than in the middle of its ageing.
        """
        if len(self.cycles) >= 2:
            earlier, last = max(cycle.bytes for cycle in self.cycles[:-1]), self.cycles[-1].bytes
        else:
            earlier, last = self._middle().bytes, self._looks[-1][1].bytes
        return max(0.0, last / earlier - 1) if earlier else 0.0

    def settled(self, *, unvacuumed_s: float) -> bool:
        """Neither larger nor deader in its last cycle than in any earlier one.

        A table that had no vacuum for so many seconds is judged by the second half of its ageing.
        """
        if self.vacuums >= VACUUMS_MIN and len(self.cycles) >= 2:
            last, earlier = self.cycles[-1], self.cycles[:-1]
            size, dead = max(c.bytes for c in earlier), max(c.dead_rows for c in earlier)
            return self._no_more(last, Cycle(size, dead), GROWTH_MAX)
        seconds, now = self._looks[-1]
        if self.vacuums or seconds < unvacuumed_s:
            return False
        middle = self._middle()
        before = Cycle(middle.bytes, middle.dead_rows)
        return self._no_more(Cycle(now.bytes, now.dead_rows), before, PRUNED_GROWTH_MAX, slack_rows=0)

    def _no_more(
        self, now: Cycle, before: Cycle, dead_growth_max: float, slack_rows: float = SLACK_ROWS
    ) -> bool:
        slack = max(dead_growth_max * before.dead_rows, slack_rows * self._looks[-1][1].live_rows)
        return (
            now.bytes <= before.bytes + max(GROWTH_MAX * before.bytes, SLACK_BYTES)
            and now.dead_rows <= before.dead_rows + slack
        )

    def _middle(self) -> TableState:
        """The table half-way through its ageing."""
        half = self._looks[-1][0] / 2
        return next(table for seconds, table in self._looks if seconds >= half)
