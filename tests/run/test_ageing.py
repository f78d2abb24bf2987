"""Whether a budget holds steady rounds, and what is said of aged data."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.placement import Placement
from pgverdict.conduct.stretch import expected_slices
from pgverdict.datasets.ageing import AgedSpec, AgedTemplate
from pgverdict.datasets.template import Template, TemplateSpec
from pgverdict.errors import UserError
from pgverdict.records.run import ArmFacts
from pgverdict.run import ageing
from pgverdict.run.ageing import age_cell, expected_round_s, require_budget, with_notes
from pgverdict.run.site import Site
from pgverdict.servers.install import Install
from pgverdict.spec.arms import Role, make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.regime import Regime
from pgverdict.workloads import catalogue
from tests.run.test_execute import ARMS, POOLS, Silence

STEADY = CellSpec("simple-update", 1, 1, regime=Regime.STEADY)


class Notes(Silence):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


def a_cell(spec: CellSpec = STEADY, *, slices: int = 750) -> PreparedCell:
    workload = catalogue.workload(spec.workload)
    placement = Placement(1, (0,))
    return PreparedCell(spec, workload, ARMS, placement, (), *POOLS, stretch_slices=slices)


def a_campaign(spec: CellSpec = STEADY, **more: float) -> Campaign:
    return dataclasses.replace(Campaign(make_arms(("17", "18")), (spec,)), **more)  # type: ignore[arg-type]


def aged(**changes: object) -> AgedTemplate:
    made = AgedTemplate(Path("data"), 1, 60.0, 3, (("a", 6), ("b", 0)), 300.0, None)
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]


def test_the_length_of_steady_rounds_is_said_before_the_first() -> None:
    notes = Notes()

    require_budget([a_cell()], a_campaign(budget_s=20_000.0), notes)

    (note,) = notes.said
    assert note == f"{STEADY.key}: a round takes about 26 min with these settings, and 8 rounds 204 min"


def test_a_budget_that_holds_no_steady_round_is_refused_with_what_would_do() -> None:
    with pytest.raises(UserError, match="shorter than one round") as caught:
        require_budget([a_cell()], a_campaign(budget_s=300.0), Notes())

    assert "--budget 204m for 8 rounds" in (caught.value.hint or "")


def test_rounds_of_other_regimes_are_not_forecast() -> None:
    fresh = a_cell(CellSpec("simple-update", 1, 1))
    notes = Notes()

    require_budget([fresh], a_campaign(CellSpec("simple-update", 1, 1), budget_s=1.0), notes)

    assert expected_round_s(fresh) == 0
    assert notes.said == []


def test_a_cycle_is_as_long_as_the_slower_of_checkpoints_and_vacuums() -> None:
    assert aged().cycle_s == 20.0  # three checkpoints in 60 s; table b, never vacuumed, is not waited for
    assert aged(vacuums=(("a", 2),)).cycle_s == 30.0
    assert aged(checkpoints=0).cycle_s == 300.0
    assert aged().vacuumed == ("a",)


def test_loads_that_arms_share_are_aged_once_and_drawn_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    def find(_home: object, spec: AgedSpec) -> AgedTemplate:
        found.append(spec.name)
        return aged(data=Path(f"load {spec.base.load}"), vacuums=(("a", spec.base.load),))

    monkeypatch.setattr(ageing, "find_aged", find)
    workload = catalogue.workload(STEADY.workload)
    base = TemplateSpec(
        cast(Install, SimpleNamespace(identity="i", version="17.7")), workload.dataset, 1, (), 1
    )
    arm = make_arms(("17", "18"))[0]
    pool = [(arm, dataclasses.replace(base, load=load), cast(Template, None)) for load in (1, 2)]

    cell = age_cell(a_cell(), [pool], cast(Site, SimpleNamespace(home=None)), Silence())

    assert len(found) == len(set(found)) == 2
    assert [one.loads for one in cell.arms] == [(Path("load 1"), Path("load 2"))] * 2
    assert [one.vacuumed for one in cell.arms] == [("a",)] * 2
    assert cell.stretch_slices == expected_slices(60.0)


def test_what_did_not_settle_is_noted_of_its_arm() -> None:
    facts = [ArmFacts(name, Role.BASELINE, name, "17.7", (), (), ("no LLVM",)) for name in ("17", "18")]
    arms = (dataclasses.replace(ARMS[0], notes=("it had not settled",)), ARMS[1])

    noted = with_notes(facts, [dataclasses.replace(a_cell(), arms=arms)])

    assert [arm.notes for arm in noted] == [("no LLVM", "it had not settled"), ("no LLVM",)]
