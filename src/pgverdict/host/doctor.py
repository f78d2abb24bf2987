"""All facts of a host, and all that is said of them."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pgverdict.host import frequency, kernel, limits, load, memory, storage, topology
from pgverdict.host.advice import Advice
from pgverdict.host.tree import Tree


@dataclass(frozen=True)
class Facts:
    """What a host shows, apart from what it does just now (`host.load`)."""

    frequency: frequency.Frequency
    topology: topology.Topology
    memory: memory.Memory
    kernel: kernel.Kernel
    storage: storage.Storage
    limits: limits.Limits


def read_facts(tree: Tree, path: Path, statvfs: Callable[[Path], os.statvfs_result] = os.statvfs) -> Facts:
    """`path` is where the data of servers will lie."""
    return Facts(
        frequency.read_frequency(tree),
        topology.read_topology(tree),
        memory.read_memory(tree),
        kernel.read_kernel(tree),
        storage.read_storage(tree, path, statvfs),
        limits.read_limits(tree),
    )


def examine(facts: Facts, layout_obstacle: str | None) -> tuple[Advice, ...]:
    """What is said of a host that stands still. `layout_obstacle` as for `kernel.check_layout`."""
    return (
        frequency.check_governor(facts.frequency),
        frequency.check_turbo(facts.frequency),
        topology.check_smt(facts.topology),
        topology.check_nodes(facts.topology),
        topology.check_balancing(facts.topology),
        memory.check_thp(facts.memory),
        memory.check_huge_pages(facts.memory),
        memory.check_swappiness(facts.memory),
        memory.check_overcommit(facts.memory),
        kernel.check_clock(facts.kernel),
        kernel.check_mitigations(facts.kernel),
        kernel.check_layout(layout_obstacle),
        kernel.check_perf(facts.kernel),
        storage.check_file_system(facts.storage),
        storage.check_space(facts.storage),
        storage.check_discard(facts.storage),
        storage.check_write_cache(facts.storage),
        storage.check_scheduler(facts.storage),
        limits.check_cpu_limit(facts.limits),
        limits.check_memory_limit(facts.limits),
    )


def watch_load(tree: Tree, seconds: float) -> load.Load:
    """What others do for so long; this process does not count."""
    first = load.look(tree)
    time.sleep(seconds)
    return load.load_between(first, load.look(tree), own=os.getpid())


def examine_load(found: load.Load) -> tuple[Advice, ...]:
    """What is said of what it does just now."""
    return (load.check_others(found), load.check_steal(found), load.check_pressure(found))
