"""A user's scripts, tried before anything is measured: what the engine refuses, and what a server does."""

from collections.abc import Iterable

from pgverdict.conduct.cell import PreparedCell
from pgverdict.datasets.load import where
from pgverdict.datasets.restore import program_for
from pgverdict.engine.process import Engine, EngineError
from pgverdict.errors import UserError
from pgverdict.servers.server import Server
from pgverdict.spec.campaign import CellSpec
from pgverdict.workloads.workload import Workload


def check_own_scripts(cells: Iterable[tuple[CellSpec, Workload]]) -> None:
    """UserError, with script and line, for what cannot run in slices; WorldError if a dump's program is missing.

    Before anything is loaded.
    """
    own = [(spec, workload) for spec, workload in cells if spec.own is not None]
    for spec, workload in own:
        if workload.dataset.dump is not None:
            program_for(workload.dataset.dump)
        with Engine.start() as engine:
            _setup(engine, spec, workload)


def check_own_statements(cell: PreparedCell, server: Server, name: str) -> None:
    """UserError if the server of the arm of that name refuses a statement of the scripts, or answers with columns
    that do not fit them.
    """
    with Engine.start() as engine:
        _setup(engine, cell.spec, cell.workload)
        try:
            engine.connect(0, where(server))
        except EngineError as error:
            if error.kind not in ("server", "request"):
                raise
            raise UserError(f"arm {name} does not take the scripts: {error.message}") from None


def _setup(engine: Engine, spec: CellSpec, workload: Workload) -> None:
    try:
        engine.setup(
            clients=1,
            threads=1,
            cpus=None,
            scripts=workload.scripts,
            variables={"scale": spec.scale},
            allow=workload.allow,
        )
    except EngineError as error:
        if error.kind != "request":
            raise
        raise UserError(
            f"a script cannot be measured: {error.message}",
            hint="`pgverdict compare --allow NAME` allows what is refused by name; `pgverdict pgbench` runs whatever"
            " pgbench does, and compares nothing",
        ) from None
