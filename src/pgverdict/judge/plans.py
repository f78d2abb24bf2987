"""What the plans of a stream's queries come to: their shapes, which change within an arm, which differ between arms.

The shape of a plan is its nodes and what they read, without conditions, keys and the names of sub-plans: these are
worded differently from release to release, and hold values that differ from round to round.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass

from pgverdict.judge.values import BASELINE
from pgverdict.records.run import CellRecord

_ARROW = "->"


@dataclass(frozen=True)
class QueryPlans:
    """The plans of a query in a cell: by arm, how often it had which, by hash. The most frequent first."""

    script: str
    by_arm: tuple[tuple[tuple[str, int], ...], ...]

    def changes(self, arm: int) -> bool:
        """Whether the arm had more than one."""
        return len(self.by_arm[arm]) > 1

    def differs(self, candidate: int) -> bool:
        """Whether the candidate never had a plan that the baseline had."""
        one, other = ({plan for plan, _ in self.by_arm[arm]} for arm in (BASELINE, candidate))
        return not one & other


def shape(plan: str) -> str:
    """The nodes of a plan, one a line, indented as EXPLAIN does.

    >>> print(shape("Sort\\n  Sort Key: (count(*)) DESC\\n  ->  Seq Scan on orders\\n        Filter: (o_custkey = 3)"))
    Sort
      ->  Seq Scan on orders
    """
    return "\n".join(
        line for line in plan.splitlines() if _ARROW in line[: _depth(line) + 2] or line[:1].strip()
    )


def plan_hash(plan: str) -> str:
    """The first 10 digits of the SHA-256 of the plan's shape."""
    return hashlib.sha256(shape(plan).encode()).hexdigest()[:10]


def query_plans(cell: CellRecord) -> tuple[QueryPlans, ...]:
    """Of every query of a cell's streams, in the order of their names; empty where there are none."""
    counted: dict[str, dict[int, Counter[str]]] = {}
    for record in cell.measured:
        for arm in record.arms:
            for task in arm.tasks:
                by_arm = counted.setdefault(task.script, {})
                by_arm.setdefault(arm.arm, Counter())[plan_hash(task.plan)] += 1
    return tuple(
        QueryPlans(
            script,
            tuple(
                tuple(sorted(by_arm[arm].items(), key=lambda one: (-one[1], one[0])))
                for arm in sorted(by_arm)
            ),
        )
        for script, by_arm in sorted(counted.items())
    )


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
