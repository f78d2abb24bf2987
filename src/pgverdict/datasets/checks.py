"""Whether data is still what its dataset promises: questions that no row may answer.

A server that loses an update, or a workload of ours that is wrong, would be measured as if nothing had happened.
"""

from collections.abc import Sequence

from pgverdict.datasets.load import DATABASE
from pgverdict.errors import WorldError
from pgverdict.observe import views
from pgverdict.servers.outside import AnyServer
from pgverdict.workloads.workload import Check, Dataset

_OF_CHECKS = (
    b"SET work_mem = '4MB'",
    b"SELECT set_config(name, '1', false) FROM pg_catalog.pg_settings WHERE name = 'hash_mem_multiplier'",
)
"""Questions of ours ask for no more memory than a server has by default: one that is confined has what its workload
wants, and the kernel kills it for the rest. The multiplier came with release 13."""


def check_data(server: AnyServer, dataset: Dataset) -> None:
    """WorldError, with the first row that tells, where a check of the dataset does not hold in the server's data."""
    ask_checks(server, dataset.name, dataset.checks)


def ask_checks(server: AnyServer, name: str, checks: Sequence[Check]) -> None:
    """The same of some checks of the dataset of that name."""
    if not checks:
        return
    with views.session(server, DATABASE) as connection:
        for setting in _OF_CHECKS:
            connection.execute(setting)
        for check in checks:
            row = connection.execute(check.sql.encode()).fetchone()
            if row is not None:
                raise WorldError(
                    f"the data of {name} break check {check.name} ({check.about}):"
                    f" {', '.join(map(str, row))}",
                    hint="the server or the workload has lost or doubled work: nothing measured on it counts",
                )
