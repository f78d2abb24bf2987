"""What shipped and aligned mean: which defaults changed, and what every arm is given so that none has.

The defaults come from the builds themselves; no list of PostgreSQL's changes is kept here.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pgverdict.plan.defaults import Default

Settings = Mapping[str, Default]
"""The settings of a build by name."""

_FIRST = ("Preset Options", "Resource Usage", "Write-Ahead Log", "Query Tuning", "Vacuuming", "Autovacuum")
"""Headings whose settings decide how fast a server is, most of all first; connections, reports and such come after."""


@dataclass(frozen=True)
class Changed:
    """A setting whose default is not the same on all arms that know it.

    `values`: per arm, as a configuration file has it; None where the arm does not know the setting.
    """

    name: str
    values: tuple[str | None, ...]


@dataclass(frozen=True)
class Aligned:
    """What an arm is given: name to value; and what it cannot be given: name to reason."""

    settings: Mapping[str, str]
    refused: Mapping[str, str]


def changed_defaults(builds: Sequence[Settings]) -> tuple[Changed, ...]:
    """Every setting whose default differs between arms that know it, what matters most first."""
    found = []
    for name in _choices(builds):
        known = [build.get(name) for build in builds]
        first, *others = (one for one in known if one is not None)
        if not all(one.same_as(first) for one in others):
            found.append(Changed(name, tuple(None if one is None else one.written for one in known)))
    return tuple(sorted(found, key=lambda changed: (_rank(changed.name, builds), changed.name)))


def known_to_some(builds: Sequence[Settings]) -> tuple[str, ...]:
    """The settings that some arms know and others do not: there is nothing to align, they stay as shipped."""
    names = [name for name in _choices(builds) if not all(name in build for build in builds)]
    return tuple(sorted(names, key=lambda name: (_rank(name, builds), name)))


def align(builds: Sequence[Settings], taken: Sequence[Collection[str]]) -> tuple[Aligned, ...]:
    """Per arm, the baseline's default for every setting whose default changed and that both know.

    `taken`: per arm, the settings that have been chosen otherwise.
    """
    baseline = builds[0]
    names = [changed.name for changed in changed_defaults(builds) if changed.name in baseline]
    made = []
    for build, own in zip(builds, taken, strict=True):
        settings: dict[str, str] = {}
        refused: dict[str, str] = {}
        for name in names:
            if name not in build or name in own:
                continue
            reason = baseline[name].refusal(build[name])
            if reason is None:
                settings[name] = baseline[name].written_for(build[name])
            else:
                refused[name] = reason
        made.append(Aligned(settings, refused))
    return tuple(made)


def _choices(builds: Sequence[Settings]) -> set[str]:
    """The names of what a user may choose; where files lie is the build's own matter."""
    known = [default for build in builds for default in build.values()]
    places = {default.name for default in known if default.is_place}
    return {default.name for default in known if default.settable} - places


def _rank(name: str, builds: Sequence[Settings]) -> int:
    group = next(build[name].group for build in reversed(builds) if name in build)
    return next((rank for rank, first in enumerate(_FIRST) if group.startswith(first)), len(_FIRST))
