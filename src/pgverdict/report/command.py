"""The command line that measures a run again."""

import shlex
from dataclasses import fields
from decimal import Decimal

from pgverdict.records.run import ArmFacts, RunRecord
from pgverdict.report.words import is_exactly
from pgverdict.spec.campaign import Arm, Campaign, name_arms


def compare_command(run: RunRecord) -> str:
    """With the servers, workloads, settings, seed and budget of the run; what is the default is left out.

    All workloads, since they share the budget and the error probability: a cell alone would be judged otherwise.
    """
    campaign = run.campaign
    shape = {(cell.scale, cell.clients, cell.partitions, cell.primary, cell.pairs) for cell in campaign.cells}
    assert len(shape) == 1, f"no command measures cells of several shapes: {shape}"
    ((scale, clients, partitions, primary, pairs),) = shape
    assert not partitions, f"no command makes partitions: {partitions}"
    defaults = {field.name: field.default for field in fields(Campaign)}
    servers = tuple(_exact(arm) for arm in run.arms)
    words = ["pgverdict", "compare", *servers]
    for workload in dict.fromkeys(cell.workload for cell in campaign.cells):
        words += ["--workload", workload]
    if any(cell.regime for cell in campaign.cells):
        for regime in dict.fromkeys(cell.regime for cell in run.cells):
            words += ["--regime", regime]
    words += ["--scale", str(scale), "--clients", str(clients)]
    if primary is not None:
        words += ["--primary", primary]
    if pairs is not None:
        words += ["--pairs", str(pairs)]
    names = name_arms(servers)
    for setting in _settings(campaign.arms, names):
        words += ["--set", setting]
    for called, arm in zip(names, campaign.arms, strict=True):
        if arm.handicap_ns:
            words += ["--handicap", f"{called}:{arm.handicap_ns}"]
    if campaign.margin != defaults["margin"]:
        words += ["--margin", _percentage(campaign.margin)]
    if campaign.confidence != defaults["confidence"]:
        words += ["--confidence", _percentage(campaign.confidence)]
    if campaign.rounds is not None:
        words += ["--rounds", str(campaign.rounds)]
    if campaign.freeze != defaults["freeze"]:
        words += ["--freeze", campaign.freeze.value]
    if campaign.placement != defaults["placement"]:
        words += ["--placement", campaign.placement.value]
    words += ["--budget", _duration(campaign.budget_s), "--seed", str(campaign.seed)]
    return shlex.join(words)


def _exact(arm: ArmFacts) -> str:
    """17 was the newest 17.x on that day; the very release is what reproduces the run."""
    return arm.version if is_exactly(arm) else arm.server


def _settings(arms: tuple[Arm, ...], names: tuple[str, ...]) -> list[str]:
    """What all arms have, what the baseline or all candidates have, what one of several candidates has.

    `names` are what the arms are called in the command, which may spell releases otherwise.
    """
    baseline, *candidates = arms
    by_all_candidates = set.intersection(*(set(arm.settings) for arm in candidates))
    shared = by_all_candidates & set(baseline.settings)
    own = by_all_candidates - shared
    said = [f"{name}={value}" for name, value in baseline.settings if (name, value) in shared]
    said += [f"baseline:{name}={value}" for name, value in baseline.settings if (name, value) not in shared]
    said += [f"candidate:{name}={value}" for name, value in candidates[0].settings if (name, value) in own]
    return said + [
        f"{called}:{name}={value}"
        for called, arm in zip(names[1:], candidates, strict=True)
        for name, value in arm.settings
        if (name, value) not in by_all_candidates
    ]


def _percentage(fraction: float) -> str:
    return f"{(Decimal(repr(fraction)) * 100).normalize():f}%"


def _duration(seconds: float) -> str:
    for unit, length in (("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds / length:.0f}{unit}"
    return f"{Decimal(repr(seconds)).normalize():f}s"
