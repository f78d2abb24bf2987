"""A cell while its run lasts: its rounds so far and what they say, and whether its data is at hand."""

from dataclasses import dataclass, field, replace

from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.collect import bounds_of
from pgverdict.judge.cell import CellAnswers, CellVerdicts, is_decided, rounds_to_decide
from pgverdict.plan.budget import CellProgress
from pgverdict.records.round import RoundRecord, RoundState
from pgverdict.records.run import CellRecord
from pgverdict.run.ageing import expected_round_s

FAILURES_IN_A_ROW = 3
"""After so many a cell is given up: what fails three times on fresh servers will fail a fourth time."""


@dataclass
class LiveCell:
    """`answers` and `verdicts` are per candidate."""

    number: int
    record: CellRecord
    answers: CellAnswers = ()
    verdicts: CellVerdicts = ()
    failures_in_a_row: int = 0
    bounds: Bounds | None = None
    prepared: PreparedCell | None = None
    prepared_in_s: float = 0.0
    trouble: str | None = None
    """Why it could not be prepared in this session; it is not tried again before the next."""
    visited_s: list[float] = field(default_factory=list)

    @classmethod
    def going_on(cls, number: int, record: CellRecord) -> "LiveCell":
        """Of a run that was stopped: with the bounds that its rounds have had."""
        measured = record.measured
        return cls(number, record, bounds=bounds_of(measured[0]) if measured else None)

    @property
    def at_hand(self) -> bool:
        """Whether its data lies where it was prepared; another cell may have needed the room."""
        if self.prepared is None:
            return False
        return all(load.exists() for arm in self.prepared.arms for load in arm.loads)

    def progress(self, fixed: int | None) -> CellProgress:
        """`fixed`: the number of rounds every cell is to have; None: until it is decided."""
        measured = len(self.record.measured)
        more: int | None
        if fixed is not None:
            decided, more = measured >= fixed, fixed - measured
        else:
            decided = bool(self.verdicts) and is_decided(self.verdicts)
            more = rounds_to_decide(self.verdicts)
        return CellProgress(
            rounds_s=tuple(r.seconds for r in self.record.rounds),
            decided=decided,
            given_up=self.trouble is not None or self.failures_in_a_row >= FAILURES_IN_A_ROW,
            more_rounds=more,
            expected_s=expected_round_s(self.prepared) if self.prepared else 0.0,
            at_hand=self.at_hand,
            visited_s=tuple(self.visited_s),
            prepared_in_s=self.prepared_in_s,
        )

    def take(self, record: RoundRecord) -> None:
        """A round ended."""
        self.record = replace(self.record, rounds=(*self.record.rounds, record))
        self.visited_s.append(record.seconds)
        if record.state is RoundState.FAILED:
            self.failures_in_a_row += 1
            return
        self.failures_in_a_row = 0
        self.bounds = self.bounds or bounds_of(record)
