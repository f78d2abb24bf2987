"""What is said of the plans of a stream's queries beside a candidate's verdicts."""

from collections.abc import Mapping, Sequence

from pgverdict.judge.plans import QueryPlans, query_plans
from pgverdict.judge.values import BASELINE
from pgverdict.records.run import CellRecord
from pgverdict.report import words


def plan_notes(cell: CellRecord, arms: Mapping[int, str], candidate: int) -> tuple[str, ...]:
    """Which queries the arms planned differently, and whose plans changed from round to round.

    `arms` are the baseline and the candidate, and how they are called.
    """
    plans = query_plans(cell)
    if not plans:
        return ()
    notes = []
    baseline, other = arms[BASELINE], arms[candidate]
    different = [one.script for one in plans if one.differs(candidate)]
    if different:
        notes.append(
            f"{baseline} and {other} never had a plan of one shape for {words.listed(different)}: what differs there"
            " may be the plan's"
        )
    for arm, name in arms.items():
        changing = [one for one in plans if one.changes(arm)]
        if changing:
            notes.append(
                f"{name} changed its plan between rounds, by the values asked for or by the sample that ANALYZE took: "
                + _counted(changing, arm)
            )
    if not notes:
        notes.append(f"{baseline} and {other} planned every query in one shape, and the same, in all rounds")
    return tuple(notes)


def _counted(changing: Sequence[QueryPlans], arm: int) -> str:
    """'q02 (7 and 1), q05 (5 and 3)'."""
    return ", ".join(
        f"{one.script} ({words.listed(str(times) for _, times in one.by_arm[arm])})" for one in changing
    )
