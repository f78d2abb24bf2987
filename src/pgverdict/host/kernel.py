"""What the kernel costs and shows: its clock, its defences against the processor, its counters."""

from dataclasses import dataclass

from pgverdict.host.advice import Advice, fine, not_known, note, warning
from pgverdict.host.topology import status_field
from pgverdict.host.tree import Tree

_CLOCK = "/sys/devices/system/clocksource/clocksource0"
_VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"
_PARANOID = "/proc/sys/kernel/perf_event_paranoid"
_SOURCES = "/sys/bus/event_source/devices"

_FAST = (
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
    "tod",
    "riscv_clocksource",
)
"""Read without a system call, in some 20 ns."""

_SLOW = ("hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies", "hyperv_clocksource_msr")

_CAP_SYS_ADMIN, _CAP_PERFMON = 21, 38

PARANOID_MAX = 2
"""With 2, the kernel's default, a user counts and samples his own processes, without the kernel's part of them."""


@dataclass(frozen=True)
class Kernel:
    """None: not shown."""

    clock: str | None
    clocks: tuple[str, ...]
    mitigated: tuple[str, ...] | None
    """The vulnerabilities of this processor that the kernel works around."""
    paranoid: int | None
    may_profile: bool
    """Whether this process may do so whatever `paranoid` says."""
    counters: bool
    """Whether there are hardware counters."""


def read_kernel(tree: Tree) -> Kernel:
    names = tree.names(_VULNERABILITIES)
    states = {name: tree.text(f"{_VULNERABILITIES}/{name}") or "" for name in names}
    capabilities = int(status_field(tree, "CapEff") or "0", 16)
    return Kernel(
        clock=tree.text(f"{_CLOCK}/current_clocksource"),
        clocks=tuple((tree.text(f"{_CLOCK}/available_clocksource") or "").split()),
        mitigated=tuple(n for n, state in states.items() if state.startswith("Mitigation"))
        if names
        else None,
        paranoid=tree.number(_PARANOID),
        may_profile=bool(capabilities >> _CAP_SYS_ADMIN & 1 or capabilities >> _CAP_PERFMON & 1),
        counters=any(name.startswith(("cpu", "armv")) for name in tree.names(_SOURCES)),
    )


def check_clock(facts: Kernel) -> Advice:
    """Whether reading the clock is cheap."""
    check = "clock source"
    if facts.clock is None:
        return not_known(check, "this kernel does not say")
    if facts.clock in _FAST:
        return fine(check, facts.clock)
    if facts.clock not in _SLOW:
        return not_known(check, f"{facts.clock}, of which nothing is known here")
    why = (
        "every reading of the clock is a system call of a microsecond or so. The load engine reads it twice per"
        " transaction, for all arms alike: that cancels, but dilutes every ratio. Servers read it too, and not equally"
        " often in all releases and with all settings: what they are charged for that is this host's doing"
    )
    if "tsc" in facts.clocks:
        return warning(check, facts.clock, why, f"echo tsc | sudo tee {_CLOCK}/current_clocksource")
    return warning(check, facts.clock, why, "sudo dmesg | grep -i -e tsc -e clocksource")


def check_mitigations(facts: Kernel) -> Advice:
    """What system calls cost beyond their work."""
    check = "mitigations"
    if facts.mitigated is None:
        return not_known(check, "this kernel does not say")
    if not facts.mitigated:
        return fine(check, "none at work")
    why = (
        "they make system calls and switches between processes dearer, for all arms alike. An arm that makes fewer of"
        " them wins more here than on a host without: a result about this host, and about yours if it is made like it."
        " Leave them on"
    )
    return note(check, ", ".join(facts.mitigated), why, f"grep . {_VULNERABILITIES}/*")


def check_layout(obstacle: str | None) -> Advice:
    """Whether all servers of a round can have one memory layout; `obstacle`: why not, as who would start them says."""
    check = "memory layout"
    if obstacle is None:
        return fine(check, "can be the same for all servers of a round")
    why = (
        "where code and data come to lie makes two starts of one server differ by a percent or two. The kernel draws it"
        " for every start here, and that scatter is in every interval (METHODOLOGY.md#layout)."
        " On Linux, allow personality(2) (of docker: --security-opt seccomp=PROFILE) and large stacks (ulimit -H -s)"
    )
    return note(check, f"drawn by the kernel for every start: {obstacle}", why)


def check_perf(facts: Kernel) -> Advice:
    """Whether a profile of the servers could be made, to find out what an effect comes from."""
    check = "perf access"
    if facts.paranoid is None:
        return not_known(check, "this kernel has no performance events, or does not show them")
    counters = "" if facts.counters else ", without hardware counters"
    if facts.may_profile:
        return fine(check, f"allowed to this user{counters}")
    if facts.paranoid <= PARANOID_MAX:
        return fine(check, f"perf_event_paranoid {facts.paranoid}{counters}")
    why = "nothing that is measured needs it; a profile of the servers does, which tells where an effect comes from"
    return note(
        check,
        f"perf_event_paranoid {facts.paranoid}{counters}",
        why,
        "sudo sysctl -w kernel.perf_event_paranoid=2",
    )
