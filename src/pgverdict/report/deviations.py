"""Settings of a cell that its arms' builds cannot follow, so that the cell is not what was asked for."""

from collections.abc import Mapping

from pgverdict.records.run import CellRecord, RunRecord
from pgverdict.report import words
from pgverdict.spec.campaign import settings_in

_NEEDS: Mapping[tuple[str, str], str] = {
    ("jit", "on"): "llvm",
    ("jit", "true"): "llvm",
    ("jit", "1"): "llvm",
}
"""Settings that a server takes without a word, whatever it was built with, and the fact of its build that they need.
wal_compression = zstd and the like are refused where they cannot be had."""


def deviation_notes(run: RunRecord, cell: CellRecord, candidate: int) -> tuple[str, ...]:
    """Of baseline and candidate: 'deviates: jit = on does nothing on 11.5 and 12.0, built without llvm'."""
    without: dict[tuple[str, str, str], list[str]] = {}
    for arm in (0, candidate):
        built = dict(run.arms[arm].build)
        for name, value in settings_in(run.campaign.arms[arm], cell.spec):
            fact = _NEEDS.get((name, value.lower()))
            if fact is not None and built.get(fact) == "no":
                without.setdefault((name, value, fact), []).append(words.arm_label(run.arms[arm]))
    return tuple(
        f"deviates: {name} = {value} does nothing on {words.listed(labels)}, built without {fact}"
        for (name, value, fact), labels in without.items()
    )
