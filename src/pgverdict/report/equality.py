"""What has to be said about how equal the arms are but for what is compared: their builds, defaults, settings."""

from collections.abc import Iterator

from pgverdict.records.run import ArmFacts, RunRecord
from pgverdict.report import words
from pgverdict.report.differences import Difference, changed_defaults, known_to_some, made_differently
from pgverdict.spec.arms import Origin
from pgverdict.spec.campaign import Defaults
from pgverdict.spec.spelling import Image, Outside, read_spelling, whereabouts
from pgverdict.spec.tuning import Tuning

_NAMED_MAX = 3
"""So many are named in a sentence; the report in HTML, Markdown and JSON has all."""

_LISTS = ("flags", "options")
"""Facts that are several, of which only some differ as a rule."""


def equality_notes(run: RunRecord) -> Iterator[str]:
    """Sentences without a full stop."""
    yield from _whereabouts(run)
    yield from _builds(run)
    yield from _defaults(run)
    if run.campaign.tuning is not None:
        yield _tuned(run, run.campaign.tuning)


def _whereabouts(run: RunRecord) -> Iterator[str]:
    """Servers that somebody else runs, beside others."""
    kinds = [_kind(arm) for arm in run.arms]
    where = [whereabouts(arm.server) for arm in run.arms]
    for candidate, kind, place in zip(run.arms[1:], kinds[1:], where[1:], strict=True):
        if place != where[0]:
            places = words.listed(
                f"{words.arm_label(arm)} {its or 'was started on this host'}"
                for arm, its in ((run.arms[0], kinds[0]), (candidate, kind))
            )
            yield (
                f"{places}: what their hosts, the way to them and their settings do is in every effect, beside what"
                " PostgreSQL does"
            )


def _kind(arm: ArmFacts) -> str | None:
    match read_spelling(arm.server):
        case Outside():
            return "is run by somebody else"
        case Image():
            return "ran in a container"
    return None


def _builds(run: RunRecord) -> Iterator[str]:
    baseline, *candidates = run.arms
    for candidate in candidates:
        if unlike := made_differently(baseline, candidate):
            ours, theirs = words.arm_label(baseline), words.arm_label(candidate)
            said = words.listed(_unlike(one) for one in unlike)
            yield (
                f"{theirs} was not built as {ours} was: {said}; an effect may come from that rather than from"
                " PostgreSQL"
            )


def _defaults(run: RunRecord) -> Iterator[str]:
    changed, some = changed_defaults(run.arms), known_to_some(run.arms)
    aligned = run.campaign.defaults is Defaults.ALIGNED
    if changed:
        verb = "differs" if len(changed) == 1 else "differ"
        told = _few([_told(one) for one in changed])
        said = f"{words.count(len(changed), 'default')} {verb} between the arms ({told})"
        ours = all(whereabouts(arm.server) is None for arm in run.arms)
        hint = "; `--as aligned` gives all of them the baseline's" if ours else ""
        own = f"each arm has its own{hint}"
        same = f"arms have the default of {words.arm_label(run.arms[0])}, where nothing else was chosen"
        yield f"{said}: {same if aligned else own}"
    elif aligned:
        yield "no default differs between the arms: there was nothing to align"
    if aligned and some:
        yield (
            f"{words.count(len(some), 'setting')} that not all arms know"
            f" {'is' if len(some) == 1 else 'are'} as shipped: {_few(list(some))}"
        )


def _told(changed: Difference) -> str:
    """'jit off / on'."""
    values = ("unknown" if value is None else value or "empty" for value in changed.values)
    return f"{changed.name} {' / '.join(values)}"


def _tuned(run: RunRecord, tuning: Tuning) -> str:
    made = (pair for arm in run.campaign.arms for pair in arm.origins)
    names = list(dict.fromkeys(name for name, origin in made if origin == Origin.TUNED.value))
    return (
        f"tuned for {tuning.use.value} with {tuning.memory_bytes / (1 << 30):.3g} GB of memory,"
        f" {words.count(tuning.cores, 'core')} and data on {tuning.disk.value}:"
        f" {words.count(len(names), 'setting')}{': ' if names else ''}{_few(names)}"
    )


def _few(names: list[str]) -> str:
    rest = len(names) - _NAMED_MAX
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:_NAMED_MAX])} and {rest} more"


def _unlike(one: Difference) -> str:
    """'compiler gcc 13 instead of gcc 9'; of a list of flags only those that differ."""
    name = one.name.replace("_", " ")
    ours, theirs = (value or "" for value in one.values)
    if one.name not in _LISTS:
        return f"{name} {theirs or 'none'} instead of {ours or 'none'}"
    more, fewer = (_without(theirs, ours), _without(ours, theirs))
    return " ".join([name, *(["with", more] if more else []), *(["without", fewer] if fewer else [])])


def _without(flags: str, others: str) -> str:
    return " ".join(flag for flag in flags.split() if flag not in others.split())
