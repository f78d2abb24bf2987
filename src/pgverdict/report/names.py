"""What a cell is called in sentences, so that it is not taken for another of its campaign."""

from collections.abc import Sequence

from pgverdict.report.words import count
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.parameters import spell


def work_name(spec: CellSpec, cells: Sequence[CellSpec]) -> str:
    """The workload, and what tells this cell from others of it among `cells`.

    >>> cells = [CellSpec("select-only", 10, clients) for clients in (1, 8)]
    >>> work_name(cells[1], cells), work_name(cells[1], cells[1:])
    ('select-only with 8 clients', 'select-only')
    """
    alike = [cell for cell in cells if cell.workload == spec.workload]
    said = [f"scale {spec.scale:,}"] if len({cell.scale for cell in alike}) > 1 else []
    said += [count(spec.clients, "client")] if len({cell.clients for cell in alike}) > 1 else []
    said += [
        f"{name.replace('_', ' ')} {spell(value)}"
        for name, value in spec.parameters
        if len({dict(cell.parameters).get(name) for cell in alike}) > 1
    ]
    said += [
        f"{name} {value}"
        for name, value in spec.settings
        if len({dict(cell.settings).get(name) for cell in alike}) > 1
    ]
    return f"{spec.workload} with {', '.join(said)}" if said else spec.workload
