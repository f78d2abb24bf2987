"""A campaign file that was read: its tables, and errors that name file, line and key.

>>> document = read_document("c.toml", 'arms = ["17", "18"]\\n[[workload]]\\nname = "select-only"\\nscael = 1\\n')
Traceback (most recent call last):
pgverdict.errors.UserError: c.toml:4: unknown key in [[workload]]: scael
"""

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from pgverdict.errors import UserError, unknown_word
from pgverdict.spec import lines
from pgverdict.spec.file import (
    ArmTable,
    CampaignFile,
    DefaultsTable,
    SmallTable,
    TuneTable,
    WorkloadTable,
)

_TABLES: dict[str, type[BaseModel]] = {
    "arm": ArmTable,
    "defaults": DefaultsTable,
    "workload": WorkloadTable,
    "small": SmallTable,
    "tune": TuneTable,
}
_ARRAYS = ("arm", "workload")
_KINDS = {
    "int_type": "a whole number",
    "string_type": "a text in quotes",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "float_type": "a number",
    "too_short": "a list of at least one value",
}
_EXAMPLES = {
    "name": 'name = "select-only"',
    "server": 'server = "17"',
    "use": 'use = "oltp"',
    "workload": '[[workload]] and below it name = "select-only"',
}


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
                f"{self.path}:{line}: {_spelled(place)}: {error.message}", hint=error.hint
            ) from None


def read_document(path: str, text: str) -> Document:
    """UserError for what is no TOML, has an unknown key or a value of the wrong kind; the first of several."""
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, said = lines.line_of_error(error, text)
        raise UserError(f"{path}:{line}: not TOML: {said}", hint="docs/campaigns.md has examples") from None
    try:
        return Document(path, text, CampaignFile.model_validate(read))
    except ValidationError as invalid:
        problems = invalid.errors(include_url=False)
    line, first = min(
        ((lines.line_of(text, problem["loc"]), problem) for problem in problems), key=lambda one: one[0]
    )
    told = _told(first)
    raise UserError(f"{path}:{line}: {told.message}", hint=told.hint)


def _told(problem: Any) -> UserError:
    loc: tuple[str | int, ...] = problem["loc"]
    kind, given = problem["type"], problem["input"]
    table, where = _table(loc[:-1])
    key = _spelled(loc)
    if kind == "extra_forbidden":
        known = [field.alias or name for name, field in table.model_fields.items()]
        hint = unknown_word("key", str(loc[-1]), known).hint
        if where and loc[-1] in [field.alias or name for name, field in CampaignFile.model_fields.items()]:
            hint = "what is about the whole campaign stands above the first table"
        return UserError(f"unknown key{where}: {loc[-1]}", hint=hint)
    if kind == "missing":
        what = "no workload" if loc == ("workload",) else f"no {loc[-1]}{where}"
        return UserError(what, hint=f"write {_EXAMPLES[str(loc[-1])]}")
    if kind == "enum":
        known = re.findall(r"'([^']*)'", problem["ctx"]["expected"])
        return UserError(f"{key} cannot be {given}", hint=unknown_word(key, str(given), known).hint)
    if kind == "string_type" and isinstance(given, int | float) and not isinstance(given, bool):
        hint = f'write "{given}"; without quotes, 18.10 is 18.1'
        return UserError(f"{key} must be in quotes: {given}", hint=hint)
    if kind in _KINDS:
        return UserError(f"{key} must be {_KINDS[kind]}: {given!r}")
    if kind == "value_error":
        return UserError(f"{key} {problem['ctx']['error']}: {getattr(given, 'value', given)!r}")
    said = str(problem["msg"])
    return UserError(f"{key}: {said[:1].lower()}{said[1:]}: {given!r}")


def _table(loc: tuple[str | int, ...]) -> tuple[type[BaseModel], str]:
    """Which table a key stands in, and how that is said."""
    names = [step for step in loc if isinstance(step, str)]
    if not names or names[0] not in _TABLES:
        return CampaignFile, ""
    name = names[0]
    return _TABLES[name], f" in [[{name}]]" if name in _ARRAYS else f" in [{name}]"


def _spelled(place: tuple[str | int, ...]) -> str:
    """
    >>> _spelled(("workload", 0, "settings", "work_mem", 1))
    'workload.settings.work_mem'
    """
    return ".".join(step for step in place if isinstance(step, str))
