"""Cells with partitions, and those without that they are compared with."""

from collections.abc import Iterable
from dataclasses import replace

from pgverdict.spec.campaign import CellSpec

_PARAMETER = "partitions"


def partitions_of(spec: CellSpec) -> int:
    """How many a cell has; 0 for none, also where its workload knows none."""
    return int(dict(spec.parameters).get(_PARAMETER, 0))


def unpartitioned(spec: CellSpec) -> CellSpec:
    """The same cell without partitions."""
    parameters = tuple((name, value) for name, value in spec.parameters if name != _PARAMETER)
    return replace(spec, parameters=parameters)


def is_about_partitions(spec: CellSpec, cells: Iterable[CellSpec]) -> bool:
    """Whether a cell has partitions, or is one of `cells` that has none where another, otherwise equal, has some."""
    alike = (other for other in cells if unpartitioned(other) == unpartitioned(spec))
    return partitions_of(spec) > 0 or any(partitions_of(other) > 0 for other in alike)
