"""What a dry run says a campaign will take."""

import dataclasses

import pytest

from pgverdict.plan.matrix import HostSize
from pgverdict.report.outlook import budget_words, outlook_screen
from pgverdict.run.outlook import Outlook, look_ahead
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec
from pgverdict.spec.regime import Regime

CELLS = (CellSpec("select-only", 10, 1), CellSpec("simple-update", 100, 4))
CAMPAIGN = Campaign(make_arms(("17", "18")), CELLS, budget_s=600.0, seed=3)
HOST = HostSize(8 << 30, 2)
KNOWN = {cell.key: [10.0, 3.0, 5.0] for cell in CELLS}


def _look(campaign: Campaign = CAMPAIGN, *, free_bytes: int = 10**12, **known: list[float]) -> Outlook:
    return look_ahead(campaign, HOST, free_bytes=free_bytes, known_s=known or KNOWN)


def test_rounds_that_the_store_knows_say_how_long_rounds_take() -> None:
    outlook = _look()

    assert [(cell.round_s, cell.is_known) for cell in outlook.cells] == [(5.0, True), (5.0, True)]
    assert (outlook.rounds_least, outlook.least_s) == (8, 80.0)
    assert [cell.rounds_most for cell in outlook.cells] == [60, 60]


def test_a_budget_that_holds_fewer_than_the_minimum_is_said_to() -> None:
    campaign = dataclasses.replace(CAMPAIGN, budget_s=50.0)
    outlook = _look(campaign)

    assert [cell.rounds_most for cell in outlook.cells] == [5, 5]
    screen = outlook_screen(campaign, outlook)
    assert "about 5" in screen
    assert "the budget of 50 s is enough for 8 rounds of no cell; for all of them: --budget 2m" in screen


def test_a_budget_that_is_enough_for_some_says_for_how_many_and_what_the_others_get() -> None:
    cells = (*CELLS, CellSpec("select-only", 10, 2))
    campaign = dataclasses.replace(CAMPAIGN, cells=cells, budget_s=100.0)
    known = {cell.key: [took] for cell, took in zip(cells, (1.0, 3.0, 20.0), strict=True)}
    outlook = look_ahead(campaign, HOST, free_bytes=10**12, known_s=known)

    assert (outlook.enough_for, outlook.is_known) == (2, True)
    assert [cell.rounds_most for cell in outlook.cells] == [8, 8, 3]
    assert budget_words(campaign, outlook) == (
        "the budget of 1 min 40 s is enough for 8 rounds of 2 of 3 cells; others get about 3 rounds or more;"
        " for all of them: --budget 4m"
    )
    guessed = budget_words(campaign, _look(campaign, other=[1.0]))
    assert guessed is not None
    assert "as far as can be guessed" in guessed
    rich = dataclasses.replace(campaign, budget_s=3600.0)
    assert budget_words(rich, _look(rich, other=[1.0])) is None


def test_a_chain_takes_its_steps_on_every_arm_and_its_templates_are_empty() -> None:
    rows = (("l_i1_rows", 30_000), ("l_i2_rows", 30_000), ("rows", 100_000))
    chosen = (*rows, ("seconds", 7), ("wait_seconds", 20))
    cell = CellSpec("insert-benchmark", 1, 1, parameters=chosen)
    (looked,) = _look(dataclasses.replace(CAMPAIGN, cells=(cell,)), other=[1.0]).cells

    # Of each arm: six steps of 7 s, a wait of 20.2 s, rows inserted as fast as can be, a start and a copy.
    assert looked.round_s == pytest.approx(2 * (42 + 20.16 + 3 + 1.16))
    outlook = _look(dataclasses.replace(CAMPAIGN, cells=(cell,)), other=[1.0])
    assert outlook.templates_bytes % 80_000_000 == 0


def test_without_any_rounds_all_is_guessed_and_marked_so() -> None:
    outlook = _look(other=[1.0])

    assert not any(cell.is_known for cell in outlook.cells)
    assert "?: guessed" in outlook_screen(CAMPAIGN, outlook)


def test_larger_data_takes_more_of_everything_and_steady_rounds_take_minutes() -> None:
    small, large = _look(other=[1.0]).cells
    (steady,) = _look(
        dataclasses.replace(CAMPAIGN, cells=(dataclasses.replace(CELLS[1], regime=Regime.STEADY),)),
        other=[1.0],
    ).cells

    assert small.data_bytes < large.data_bytes
    assert small.memory_bytes < large.memory_bytes
    assert small.round_s < large.round_s < steady.round_s
    assert steady.round_s > 600


def test_cells_that_share_data_share_templates() -> None:
    alone = _look(dataclasses.replace(CAMPAIGN, cells=CELLS[:1]))
    more = tuple(dataclasses.replace(CELLS[0], clients=n, settings=(("work_mem", "1MB"),)) for n in (2, 3))
    loaded_apart = dataclasses.replace(CELLS[0], settings=(("default_statistics_target", "500"),))

    def templates(*cells: CellSpec) -> int:
        return _look(dataclasses.replace(CAMPAIGN, cells=cells)).templates_bytes

    assert templates(CELLS[0], *more) == alone.templates_bytes
    assert templates(CELLS[0], loaded_apart) == 2 * alone.templates_bytes


def test_what_the_host_does_not_have_is_said() -> None:
    screen = outlook_screen(CAMPAIGN, _look(free_bytes=10**9))
    huge = dataclasses.replace(CAMPAIGN, cells=(CellSpec("select-only", 2000, 1),))

    assert "not all of it will be there at once" in screen
    assert "more than the host has" in outlook_screen(huge, _look(huge))
    assert "more than the host has" not in screen
