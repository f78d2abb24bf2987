"""How many nanoseconds per message an injected share is, and what share it turned out to be. Pure.

A share is one of the time that the primary metric speaks of: 2 % of the median, of the mean, of the 99th percentile.
Throughput speaks of the core's time per transaction: where more clients than cores keep all cores busy, a client
waits for the others on its core, and a delay of its own delays them too. With one client both are the same.
"""

import math
from collections.abc import Sequence
from statistics import fmean, median

from .recorded import Cell, Round


def base_us(value: float, cell: Cell) -> float:
    """The time that a value of the cell's primary metric speaks of."""
    return cell.threads * 1e6 / value if cell.primary == "tps" else value


def handicap_ns(share: float, cell: Cell, rounds: Sequence[Round]) -> int:
    """The delay per message that slows the primary by `share`, from rounds of equal servers."""
    found = [base_us(one, cell) for r in rounds for one in r.values[cell.primary][:2]]
    messages = median(r.messages for r in rounds if r.messages)
    return round(share * math.exp(fmean(map(math.log, found))) * 1e3 / messages)


def injected_log_ratio(cell: Cell, rounds: Sequence[Round]) -> float:
    """The log ratio, as a time, that was really injected: what was spun, held against the baseline beside it.

    NaN where nothing was counted. The baseline's shim counts and does not spin.
    """
    shares = [
        math.log1p((r.spun_us[1] - r.spun_us[0]) / base_us(r.values[cell.primary][0], cell))
        for r in rounds
        if r.spun_us is not None and cell.primary in r.values
    ]
    return fmean(shares) if shares else math.nan
