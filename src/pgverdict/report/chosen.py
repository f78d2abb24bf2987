"""The settings that were chosen for the arms, and whose choice each was."""

from dataclasses import dataclass

from pgverdict.spec.arms import Arm, Origin
from pgverdict.spec.campaign import Campaign


@dataclass(frozen=True)
class Chosen:
    """A setting that was chosen for at least one arm. Per arm, its value and where that is from; None: left alone."""

    name: str
    values: tuple[str | None, ...]
    origins: tuple[str | None, ...]


def chosen_settings(campaign: Campaign) -> tuple[Chosen, ...]:
    """By name."""
    arms = campaign.arms
    names = sorted({name for arm in arms for name, _ in arm.settings})
    return tuple(
        Chosen(
            name,
            tuple(dict(arm.settings).get(name) for arm in arms),
            tuple(_origin(arm, name) for arm in arms),
        )
        for name in names
    )


def _origin(arm: Arm, name: str) -> str | None:
    if name not in dict(arm.settings):
        return None
    return dict(arm.origins).get(name, Origin.GIVEN.value)
