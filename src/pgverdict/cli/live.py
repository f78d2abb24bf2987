"""The live view of a run in the terminal; plain lines where standard error is not one.

Standard output stays free for the report.
"""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status
from rich.text import Text

from pgverdict.judge.verdict import Verdict
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.report.sentences import change_words
from pgverdict.spec.campaign import CellSpec
from pgverdict.workloads.own import workload_of

PLAIN_LINE_S = 10.0
"""Without a terminal, progress is a line now and then, not one a round."""


class LiveView:
    """A Listener that keeps one line up to date, and leaves lines only for what should be remembered."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)
        self._status: Status | None = None
        self._step = ""
        self._round = ""
        self._standing: dict[str, str] = {}
        self._last_line_at = 0.0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status("")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def note(self, text: str) -> None:
        """A line that stays."""
        self._console.print(Text(text))

    def step(self, text: str) -> None:
        """A step of the preparation."""
        self._step = text
        self._show(text, force=True)

    def amount(self, done: int, total: int | None) -> None:
        """How far the step is."""
        if total:
            self._show(f"{self._step}: {done * 100 // total} %")

    def round_begins(self, cell: CellSpec, number: int, time_left_s: float) -> None:
        """A round of a cell begins."""
        minutes, seconds = divmod(round(time_left_s), 60)
        standing = self._standing.get(cell.key, "")
        self._round = f"{cell.key}: round {number}, at most {minutes}:{seconds:02} left"
        self._show(f"{self._round}{standing}")

    def stretch(self, cell: CellSpec, arm: str, done: int, total: int | None) -> None:
        """How far an arm is that works alone: by the second in a steady round, by the step in a chain."""
        is_chain = workload_of(cell).chain is not None
        unit = "step" if is_chain else "second"
        of = f"of {total}" if total is not None else "until it has seen enough checkpoints and vacuums"
        self._show(f"{self._round}; {arm} works alone, {unit} {done} {of}{self._standing.get(cell.key, '')}")

    def round_done(self, cell: CellSpec, record: RoundRecord, verdicts: Sequence[Sequence[Verdict]]) -> None:
        """A round ended; a failed one leaves its story."""
        if record.state is RoundState.FAILED:
            self.note(f"{cell.key}: a round failed and will be repeated: {record.story}")
        if verdicts:
            primaries = [judged[0] for judged in verdicts]
            several = len(primaries) > 1
            standing = (
                f"{f'{one.candidate} ' * several}{change_words(one)}: {one.outcome.value}"
                for one in primaries
            )
            self._standing[cell.key] = f"; so far {primaries[0].metric} {', '.join(standing)}"

    def _show(self, text: str, *, force: bool = False) -> None:
        if self._status is not None:
            self._status.update(Text(text))
        elif force or time.monotonic() - self._last_line_at > PLAIN_LINE_S:
            self._last_line_at = time.monotonic()
            self._console.print(Text(text))
