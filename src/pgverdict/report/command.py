"""The command line that measures a run again."""

import shlex
from dataclasses import fields, replace
from decimal import Decimal

from pgverdict.records.run import RunRecord
from pgverdict.spec.arms import Arm, name_arms, spell_arms
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign, Written
from pgverdict.spec.confinement import spell_cores, spell_size
from pgverdict.spec.own import OwnWork
from pgverdict.spec.parameters import Chosen, spell
from pgverdict.spec.tuning import Tuning


def compare_command(run: RunRecord) -> str:
    """With the servers, workloads, settings, seed and budget of the run; what is the default is left out.

    All workloads, since they share the budget and the error probability: a cell alone would be judged otherwise.
    """
    campaign = run.campaign
    if campaign.written is not None:
        return _run_command(campaign, campaign.written)
    shape = {(c.scale, c.clients, c.primary, c.pairs, c.cache) for c in campaign.cells}
    assert len(shape) == 1, f"no command measures cells of several shapes: {shape}"
    ((scale, clients, primary, pairs, cache),) = shape
    defaults = {field.name: field.default for field in fields(Campaign)}
    # What is measured again, with the names that arms were given.
    servers = spell_arms([(arm.name, arm.server) for arm in run.arms], [arm.exact for arm in run.arms])
    words = ["pgverdict", "compare", *servers]
    for workload, own in dict.fromkeys((cell.workload, cell.own) for cell in campaign.cells):
        words += ["--workload", workload] if own is None else _own(own)
    if any(cell.regime for cell in campaign.cells):
        for regime in dict.fromkeys(cell.regime for cell in run.cells):
            words += ["--regime", regime]
    for name, value in _parameters(campaign):
        words += ["--parameter", f"{name}={spell(value)}"]
    words += ["--scale", str(scale), "--clients", str(clients)]
    if primary is not None:
        words += ["--primary", primary]
    if pairs is not None:
        words += ["--pairs", str(pairs)]
    if cache is not Cache.WARM:
        words += ["--cache", cache.value]
    names = name_arms(servers)
    if campaign.defaults != defaults["defaults"]:
        words += ["--as", campaign.defaults.value]
    if campaign.tuning is not None:
        words += _tuning(campaign.tuning)
    for setting in _settings(tuple(_as_given(arm) for arm in campaign.arms), names):
        words += ["--set", setting]
    for called, arm in zip(names, campaign.arms, strict=True):
        for option, directory in (
            ("--data-directory", arm.data_directory),
            ("--wal-directory", arm.wal_directory),
        ):
            words += [option, f"{called}:{directory}"] if directory else []
    if campaign.debug_builds:
        words += ["--allow-debug-builds"]
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
    if campaign.event_loop != defaults["event_loop"]:
        words += ["--event-loop", campaign.event_loop.value]
    words += _confinement(campaign)
    words += ["--budget", _duration(campaign.budget_s), "--seed", str(campaign.seed)]
    return shlex.join(words)


def _run_command(campaign: Campaign, written: Written) -> str:
    """With the options that the run had; the file says the rest, and the releases that it names."""
    words = ["pgverdict", "run", written.path, *written.options]
    return shlex.join([*words, "--budget", _duration(campaign.budget_s), "--seed", str(campaign.seed)])


def _own(own: OwnWork) -> list[str]:
    """By the files it was read from: what they say now is what the command measures."""
    words = []
    for script in own.scripts:
        plain = script.weight == 1 and "@" not in script.path
        words += ["--script", script.path if plain else f"{script.path}@{script.weight}"]
    for option, file in (("--schema", own.schema), ("--load", own.load), ("--dump", own.dump)):
        words += [option, file.path] if file else []
    words += ["--read-only"] * own.read_only + ["--long"] * own.long
    return words + [word for risk in own.allow for word in ("--allow", risk)]


def _parameters(campaign: Campaign) -> Chosen:
    """The parameters of all cells: each goes to every workload that knows it, so one value is all there can be."""
    chosen = sorted({pair for cell in campaign.cells for pair in cell.parameters})
    names = [name for name, _ in chosen]
    assert len(set(names)) == len(names), f"no command gives a parameter two values: {chosen}"
    return tuple(chosen)


def _tuning(tuning: Tuning) -> list[str]:
    """With what it was tuned to: the run may be repeated on another host."""
    return [
        *("--tune", tuning.use.value),
        *("--tune-memory", f"{tuning.memory_bytes >> 10}kB"),
        *("--tune-cores", str(tuning.cores)),
        *("--tune-disk", tuning.disk.value),
    ]


def _as_given(arm: Arm) -> Arm:
    """Without the settings that follow from other options."""
    return replace(arm, settings=arm.given)


def _confinement(campaign: Campaign) -> list[str]:
    words = []
    if campaign.memory_bytes is not None:
        words += ["--memory", spell_size(campaign.memory_bytes)]
    for option, cores in (("--cores", campaign.cores), ("--engine-cores", campaign.engine_cores)):
        if cores is not None:
            words += [option, spell_cores(cores)]
    return words


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
