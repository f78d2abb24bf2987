"""In what the arms of a run differ: how they were built, their settings, their defaults, where their data lay."""

from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.records.run import ArmFacts
from pgverdict.servers.facts import CLUSTER, MADE_WITH
from pgverdict.spec.arms import Arm

_PLACES = frozenset(
    {
        "config_file",
        "data_directory",
        "external_pid_file",
        "hba_file",
        "ident_file",
        "stats_temp_directory",
        "unix_socket_directories",
    }
)
"""Settings that say only where we put an arm: they always differ, and the user may not give them."""


FILE_SYSTEMS = {"data_file_system": "file system of data", "wal_file_system": "file system of WAL"}
"""Facts that are kept beside those of a build, and are about where an arm lay."""


@dataclass(frozen=True)
class Difference:
    """Something in which the arms differ; None where an arm has no such thing."""

    area: str
    name: str
    values: tuple[str | None, ...]


def differences_of(arms: Sequence[ArmFacts], asked: Sequence[Arm]) -> tuple[Difference, ...]:
    """Every fact that not all arms share; `asked` are the arms as the user wanted them."""
    found = []
    for area, facts in (
        ("build", [dict(arm.build) for arm in arms]),
        ("setting", [dict(arm.settings) for arm in arms]),
        ("directory", [_directories(arm) for arm in asked]),
    ):
        for name in sorted({name for one in facts for name in one} - _PLACES):
            told = tuple(one.get(name) for one in facts)
            if len(set(told)) > 1:
                where = "directory" if name in FILE_SYSTEMS else area
                found.append(Difference(where, FILE_SYSTEMS.get(name, name), told))
    return (*found, *changed_defaults(arms))


def changed_defaults(arms: Sequence[ArmFacts]) -> tuple[Difference, ...]:
    """The settings that several arms know with different defaults, what matters most first."""
    return tuple(one for one in _defaults(arms) if len(set(one.values) - {None}) > 1)


def known_to_some(arms: Sequence[ArmFacts]) -> tuple[str, ...]:
    """The settings that not all arms know, what matters most first."""
    return tuple(one.name for one in _defaults(arms) if None in one.values)


def made_differently(baseline: ArmFacts, candidate: ArmFacts) -> tuple[Difference, ...]:
    """Of the making of two builds and clusters, what differs that need not, were it only for their releases."""
    ours, theirs = dict(baseline.build), dict(candidate.build)
    return tuple(
        Difference("build", name, (ours[name], theirs[name]))
        for name in (*MADE_WITH, *CLUSTER)
        if name in ours and name in theirs and ours[name] != theirs[name]
    )


def _defaults(arms: Sequence[ArmFacts]) -> list[Difference]:
    known = [dict(arm.defaults) for arm in arms]
    names = dict.fromkeys(name for arm in arms for name, _ in arm.defaults)
    return [Difference("default", name, tuple(one.get(name) for one in known)) for name in names]


def _directories(arm: Arm) -> dict[str, str]:
    named = {"data": arm.data_directory, "WAL": arm.wal_directory}
    return {name: directory for name, directory in named.items() if directory is not None}
