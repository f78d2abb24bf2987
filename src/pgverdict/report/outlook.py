"""A dry run on the screen: the cells, and what they will take."""

import math

from pgverdict.report.words import count, duration, listed, roughly
from pgverdict.run.outlook import CellOutlook, Outlook
from pgverdict.servers.space import show_bytes
from pgverdict.spec.campaign import Campaign

_HEADS = ("rounds", "a round", "data", "memory")


def outlook_screen(campaign: Campaign, outlook: Outlook) -> str:
    """Lines with a newline at the end; numbers are estimates and are said as such."""
    width = max(len(cell.spec.key) for cell in outlook.cells)
    rows = [_row(cell, outlook.rounds_least, campaign) for cell in outlook.cells]
    arms = [arm.name for arm in campaign.arms]
    lines = [
        f"{listed(arms[1:])} against {arms[0]}: {count(len(rows), 'cell')}, seed {campaign.seed}",
        "",
        f"{'cell':<{width}}  {_HEADS[0]:>9}  {_HEADS[1]:>8}  {_HEADS[2]:>7}  {_HEADS[3]:>7}",
        *(
            f"{cell.spec.key:<{width}}  {row[0]:>9}  {row[1]:>8}  {row[2]:>7}  {row[3]:>7}"
            for cell, row in zip(outlook.cells, rows, strict=True)
        ),
        "",
        *_notes(campaign, outlook),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def budget_words(campaign: Campaign, outlook: Outlook) -> str | None:
    """What a budget leaves undone that does not give every cell its fewest rounds; None of one that does.

    No full stop. 'the budget of 18 min is enough for 8 rounds of 10 of 17 cells, and of all it takes --budget 31m'
    """
    cells = len(outlook.cells)
    if outlook.enough_for == cells:
        return None
    enough = f"{outlook.enough_for} of {count(cells, 'cell')}" if outlook.enough_for else "no cell"
    few = min(cell.rounds_most for cell in outlook.cells)
    others = f"; others get about {count(few, 'round')} or more" if outlook.enough_for else ""
    guessed = "" if outlook.is_known else ", as far as can be guessed"
    return (
        f"the budget of {duration(campaign.budget_s)} is enough for {outlook.rounds_least} rounds of {enough}{guessed}"
        f"{others}; for all of them: --budget {budget_for_all(outlook)}"
    )


def budget_for_all(outlook: Outlook) -> str:
    """As it is given on the command line, in whole minutes and rounded up."""
    return f"{math.ceil(outlook.least_s / 60)}m"


def _row(cell: CellOutlook, least: int, campaign: Campaign) -> tuple[str, str, str, str]:
    if cell.rounds_most < least:
        rounds = f"about {cell.rounds_most}"
    elif campaign.rounds is not None:
        rounds = str(campaign.rounds)
    else:
        rounds = f"{least} to {cell.rounds_most}"
    about = roughly(cell.round_s) + ("" if cell.is_known else " ?")
    return rounds, about, show_bytes(cell.data_bytes), show_bytes(cell.memory_bytes)


def _notes(campaign: Campaign, outlook: Outlook) -> list[str]:
    least = f"{outlook.rounds_least} rounds of every cell take about {roughly(outlook.least_s)}"
    lines = [f"time: {least}; the budget is {duration(campaign.budget_s)}, set-up apart"]
    if (said := budget_words(campaign, outlook)) is not None:
        lines.append(f"  {said}")
    lines.append(f"  loading, where nothing is loaded yet: about {roughly(outlook.loading_s)}")
    disk = (
        f"disk: at most {show_bytes(outlook.templates_bytes)} of templates and {show_bytes(outlook.copies_bytes)} of"
        f" copies for the largest cell; free are {show_bytes(outlook.free_bytes)}"
    )
    lines.append(disk)
    if not outlook.fits_disk:
        lines.append("  not all of it will be there at once: some data is loaded more than once")
    memory = max(cell.memory_bytes for cell in outlook.cells)
    lines.append(
        f"memory: at most {show_bytes(memory)} at once; the host has {show_bytes(outlook.host.memory_bytes)}"
    )
    if memory > outlook.host.memory_bytes:
        lines.append("  cells that take more than the host has will fail, or read from storage")
    if not all(cell.is_known for cell in outlook.cells):
        lines.append("?: guessed, since the store has no rounds of this cell with as many arms")
    return lines
