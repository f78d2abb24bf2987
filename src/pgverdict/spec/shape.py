"""Reading a TOML file into a shape that pydantic checks, with errors that name file, line and key.

The shape of campaign files is in `spec.file`, of files of published numbers in `spec.published`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from pgverdict.errors import UserError, unknown_word
from pgverdict.spec import lines

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


Root = TypeVar("Root", bound=BaseModel)


@dataclass(frozen=True)
class Shape(Generic[Root]):
    """A kind of file: its top level, its tables by name, which of them may be repeated, and what a missing key is
    written like. `help`: the page that describes it."""

    root: type[Root]
    tables: Mapping[str, type[BaseModel]]
    arrays: tuple[str, ...]
    examples: Mapping[str, str]
    help: str


def read_shaped(path: str, text: str, shape: Shape[Root]) -> Root:
    """UserError for what is no TOML, has an unknown key or a value of the wrong kind; the first of several."""
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, said = lines.line_of_error(error, text)
        raise UserError(f"{path}:{line}: not TOML: {said}", hint=f"{shape.help} has examples") from None
    try:
        return shape.root.model_validate(read)
    except ValidationError as invalid:
        problems = invalid.errors(include_url=False)
    line, first = min(
        ((lines.line_of(text, problem["loc"]), problem) for problem in problems), key=lambda one: one[0]
    )
    told = _told(first, shape)
    raise UserError(f"{path}:{line}: {told.message}", hint=told.hint)


def _told(problem: Any, shape: Shape[Root]) -> UserError:
    loc: tuple[str | int, ...] = problem["loc"]
    kind, given = problem["type"], problem["input"]
    table, where = _table(loc[:-1], shape)
    key = spelled(loc)
    if kind == "extra_forbidden":
        known = [field.alias or name for name, field in table.model_fields.items()]
        hint = unknown_word("key", str(loc[-1]), known).hint
        if where and loc[-1] in [field.alias or name for name, field in shape.root.model_fields.items()]:
            hint = "what is about the whole file stands above the first table"
        return UserError(f"unknown key{where}: {loc[-1]}", hint=hint)
    if kind == "missing":
        what = "no workload" if loc == ("workload",) else f"no {loc[-1]}{where}"
        return UserError(
            what,
            hint=f"write {shape.examples[name]}"
            if (name := str(loc[-1])) in shape.examples
            else f"see {shape.help}",
        )
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


def _table(loc: tuple[str | int, ...], shape: Shape[Root]) -> tuple[type[BaseModel], str]:
    """Which table a key stands in, and how that is said."""
    names = [step for step in loc if isinstance(step, str)]
    if not names or names[0] not in shape.tables:
        return shape.root, ""
    name = names[0]
    return shape.tables[name], f" in [[{name}]]" if name in shape.arrays else f" in [{name}]"


def spelled(place: tuple[str | int, ...]) -> str:
    """A key as people write it.

    >>> spelled(("workload", 0, "settings", "work_mem", 1))
    'workload.settings.work_mem'
    """
    return ".".join(step for step in place if isinstance(step, str))
