"""From what is kept to the page that the documentation has: the same records give the same page."""

from collections.abc import Mapping, Sequence

from .case import Case
from .figures import compare, table
from .recorded import Recorded

HEAD = """\
# Standard workloads

| | |
|---|---|
| [insert-benchmark](insert-benchmark.md) | Mark Callaghan's Insert Benchmark |
| [ycsb-a to ycsb-f](ycsb.md) | the core workloads of YCSB |
| [tpcc](tpcc.md) | TPC-C-like |
| [tpch](tpch.md) | derived from TPC-H |
| [sysbench-...](sysbench.md) | sysbench's OLTP scripts, and Mark Callaghan's single queries on its tables |

All others: [workloads](../workloads.md).

## What they cost, beside other programs

A load generator shares its host with the server more often than not, and what it takes the server lacks. So what the
engine takes for a workload is held against the program that others use for it: both in turn, on the same server
(PostgreSQL 18, fsync off, 1 GB of shared buffers, on the same cores), a checkpoint before each. Client CPU is the
processor time of the whole process, from its start to its end. Ratios are ours / theirs, of the same repetition.
`./x bench workloads` measures this, and writes this page from what is recorded in `bench/results/workloads`.
"""


def page(recorded: Sequence[Recorded], cases: Sequence[Case]) -> str:
    """Markdown."""
    by_name = {one.case: one for one in recorded}
    told = [case for case in cases if case.name in by_name]
    runs = [run for case in told for run in by_name[case.name].runs]
    parts = [
        HEAD,
        table(compare(runs, told)),
        "",
        "What the two sides do not do alike, and when this was measured:",
        "",
    ]
    for differs, group in _alike(told, by_name).items():
        one = by_name[group[0]]
        dates = sorted({run.date[:10] for name in group for run in by_name[name].runs})
        names = ", ".join(f"`{name}`" for name in group)
        parts.append(
            f"- {names}, beside {one.rival}. {differs[0]} ({', '.join(dates)}, engine {one.engine[:12]}, {_host(one)}.)"
        )
    if missing := [f"`{case.name}`" for case in cases if case.name not in by_name]:
        parts.append(f"\nNot measured yet: {', '.join(missing)}.")
    return "\n".join(parts) + "\n"


def _alike(
    told: Sequence[Case], by_name: Mapping[str, Recorded]
) -> dict[tuple[str, str, str, str], list[str]]:
    """The names of cases by what is said of them all."""
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for case in told:
        one = by_name[case.name]
        groups.setdefault((case.differs, one.rival, one.engine, _host(one)), []).append(case.name)
    return groups


def _host(one: Recorded) -> str:
    return f"{one.host['cores']} cores of {one.host['processor']}, {one.host['system']}"
