"""In what the arms of a run differ beside what was asked: how they were built, and their settings."""

from collections.abc import Sequence
from dataclasses import dataclass

from pgverdict.records.run import ArmFacts

_MADE_WITH = ("compiler", "configure", "cflags")
"""What a build says about its making; arms that differ here differ in more than PostgreSQL."""

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


@dataclass(frozen=True)
class Difference:
    """Something in which the arms differ; None where an arm has no such thing."""

    area: str
    name: str
    values: tuple[str | None, ...]


def differences_of(arms: Sequence[ArmFacts]) -> tuple[Difference, ...]:
    """Every fact that not all arms share."""
    found = []
    for area, facts in (
        ("build", [dict(arm.build) for arm in arms]),
        ("setting", [dict(arm.settings) for arm in arms]),
    ):
        for name in sorted({name for one in facts for name in one} - _PLACES):
            told = tuple(one.get(name) for one in facts)
            if len(set(told)) > 1:
                found.append(Difference(area, name, told))
    return tuple(found)


def made_differently(differences: Sequence[Difference]) -> list[str]:
    """What of the arms' making differs."""
    return [d.name for d in differences if d.area == "build" and d.name in _MADE_WITH]
