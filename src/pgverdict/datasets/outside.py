"""Loads on a server that somebody else runs: databases that a run makes there, and that go with it."""

from collections.abc import Callable
from dataclasses import dataclass

from pgverdict.datasets.load import DATABASE, load
from pgverdict.engine.process import Engine
from pgverdict.servers.outside import OutsideServer
from pgverdict.servers.stay import Stay
from pgverdict.workloads.workload import Dataset


@dataclass(frozen=True)
class OutsideSpec:
    """What such a load is made of. `load` numbers independent loads of the same thing."""

    stay: Stay
    dataset: Dataset
    scale: int
    settings: tuple[tuple[str, str], ...]
    load: int


@dataclass(frozen=True)
class OutsideLoad:
    """A finished load: its database, and digests of the rows that went in, by table."""

    database: str
    rows_sha256: tuple[tuple[str, str], ...]


def make_outside(spec: OutsideSpec, engine: Engine, progress: Callable[[int, int], None]) -> OutsideLoad:
    """Make the load; its database has the settings that sessions of the arm are to have."""
    server = OutsideServer(spec.stay, {}, dict(spec.settings))
    loaded = load(engine, server, spec.dataset, spec.scale, progress)
    rows = tuple((table.rows_of, table.sha256) for table in loaded)
    return OutsideLoad(server.names[DATABASE], rows)
