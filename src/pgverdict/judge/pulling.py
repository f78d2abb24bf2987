"""Rounds that lie far out, pulled in before a typical metric is estimated.

Now and then a start lands ten standard deviations from the others, as if the host had given one arm a slow core for a
second. Least squares lets such a round widen the interval of forty others. A typical metric asks what most rounds
say, so there a round beyond REACH standard deviations counts as one at REACH: it still says "slower", and no longer
how much.

The standard deviation is told by the inner rounds, those within the INNER quantile of the distances from the median,
as of a normal sample. It is the quantile of so many that two separate modes are hardly mistaken for outliers. With
fewer than ROUNDS_MIN rounds nothing is pulled. Equal arms scatter alike to both sides, whatever the scatter is like,
so that pulling in moves their estimate nowhere; what it does to error probabilities is simulated
(docs/statistics.md#pulled-in).

    >>> bool(pull_in(np.array([-1, 0, 1] * 5 + [50.0]))[-1] < 5)
    True

After P. J. Huber, Robust statistics (1981), and J. W. Tukey, who called pulling in "winsorizing".
"""

import numpy as np

from pgverdict.judge.estimate import FloatArray
from pgverdict.spec.metrics import metric

ROUNDS_MIN = 10
INNER = 0.9
REACH = 4.0

_NORMAL_INNER = 1.6448536269514722
"""How far nine tenths of a normal sample lie from its middle, in standard deviations."""


def as_judged(name: str, log_ratios: FloatArray) -> FloatArray:
    """The rounds' log ratios of a metric, as they enter its estimate. The last axis runs over rounds."""
    return pull_in(log_ratios) if metric(name).typical else log_ratios


def pull_in(log_ratios: FloatArray) -> FloatArray:
    """The same with no value beyond the reach. The last axis runs over rounds; each row is pulled by itself."""
    if log_ratios.shape[-1] < ROUNDS_MIN:
        return log_ratios
    middle = np.median(log_ratios, axis=-1, keepdims=True)
    inner = np.quantile(np.abs(log_ratios - middle), INNER, axis=-1, keepdims=True)
    reach = REACH / _NORMAL_INNER * inner
    return np.clip(log_ratios, middle - reach, middle + reach)
