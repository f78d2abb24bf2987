"""Pairs per round by what a calibration of this host found, where the user chose none."""

from dataclasses import dataclass, replace

from pgverdict.judge.calibration import best_pairs_of
from pgverdict.judge.levels import usable_pairs
from pgverdict.observe.host import host_facts
from pgverdict.records.run import RunRecord
from pgverdict.report.calibration import HOST_FACTS
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.store.runs import Store
from pgverdict.workloads.own import workload_of


@dataclass(frozen=True)
class Planned:
    """The campaign as it is to run, and what the user should know of it."""

    campaign: Campaign
    notes: tuple[str, ...]


def with_calibrated_pairs(campaign: Campaign, store: Store) -> Planned:
    """The number of pairs is about one kind of work: a campaign of the calibrated workload, size and clients gets it.

    Of two arms too, which is what the costs of a calibration are of, and neither confined nor cold. Several workloads
    keep what each has: one command line could not say otherwise, and must be able to do the run again.
    """
    if len(campaign.arms) != 2 or campaign.limits.any:
        return Planned(campaign, ())
    run = store.newest_calibration(dict(host_facts()), HOST_FACTS)
    if run is None or not all(_is_like(cell, run) for cell in campaign.cells):
        return Planned(campaign, ())
    best = best_pairs_of(run)
    if best is None:
        return Planned(campaign, ())
    pairs = usable_pairs(best)
    cells = tuple(replace(cell, pairs=pairs) for cell in campaign.cells)
    note = f"{pairs} pairs per round, as calibrated on {run.started[:10]} with {run.cells[0].spec.workload}"
    return Planned(replace(campaign, cells=cells), (note,))


def _is_like(cell: CellSpec, run: RunRecord) -> bool:
    calibrated = run.cells[0].spec
    # The pairs of a stream are its queries, whatever a calibration finds.
    of_streams = workload_of(cell).streams is not None
    return cell.pairs is None and cell.key == calibrated.key and not of_streams
