"""A part of a report that every format shows alike: sentences, tables of text, notes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """A table of text. `alignment`: a letter per column, l or r. Its first column names the rows."""

    title: str
    header: tuple[str, ...]
    alignment: str
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        widths = {len(row) for row in (self.header, self.alignment, *self.rows)}
        assert len(widths) == 1, f"not a table: {self.title}"


@dataclass(frozen=True)
class Section:
    """`sentences` have no full stop."""

    title: str
    sentences: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = ()
