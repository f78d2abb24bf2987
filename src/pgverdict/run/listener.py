"""What a run tells whoever watches it; it waits for nobody and needs no answer."""

from collections.abc import Sequence
from typing import Protocol

from pgverdict.judge.verdict import Verdict
from pgverdict.records.round import RoundRecord
from pgverdict.spec.campaign import CellSpec


class Listener(Protocol):
    """All methods return at once. Amounts without a known total have None."""

    def note(self, text: str) -> None:
        """Something worth a line of its own: remains cleaned up, a build that lacks an extension."""

    def step(self, text: str) -> None:
        """A step of the preparation begins; it replaces the last one."""

    def amount(self, done: int, total: int | None) -> None:
        """How far the present step is: bytes of a download, rows of a load."""

    def round_begins(self, cell: CellSpec, number: int, time_left_s: float) -> None:
        """A round begins; `number` counts the cell's measured rounds from 1."""

    def stretch(self, cell: CellSpec, arm: str, done: int, total: int | None) -> None:
        """An arm works by itself: it has done so many slices, of about a second, of so many; None: not known yet."""

    def round_done(self, cell: CellSpec, record: RoundRecord, verdicts: Sequence[Sequence[Verdict]]) -> None:
        """A round ended, measured or failed; the cell's verdicts as they stand, per candidate, primary first."""
