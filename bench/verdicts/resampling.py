"""How often runs of equal servers end in a difference: thousands made up from their rounds, and those that were
measured, in their sequence. The product's own functions make and judge them (`judge.resampling`). Pure but for the
random generator it is given.

What comes of the sequence is lost in made-up runs; it is looked at in the sequence as it was (`cut`,
`noise.neighbours`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgverdict.judge.decide import ROUNDS_MIN
from pgverdict.judge.resampling import Series, first_ends, made_up_runs, take_apart
from pgverdict.judge.resolving import Rate, rate
from pgverdict.judge.verdict import Outcome

from .figures import series
from .recorded import Round


@dataclass(frozen=True)
class Alarms:
    """What runs of equal servers ended with."""

    false_verdicts: Rate
    """Ended SLOWER or FASTER: the interval excluded no change before it fitted into the margin."""
    ever_different: Rate
    """The interval excluded no change at some look, whatever had been said before."""
    same: Rate
    rounds_p50: float | None
    """Half of the runs have a verdict after so many rounds; None if fewer than half come to one."""


def resampled(
    rounds: Sequence[Round],
    name: str,
    *,
    alpha: float,
    margin: float,
    runs: int,
    length: int,
    random: np.random.Generator,
) -> Alarms | None:
    """Made-up runs of `length` rounds, roles flipped by lot; None where orders cannot be told from the effect."""
    fitted = take_apart(series(rounds, name))
    if fitted is None:
        return None
    made = list(made_up_runs(random, fitted, runs=runs, rounds=length, flip=True))
    return _alarms(made, alpha=alpha, margin=margin)


def cut(stretches: Sequence[Sequence[Round]], name: str, *, alpha: float, margin: float) -> Alarms | None:
    """What was measured in one run, as a run: neither shuffled nor flipped. None where no run is long enough."""
    runs = [one for stretch in stretches if (one := series(stretch, name)).log_ratios.size >= ROUNDS_MIN]
    groups = [Series(one.log_ratios[None, :], one.orders, name) for one in runs]
    return _alarms(groups, alpha=alpha, margin=margin) if groups else None


def _alarms(groups: Sequence[Series], *, alpha: float, margin: float) -> Alarms:
    ends = first_ends(iter(groups), alpha=alpha, margin=margin)
    # Without a margin nothing but an excluded no change ends a run.
    different = first_ends(iter(groups), alpha=alpha, margin=0.0)
    made = len(ends.outcomes)
    return Alarms(
        false_verdicts=rate(ends.count(Outcome.SLOWER, Outcome.FASTER), made),
        ever_different=rate(different.count(Outcome.SLOWER, Outcome.FASTER), made),
        same=rate(ends.count(Outcome.SAME), made),
        rounds_p50=ends.rounds_quantile(0.5),
    )
