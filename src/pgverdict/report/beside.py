"""Our numbers beside published ones, as values; `report.matching` makes them of a run."""

import math
from dataclasses import dataclass

from pgverdict.judge.published import Agreement
from pgverdict.report import words
from pgverdict.spec.published import Source


@dataclass(frozen=True)
class BesideRow:
    """A published figure and what one cell, or the mean over several, says of it. NaN, 0 and infinity where it is not
    known."""

    name: str
    cell: str | None
    """Which of ours; None where none was measured."""
    published: tuple[str | None, str | None]
    """Values as printed, of baseline and candidate."""
    published_ratio: float
    rounded: tuple[float, float]
    printed: str | None
    ours: tuple[float, float]
    effect: float
    low: float
    high: float
    verdict: str
    """The outcome as a word; nothing where there is none, as of means over cells."""
    agreement: Agreement
    deviates: tuple[str, ...]
    """In what the cell's builds and settings differ from those of the source, of what matters there."""
    remark: str | None
    asked: tuple[str, str, str] | None = None
    """The one cell by its key, the candidate and the subject that answer it; None of means and where none does."""

    @property
    def said(self) -> str:
        """What our number says of theirs, in words."""
        said = self.agreement.value
        return f"{said}; deviates" if self.deviates else said

    @property
    def interval(self) -> str:
        known = self.low > 0 and math.isfinite(self.high)
        return f"{words.limit(self.low)} to {words.limit(self.high)}" if known else words.NOTHING

    @property
    def published_change(self) -> str:
        """In percent and as precise as what was printed allows: '+3.6', '+6'."""
        width = (self.rounded[1] - self.rounded[0]) * 100
        decimals = 1 if width < 2.5 else 0
        return f"{(self.published_ratio - 1) * 100:+.{decimals}f}"


@dataclass(frozen=True)
class BesideTable:
    """The figures of one metric."""

    metric: str
    rows: tuple[BesideRow, ...]

    @property
    def has_values(self) -> bool:
        """Whether the source has values, and not their ratios alone."""
        return any(row.published[0] is not None for row in self.rows)


@dataclass(frozen=True)
class BesideReport:
    """A run beside published numbers."""

    source: Source
    theirs: tuple[str, str]
    """What the source calls its two arms."""
    labels: tuple[str, str]
    """What ours are called."""
    tables: tuple[BesideTable, ...]
    counts: tuple[tuple[str, int], ...]
    """How many figures agree and so on, without those that are zero."""
    claims: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """'Of 24 figures 5 agree ...', without a full stop."""
        if not self.counts:
            return "The source has no figure that a cell could be held against"
        all_ = sum(number for _, number in self.counts)
        told = words.listed(f"{said}: {number}" for said, number in self.counts)
        return f"Of {words.count(all_, 'comparison')} with published figures, {told}"
