"""What servers had of memory and cores, and what was in memory when they were measured: as notes."""

from collections.abc import Mapping, Sequence
from statistics import median

from pgverdict.records.round import ArmRecord
from pgverdict.records.run import CellRecord
from pgverdict.report import words
from pgverdict.servers.space import show_bytes
from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Campaign
from pgverdict.spec.confinement import spell_cores, spell_size


def confinement_notes(campaign: Campaign) -> tuple[str, ...]:
    """Of a run: what every server was confined to, and what the engine had for itself; none where nothing was."""
    notes = []
    limits = [f"{spell_size(campaign.memory_bytes)} of memory"] if campaign.memory_bytes is not None else []
    if campaign.cores is not None:
        limits.append(_cores(campaign.cores))
    if limits:
        swap = ", page cache included and without swap" if campaign.memory_bytes is not None else ""
        notes.append(f"every server was confined to {words.listed(limits)}{swap}")
    if campaign.engine_cores is not None:
        notes.append(
            f"the load engine had {_cores(campaign.engine_cores)} for itself: clients and their server processes woke"
            " each other across cores"
        )
    return tuple(notes)


def cache_notes(cell: CellRecord, arms: Mapping[int, str]) -> tuple[str, ...]:
    """Of a cell: what of its data was in memory. `arms` are those it is about, and how they are called."""
    seen = {name: [a for r in cell.measured for a in r.arms if a.arm == arm] for arm, name in arms.items()}
    if not cell.measured:
        return ()
    if cell.spec.cache is Cache.COLD:
        return (_cold(seen),)
    took_s = [arm.turnover_s for records in seen.values() for arm in records if arm.turnover_s is not None]
    if took_s:
        ends = " to ".join(dict.fromkeys(words.duration(end) for end in (min(took_s), max(took_s))))
        return (
            "the data was larger than the memory of its server: every round warmed each arm up until its reads from"
            f" storage fell no further, for {ends}; {_read(seen)}",
        )
    if any(arm.storage_read_bytes for r in cell.measured for arm in r.arms):
        return ("storage was read while slices ran: the data was not all in memory",)
    return ()


def huge_page_notes(cell: CellRecord, arms: Mapping[int, str]) -> tuple[str, ...]:
    """Of a cell: whether shared memory was in huge pages, above all where in some rounds only; mostly nothing."""
    seen = {
        name: [a.huge_pages for r in cell.measured for a in r.arms if a.arm == arm]
        for arm, name in arms.items()
    }
    had = {name: (sum(map(bool, told)), len(told)) for name, told in seen.items()}
    if not any(count for count, _ in had.values()):
        return ()
    if all(count == rounds for count, rounds in had.values()):
        return ("shared memory was in huge pages",)
    told = words.listed(f"{name} in {count} of {rounds} rounds" for name, (count, rounds) in had.items())
    return (
        f"shared memory was in huge pages for {told}: rounds are not of one kind, which huge_pages=on or off mends",
    )


def _cold(seen: Mapping[str, Sequence[ArmRecord]]) -> str:
    each = {round(median(a.transactions + a.failed for a in records)) for records in seen.values()}
    counts = " to ".join(f"{count:,}" for count in sorted({min(each), max(each)}))
    return (
        f"cold: every round began with nothing of its data in memory, and ended after {counts} transactions of each"
        f" arm; {_read(seen)}"
    )


def _read(seen: Mapping[str, Sequence[ArmRecord]]) -> str:
    """'17.11 read 12 MB from storage per round and 18.1 read 13 MB'."""
    typical = {name: median(arm.storage_read_bytes or 0 for arm in records) for name, records in seen.items()}
    told = words.listed(f"{name} read {show_bytes(round(read))}" for name, read in typical.items())
    return f"{told} from storage per round"


def _cores(cores: Sequence[int]) -> str:
    return f"core{'s' if len(cores) > 1 else ''} {spell_cores(cores)}"
