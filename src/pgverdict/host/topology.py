"""Which cores share what: threads of one core, and memory that is nearer to some cores than to others."""

from dataclasses import dataclass

from pgverdict.host.advice import Advice, Change, fine, not_known, note, warning
from pgverdict.host.tree import Tree, listed_numbers

_BALANCING = "/proc/sys/kernel/numa_balancing"
_NODES = "/sys/devices/system/node"
_SMT = "/sys/devices/system/cpu/smt"


@dataclass(frozen=True)
class Topology:
    """`nodes`: the cores of every memory node that has some. `allowed`: the cores we may run on."""

    nodes: dict[int, frozenset[int]]
    allowed: frozenset[int]
    numa_balancing: int | None
    smt_control: str | None
    smt_active: int | None
    virtual: bool | None
    """Whether this is a virtual machine; None where the processor does not say."""


def read_topology(tree: Tree) -> Topology:
    nodes = {}
    for name in tree.names(_NODES, "node[0-9]*"):
        cores = listed_numbers(tree.text(f"{_NODES}/{name}/cpulist"))
        if cores:
            nodes[int(name.removeprefix("node"))] = cores
    return Topology(
        nodes=nodes,
        allowed=listed_numbers(status_field(tree, "Cpus_allowed_list")),
        numa_balancing=tree.number(_BALANCING),
        smt_control=tree.text(f"{_SMT}/control"),
        smt_active=tree.number(f"{_SMT}/active"),
        virtual=_is_virtual(tree),
    )


def status_field(tree: Tree, name: str) -> str | None:
    """What /proc/self/status says under that name."""
    for line in (tree.text("/proc/self/status") or "").splitlines():
        field, _, value = line.partition(":")
        if field == name:
            return value.strip()
    return None


def check_smt(facts: Topology) -> Advice:
    """Whether two threads that look like cores share one."""
    check = "smt"
    if facts.smt_active == 1:
        why = (
            "two threads share a core, and each takes about half of it while both work. The placement counts"
            " threads, so with several clients two may meet on one core: for all arms alike, which cancels. What does"
            " not cancel is an arm with more background work, which slows down whoever sits beside it"
        )
        return note(check, "on: two threads share a core", why, f"echo off | sudo tee {_SMT}/control")
    if facts.smt_active is None:
        return not_known(check, "this kernel does not say whether threads share cores")
    if facts.virtual is not False:
        return not_known(
            check,
            f"{facts.smt_control or 'off'}, as far as this machine is shown",
            "which of the host's threads a virtual core runs on is known there only: a neighbour on the other thread"
            " of the core halves it, and neither steal nor load tells of it",
        )
    return fine(check, facts.smt_control or "off")


def check_nodes(facts: Topology) -> Advice:
    """Whether all memory is equally near to the cores that work."""
    check = "numa nodes"
    if not facts.nodes:
        return not_known(check, "this kernel shows no memory nodes")
    if len(facts.nodes) == 1:
        return fine(check, "one")
    used = [node for node, cores in facts.nodes.items() if cores & facts.allowed]
    if facts.allowed and len(used) == 1:
        return fine(check, f"{len(facts.nodes)}, and only node {used[0]} is used")
    node = used[0] if used else min(facts.nodes)
    why = (
        "on which node a server's memory comes to lie is settled at its start and stays. Starts are many and their"
        " order is drawn, so no arm is favoured in the long run, but rounds scatter far more than slices can tell"
    )
    command = f"numactl --cpunodebind={node} --membind={node} pgverdict compare ..."
    return warning(check, f"{len(facts.nodes)}, and servers may run on all", why, command)


def check_balancing(facts: Topology) -> Advice:
    """Whether the kernel moves memory between nodes while servers work."""
    check = "numa balancing"
    if len(facts.nodes) == 1:
        return fine(check, "of no effect: one node")
    if facts.numa_balancing is None:
        return not_known(check, "this kernel does not say whether it moves memory between nodes")
    if facts.numa_balancing == 0:
        return fine(check, "off")
    why = (
        "the kernel takes pages away for a moment to see who uses them, and moves them, for seconds after every start:"
        " within the slices of a round, in whichever arm has been looked at, which does not cancel"
    )
    return warning(check, "on", why, changes=[Change(_BALANCING, "0")])


def _is_virtual(tree: Tree) -> bool | None:
    if tree.text("/sys/hypervisor/type"):
        return True
    for line in (tree.text("/proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":  # x86: other processors do not tell
            return "hypervisor" in value.split()
    return None
