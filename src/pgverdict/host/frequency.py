"""How fast the cores run: who chooses their clock, and how far it may go."""

from collections import Counter
from dataclasses import dataclass

from pgverdict.host.advice import Advice, Change, fine, not_known, note, warning
from pgverdict.host.tree import Tree

_POLICIES = "/sys/devices/system/cpu/cpufreq"
_NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
_BOOST = "/sys/devices/system/cpu/cpufreq/boost"


@dataclass(frozen=True)
class Policy:
    """Cores that share a clock. `cores` as the kernel lists them: '0 1'."""

    path: str
    governor: str
    offered: tuple[str, ...]
    cores: int


@dataclass(frozen=True)
class Frequency:
    """`turbo`: whether cores may run faster than they can for long; None where nothing says."""

    policies: tuple[Policy, ...]
    turbo: bool | None
    turbo_off: Change | None
    """What would forbid it."""


def read_frequency(tree: Tree) -> Frequency:
    policies = []
    for name in tree.names(_POLICIES, "policy*"):
        path = f"{_POLICIES}/{name}"
        governor = tree.text(f"{path}/scaling_governor")
        if governor is not None:
            cores = (tree.text(f"{path}/affected_cpus") or "0").split()
            offered = (tree.text(f"{path}/scaling_available_governors") or "").split()
            policies.append(Policy(f"{path}/scaling_governor", governor, tuple(offered), len(cores)))
    turbo, turbo_off = None, None
    if (forbidden := tree.number(_NO_TURBO)) is not None:
        turbo, turbo_off = forbidden == 0, Change(_NO_TURBO, "1")
    elif (boost := tree.number(_BOOST)) is not None:
        turbo, turbo_off = boost == 1, Change(_BOOST, "0")
    return Frequency(tuple(policies), turbo, turbo_off)


def check_governor(facts: Frequency) -> Advice:
    """Whether the cores keep their clock whatever the load."""
    check = "cpu governor"
    if not facts.policies:
        return not_known(
            check,
            "no frequency scaling is shown, as in most virtual machines",
            "the host below decides about the clock of its cores: ask there",
        )
    found = _found(facts.policies)
    slow = [policy for policy in facts.policies if policy.governor != "performance"]
    if not slow:
        return fine(check, found)
    able = [policy for policy in slow if "performance" in policy.offered]
    why = (
        "the clock of a core follows its load with a delay, so whoever works first after a pause works on a slower"
        " core. What lasts longer than a slice cancels, and who is first is drawn; but an arm that waits more (for"
        " locks, for the disk) lets its cores slow down further, and that does not cancel"
    )
    return warning(check, found, why, changes=[Change(policy.path, "performance") for policy in able])


def check_turbo(facts: Frequency) -> Advice:
    """Whether the clock depends on heat and on how many cores work."""
    check = "turbo"
    if facts.turbo is None:
        return not_known(check, "nothing says whether cores may run above their base clock")
    if not facts.turbo:
        return fine(check, "off")
    assert facts.turbo_off is not None
    why = (
        "how long a core stays above its base clock depends on heat and on how many others work. Heat comes and goes"
        " over seconds and hits neighbouring slices alike, so most of it cancels; an arm that keeps more cores busy"
        " slows down its own, which is a property of this processor and not of its code"
    )
    return note(check, "on", why, changes=[facts.turbo_off])


def _found(policies: tuple[Policy, ...]) -> str:
    """'powersave on 6 of 8 cores, performance on 2'."""
    cores: Counter[str] = Counter()
    for policy in policies:
        cores[policy.governor] += policy.cores
    (first, many), *others = sorted(cores.items(), key=lambda pair: (pair[0] == "performance", -pair[1]))
    return ", ".join([f"{first} on {many} of {cores.total()} cores", *(f"{g} on {n}" for g, n in others)])
