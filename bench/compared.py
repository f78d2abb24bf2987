"""A goal with what was measured of two programs, repetition by repetition. Pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Generic, TypeVar

CaseT = TypeVar("CaseT")
GoalT = TypeVar("GoalT")


@dataclass(frozen=True)
class Compared(Generic[CaseT, GoalT]):
    """Medians over repetitions of both programs, and the repetitions' ratios, ours / theirs."""

    case: CaseT
    goal: GoalT
    ours: float
    theirs: float
    ratio: float
    lowest: float
    highest: float
    repetitions: int


def compared(
    case: CaseT, goal: GoalT, ours: Mapping[int, float], theirs: Mapping[int, float]
) -> Compared[CaseT, GoalT] | None:
    """From a figure by the number of the repetition; one that a program lacks is left out, and None is left of none."""
    both = sorted(ours.keys() & theirs.keys())
    if not both:
        return None
    ratios = [ours[number] / theirs[number] if theirs[number] else math.nan for number in both]
    return Compared(
        case,
        goal,
        median(ours[number] for number in both),
        median(theirs[number] for number in both),
        median(ratios),
        min(ratios),
        max(ratios),
        len(both),
    )
