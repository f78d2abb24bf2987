"""The data of arms whose servers somebody else runs: databases of ours, fresh ones copied by the server itself."""

from collections.abc import Iterator
from contextlib import contextmanager

from pgverdict.conduct.cell import PreparedCell
from pgverdict.errors import RoundFailed, WorldError
from pgverdict.plan.rounds import RoundPlan
from pgverdict.spec.regime import Regime


@contextmanager
def databases_in_place(cell: PreparedCell, plan: RoundPlan) -> Iterator[dict[int, str]]:
    """Per such arm its load, or a copy of it, which goes when the context ends; made in the order of the slots."""
    copies: dict[int, str] = {}
    theirs = sorted(set(range(len(cell.arms))) - set(cell.ours), key=lambda arm: plan.slots[arm])
    try:
        for arm in theirs:
            prepared = cell.arms[arm]
            assert prepared.stay is not None
            load = prepared.databases[plan.loads[arm]]
            if cell.regime is Regime.READ_ONLY:
                copies[arm] = load
                continue
            try:
                copies[arm] = prepared.stay.create(template=load, settings=dict(prepared.settings))
                # What the copying left unwritten would be written while the arm is measured.
                prepared.stay.checkpoint()
            except WorldError as error:
                raise RoundFailed(error.message, arm=arm, hint=error.hint) from error
        yield dict(copies)
    finally:
        if cell.regime is not Regime.READ_ONLY:
            for arm, name in copies.items():
                stay = cell.arms[arm].stay
                assert stay is not None
                stay.drop(name)
