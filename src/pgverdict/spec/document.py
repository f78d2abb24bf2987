"""A campaign file that was read: its tables, and errors that name file, line and key.

>>> document = read_document("c.toml", 'arms = ["17", "18"]\\n[[workload]]\\nname = "select-only"\\nscael = 1\\n')
Traceback (most recent call last):
pgverdict.errors.UserError: c.toml:4: unknown key in [[workload]]: scael
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import BaseModel

from pgverdict.errors import UserError
from pgverdict.spec import lines
from pgverdict.spec.file import (
    ArmTable,
    CampaignFile,
    DefaultsTable,
    SmallTable,
    TuneTable,
    WorkloadTable,
)
from pgverdict.spec.shape import Shape, read_shaped, spelled

_TABLES: dict[str, type[BaseModel]] = {
    "arm": ArmTable,
    "defaults": DefaultsTable,
    "workload": WorkloadTable,
    "small": SmallTable,
    "tune": TuneTable,
}
_ARRAYS = ("arm", "workload")
_EXAMPLES = {
    "name": 'name = "select-only"',
    "server": 'server = "17"',
    "use": 'use = "oltp"',
    "workload": '[[workload]] and below it name = "select-only"',
}

SHAPE = Shape(CampaignFile, _TABLES, _ARRAYS, _EXAMPLES, "docs/campaigns.md")


@dataclass(frozen=True)
class Document:
    """`path`: as the user gave it; `tables`: what the file says, in the right shape."""

    path: str
    text: str
    tables: CampaignFile

    @contextmanager
    def at(self, *place: str | int) -> Iterator[None]:
        """A UserError in the block is about this key: it gets file, line and key put before it."""
        try:
            yield
        except UserError as error:
            line = lines.line_of(self.text, place)
            raise UserError(
                f"{self.path}:{line}: {spelled(place)}: {error.message}", hint=error.hint
            ) from None


def read_document(path: str, text: str) -> Document:
    """UserError for what is no TOML, has an unknown key or a value of the wrong kind; the first of several."""
    document = Document(path, text, read_shaped(path, text, SHAPE))
    _require_work(document)
    return document


def _require_work(document: Document) -> None:
    """A workload's table says which it is: by its name, or by scripts."""
    for number, table in enumerate(document.tables.workload):
        if table.name is None and table.script is None:
            line = lines.line_of(document.text, ("workload", number))
            raise UserError(
                f"{document.path}:{line}: no name in [[workload]]",
                hint=f'write {_EXAMPLES["name"]}, or script = "FILE.sql"',
            )
