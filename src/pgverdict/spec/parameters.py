"""Parameters of workloads: which there may be, how they are written, and what is wrong with one.

A cell names the parameters that differ from its workload's defaults, sorted by name: ("partitions", 16).
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from pgverdict.errors import UserError, unknown_word

Value = int | float | bool | str
Chosen = tuple[tuple[str, Value], ...]
"""Name and value of each parameter that differs from its default, sorted by name."""

_TRUE, _FALSE = ("on", "true", "yes"), ("off", "false", "no")
_PLAIN = re.compile(r"[\w.,:/+-]+")


class Kind(Enum):
    """What values of a parameter are."""

    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    TEXT = "text"


@dataclass(frozen=True)
class Parameter:
    """One thing that may be chosen of a workload. `about` is what lists say, without a full stop.

    `least` and `most` bound integers and numbers, both included; `choices` are the words of a choice.
    """

    name: str
    about: str
    kind: Kind
    default: Value
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", self.name), self.name
        assert self.check(self.default) == self.default, self

    @property
    def allowed(self) -> str:
        """What may be written: '0 to 1000', 'range or hash'."""
        match self.kind:
            case Kind.BOOLEAN:
                return "on or off"
            case Kind.CHOICE:
                return ", ".join(self.choices[:-1]) + " or " + self.choices[-1]
            case Kind.TEXT:
                return "text"
        least = None if self.least is None else spell(self.least)
        most = None if self.most is None else spell(self.most)
        if least is None and most is None:
            return "any integer" if self.kind is Kind.INTEGER else "any number"
        if least is None:
            return f"at most {most}"
        return f"{least} or more" if most is None else f"{least} to {most}"

    def parse(self, text: str) -> Value:
        """The value that is written so; UserError if it is none of this parameter's.

        >>> Parameter("unlogged", "", Kind.BOOLEAN, False).parse("on")
        True
        """
        match self.kind:
            case Kind.BOOLEAN:
                if text.lower() not in _TRUE + _FALSE:
                    raise self._refusal(text)
                return text.lower() in _TRUE
            case Kind.CHOICE | Kind.TEXT:
                return self.check(text)
        try:
            return self.check(int(text) if self.kind is Kind.INTEGER else float(text))
        except ValueError:
            raise self._refusal(text) from None

    def check(self, value: object) -> Value:
        """The value, if it is one of this parameter's, with its type; UserError if not."""
        match self.kind, value:
            case Kind.BOOLEAN, bool():
                return value
            case Kind.TEXT, str():
                return value
            case Kind.CHOICE, str() if value in self.choices:
                return value
            case Kind.CHOICE, str():
                raise unknown_word(f"value of the parameter {self.name}", value, self.choices)
            case ((Kind.INTEGER | Kind.NUMBER), bool()):
                raise self._refusal(spell(value))
            case Kind.INTEGER, int():
                if self._holds(value):
                    return value
            case Kind.NUMBER, int() | float():
                if math.isfinite(value) and self._holds(value):
                    return float(value)
        raise self._refusal(str(value))

    def _holds(self, value: float) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def _refusal(self, text: str) -> UserError:
        return UserError(
            f"not a value of the parameter {self.name}: {text}", hint=f"{self.name} is {self.allowed}"
        )


def spell(value: Value) -> str:
    """A value as a user writes it; `Parameter.parse` reads it back.

    >>> [spell(value) for value in (16, True, 0.5, 2.0, "hash")]
    ['16', 'on', '0.5', '2', 'hash']
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def spell_chosen(chosen: Chosen) -> list[str]:
    """'name=value' of each, one word each: what is not plain is quoted.

    >>> spell_chosen((("order", "a b"), ("partitions", 16)))
    ['order="a b"', 'partitions=16']
    """
    return [
        f"{name}={text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)}"
        for name, value in chosen
        for text in [spell(value)]
    ]


def choose(values: Mapping[str, object], known: Sequence[Parameter], *, of: str) -> Chosen:
    """The values, checked, without those that are the default. `of` is whose they are, in errors.

    UserError for a name that is not known, with the nearest one, and for a value that is not allowed.
    """
    by_name = {parameter.name: parameter for parameter in known}
    chosen = {name: _named(name, by_name, of).check(value) for name, value in values.items()}
    return tuple((name, value) for name, value in sorted(chosen.items()) if value != by_name[name].default)


def filled(chosen: Chosen, known: Sequence[Parameter], *, of: str) -> dict[str, Value]:
    """All parameters by name: what was chosen, checked, and defaults. Errors as `choose`."""
    return {parameter.name: parameter.default for parameter in known} | dict(
        choose(dict(chosen), known, of=of)
    )


def share_out(texts: Iterable[str], known: Mapping[str, Sequence[Parameter]]) -> dict[str, Chosen]:
    """What `name=value` texts choose for each of several workloads: a parameter goes to all that know it.

    `known`: the parameters of each workload, by its name. UserError for a text without a name or value, a name that no
    workload knows (with the nearest that is known), a name given twice, and a value that is not allowed.
    """
    written: dict[str, str] = {}
    for text in texts:
        name, found, value = text.partition("=")
        if not name or not found:
            raise UserError(f"not a parameter: {text}", hint="write NAME=VALUE")
        if name in written:
            raise UserError(
                f"the parameter {name} is given twice: {written[name]} and {value}",
                hint="leave one of them out",
            )
        written[name] = value
    by_workload = {
        workload: {parameter.name: parameter for parameter in parameters}
        for workload, parameters in known.items()
    }
    every = {name: one for parameters in by_workload.values() for name, one in parameters.items()}
    for name in written:
        _named(name, every, " and ".join(known))
    return {
        workload: choose(
            {name: parameters[name].parse(text) for name, text in written.items() if name in parameters},
            known[workload],
            of=workload,
        )
        for workload, parameters in by_workload.items()
    }


def _named(name: str, known: Mapping[str, Parameter], of: str) -> Parameter:
    if name in known:
        return known[name]
    if not known:
        raise UserError(
            f"{of} has no parameters: {name}", hint="`pgverdict list workloads` shows who has which"
        )
    raise unknown_word(f"parameter of {of}", name, known)
