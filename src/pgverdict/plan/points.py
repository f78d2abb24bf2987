"""The axes of a workload's table in a campaign file, multiplied: one point for every cell, as the file says it."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from pgverdict.errors import UserError, unknown_word
from pgverdict.plan.point import AXES, Point, spelled_value
from pgverdict.plan.smaller import Smaller
from pgverdict.spec.document import Document
from pgverdict.spec.file import Axes, DefaultsTable, WorkloadTable
from pgverdict.spec.own import OwnWork
from pgverdict.spec.parameters import Parameter
from pgverdict.spec.regime import CHOSEN_REGIMES
from pgverdict.workloads import catalogue
from pgverdict.workloads.own import own_regime, parameters_of

_SETTING, _PARAMETER = "settings.", "parameters."


Work = tuple[str, OwnWork | None]
"""What a point works: its name, and the user's own work if it is that, else it is of the catalogue."""


def points_of(document: Document, own: Mapping[int, OwnWork], made: Smaller | None) -> list[Point]:
    """All points of all workloads but the excluded ones; UserError for an exclusion that excludes nothing.

    `own`: the user's own work, by the number of its [[workload]].
    """
    works = [_works(number, table, own) for number, table in enumerate(document.tables.workload)]
    _require_known_parameters(document, works)
    if made is not None:
        _require_places(document)
    points = [
        point
        for number, table in enumerate(document.tables.workload)
        for point in _multiplied(document, number, table, works[number], made)
    ]
    kept = points
    for place, exclusion in _exclusions(document, made):
        with document.at(*place):
            _require_known(exclusion, points)
            left = [p for p in kept if not all(p.has(name, values) for name, values in exclusion.items())]
            # What excludes cells of the whole campaign may find nothing in the small one.
            if len(left) == len(kept) and (made is None or place[0] == "small"):
                raise UserError("no cell has all these values", hint="`--dry-run` without it lists the cells")
            kept = left
    if not kept:
        with document.at("exclude"):
            raise UserError("nothing is left to measure", hint="exclude less")
    return kept


def _exclusions(
    document: Document, made: Smaller | None
) -> list[tuple[tuple[str | int, ...], Mapping[str, Sequence[Any]]]]:
    """Those of the campaign and, of a small one, its own; with their places in the file."""
    tables = document.tables
    return [
        *((("exclude", number), one) for number, one in enumerate(tables.exclude)),
        *((("small", "exclude", number), one) for number, one in enumerate(made.exclude if made else ())),
    ]


def _works(number: int, table: WorkloadTable, own: Mapping[int, OwnWork]) -> tuple[Work, ...]:
    if number in own:
        return ((own[number].name, own[number]),)
    assert table.name is not None, "a table without own work has a name"
    return tuple((name, None) for name in table.name)


def known_parameters(work: Work) -> tuple[Parameter, ...]:
    """Those that may be chosen of it. UserError for a name that no workload has."""
    name, own = work
    return catalogue.parameters(name) if own is None else parameters_of(own)


def _require_known_parameters(document: Document, works: Sequence[Sequence[Work]]) -> None:
    """A parameter that none of the workloads knows which it is said of."""
    tables = document.tables
    everything = [work for of_table in works for work in of_table]
    said: list[tuple[tuple[str | int, ...], Axes, Sequence[Work]]] = [
        (("workload", number), table, works[number]) for number, table in enumerate(tables.workload)
    ]
    for place, table, these in [*said, (("defaults",), tables.defaults, everything)]:
        names = [name for name, _ in these]
        known: set[str] = set()
        for work in these:
            with document.at(*place, "name"):
                known |= {parameter.name for parameter in known_parameters(work)}
        wanted = dict.fromkeys(table.parameters, "parameters")
        wanted |= {"partitions": "partitions"} if table.partitions is not None else {}
        for name, key in wanted.items():
            with document.at(*place, key, *([name] if key == "parameters" else [])):
                if name not in known:
                    whose = " and ".join(dict.fromkeys(names))
                    if not known:
                        raise UserError(f"{whose} has no parameters: {name}", hint="leave it out")
                    raise unknown_word(f"parameter of {whose}", name, known)


def _require_places(document: Document) -> None:
    """An axis of [small] takes the place of one that a workload has, else it would do nothing."""
    tables = document.tables
    if tables.small is None:
        return
    there = {name for table in (tables.defaults, *tables.workload) for name in _said(table)}
    there |= {"scale", "size"} if there & {"scale", "size"} else set()
    for name, values in _said(tables.small).items():
        # A setting with one value is one of the campaign's (`Smaller.settings`).
        if name not in there and not (name.startswith(_SETTING) and len(values) == 1):
            with document.at("small", *name.split(".")):
                raise UserError(
                    f"no workload has {name.rpartition('.')[2]}, so a small one takes the place of nothing",
                    hint="write in [defaults] what it is when the campaign is whole",
                )


