"""The built-in workloads by name: the groups, one after the other. A group is a module with its `ENTRIES`."""

from pgverdict.errors import unknown_word
from pgverdict.spec.parameters import Chosen, Parameter, filled
from pgverdict.workloads import insert_benchmark, pgbench, sysbench, tpcc, tpch, ycsb
from pgverdict.workloads.workload import Entry, Workload

_GROUPS = (
    pgbench.ENTRIES,
    ycsb.ENTRIES,
    sysbench.ENTRIES,
    tpcc.ENTRIES,
    tpch.ENTRIES,
    insert_benchmark.ENTRIES,
)

_ENTRIES = {entry.name: entry for group in _GROUPS for entry in group}


def names() -> tuple[str, ...]:
    """Every workload's name, in the order of the catalogue."""
    return tuple(_ENTRIES)


def parameters(name: str) -> tuple[Parameter, ...]:
    """What may be chosen of the workload of that name; UserError as `workload`."""
    return _entry(name).parameters


def workload(name: str, parameters: Chosen = ()) -> Workload:
    """The workload of that name with these parameters, and defaults for the others.

    UserError, with the nearest one offered, if there is none, or a parameter is not one of it; and for a value that is
    not allowed.
    """
    entry = _entry(name)
    return entry.make(filled(parameters, entry.parameters, of=name))


def _entry(name: str) -> Entry:
    try:
        return _ENTRIES[name]
    except KeyError:
        raise unknown_word("workload", name, _ENTRIES) from None