def _require_known(exclusion: Mapping[str, Any], points: Sequence[Point]) -> None:
    known = {"workload", *AXES} | {name for p in points for name, _ in (*p.settings, *p.parameters)}
    if not exclusion:
        raise UserError(
            "an exclusion without values would exclude everything", hint="write workload or an axis"
        )
    for name in exclusion:
        if name not in known:
            raise unknown_word("axis", name, known)


def _multiplied(
    document: Document, number: int, table: WorkloadTable, works: Sequence[Work], made: Smaller | None
) -> list[Point]:
    place = ("workload", number)
    with document.at(*place):
        _require_one_size(table)
    with document.at("defaults"):
        _require_one_size(document.tables.defaults)
    axes = _axes(document.tables.defaults, table, made)
    fixed = {
        name: value
        for name in ("primary", "pairs")
        if (value := _either(table, document.tables.defaults, name)) is not None
    }
    variants = table.variants or document.tables.defaults.variants or ({},)
    with document.at(*place, "variants"):
        _require_even(variants)
    found = []
    for work in works:
        with document.at(*place, "name"):
            its_own = _of_workload(work, axes, _said(table) if len(works) == 1 else {})
        for variant in variants:
            for values in itertools.product(*its_own.values()):
                found.append(_point(number, work, variant, dict(zip(its_own, values, strict=True)), fixed))
    return found


def _of_workload(
    work: Work, axes: Mapping[str, Sequence[Any]], its_own: Mapping[str, Sequence[Any]]
) -> dict[str, Sequence[Any]]:
    """What is said of several workloads, or in the defaults, is for those that know it; what is not, stays to be
    refused."""
    name, own = work
    known = {f"{_PARAMETER}{parameter.name}" for parameter in known_parameters(work)}
    has_regimes = (own_regime(own) if own else catalogue.workload(name).regime) in CHOSEN_REGIMES
    return {
        axis: values
        for axis, values in axes.items()
        if axis in its_own
        or (
            not (axis == "regime" and not has_regimes)
            and not (axis.startswith(_PARAMETER) and axis not in known)
        )
    }


def _point(
    table: int,
    work: Work,
    variant: Mapping[str, Any],
    chosen: Mapping[str, Any],
    fixed: Mapping[str, Any],
) -> Point:
    settings = {key.removeprefix(_SETTING): v for key, v in chosen.items() if key.startswith(_SETTING)}
    parameters = {key.removeprefix(_PARAMETER): v for key, v in chosen.items() if key.startswith(_PARAMETER)}
    name, own = work
    return Point(
        table,
        name,
        own=own,
        settings=tuple((key.lower(), spelled_value(value)) for key, value in {**settings, **variant}.items()),
        parameters=tuple(sorted(parameters.items())),
        **{key: value for key, value in chosen.items() if key in AXES},
        **fixed,
    )


def _axes(defaults: DefaultsTable, table: WorkloadTable, made: Smaller | None) -> dict[str, Sequence[Any]]:
    """Name to values, the slowest first: cells that share data stand together."""
    axes: dict[str, Sequence[Any]] = {**_said(defaults)}
    own = _said(table)
    if "scale" in own or "size" in own:
        axes = {name: values for name, values in axes.items() if name not in ("scale", "size")}
    axes |= own
    if made is not None:
        axes = made.axes(axes, _said(made.table) if made.table else {})
    order = {name: rank for rank, name in enumerate(("scale", "size", "cache", "regime", "clients"))}
    return dict(sorted(axes.items(), key=lambda axis: order.get(axis[0], -1)))


def _said(table: Axes) -> dict[str, Sequence[Any]]:
    found: dict[str, Sequence[Any]] = {
        name: getattr(table, name) for name in AXES if getattr(table, name) is not None
    }
    if table.partitions is not None:
        found[f"{_PARAMETER}partitions"] = table.partitions
    found |= {f"{_PARAMETER}{name}": values for name, values in table.parameters.items()}
    return found | {f"{_SETTING}{name}": values for name, values in table.settings.items()}


def _either(table: WorkloadTable, defaults: DefaultsTable, name: str) -> Any:
    own = getattr(table, name)
    return own if own is not None else getattr(defaults, name)


def _require_one_size(table: Axes) -> None:
    if table.scale is not None and table.size is not None:
        raise UserError("a cell has a scale or a size, not both", hint="use one of them")


def _require_even(variants: Sequence[Mapping[str, Any]]) -> None:
    """Variants that say nothing of a setting that others say would leave open what it is there."""
    names = [set(variant) for variant in variants]
    if any(one != names[0] for one in names):
        missing = sorted({name for one in names for name in one ^ names[0]})
        raise UserError(
            f"all variants must say the same settings; not all say {', '.join(missing)}",
            hint="write the default where nothing else is meant",
        )
