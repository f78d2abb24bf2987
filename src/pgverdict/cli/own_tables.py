"""Own work that a campaign file names in its [[workload]] tables, read relative to the file's folder."""

from dataclasses import replace
from pathlib import Path

from pgverdict.cli.own_files import read_dump_at, read_script, read_sql
from pgverdict.errors import UserError
from pgverdict.spec.document import Document
from pgverdict.spec.file import WorkloadTable
from pgverdict.spec.own import OwnWork


def own_work_of(document: Document) -> dict[int, OwnWork]:
    """By the number of the [[workload]]. UserError, with file, line and key, for what cannot be read or has no use."""
    found = {}
    for number, table in enumerate(document.tables.workload):
        if table.script is not None:
            found[number] = _read(document, number, table)
        else:
            _require_nothing_alone(document, number, table)
    return found


def _read(document: Document, number: int, table: WorkloadTable) -> OwnWork:
    assert table.script is not None
    folder = Path(document.path).absolute().parent
    place = ("workload", number)
    if table.name is not None:
        with document.at(*place, "name"):
            raise UserError(
                f"own scripts in place of a workload of the catalogue: {', '.join(table.name)}",
                hint="write them as two [[workload]] tables",
            )
    with document.at(*place, "script"):
        scripts = tuple(read_script(text, folder) for text in table.script)
    with document.at(*place, "schema"):
        schema = read_sql(table.schema_file, "the schema", folder) if table.schema_file else None
    with document.at(*place, "load"):
        load = read_sql(table.load, "the SQL of the load", folder) if table.load else None
    with document.at(*place, "dump"):
        dump = read_dump_at(table.dump, folder) if table.dump else None
    with document.at(*place, "script"):
        own = OwnWork(scripts, schema, load, dump, table.read_only, table.long)
    with document.at(*place, "allow"):
        return replace(own, allow=tuple(dict.fromkeys(table.allow or ())))


def _require_nothing_alone(document: Document, number: int, table: WorkloadTable) -> None:
    said = {"schema": table.schema_file, "load": table.load, "dump": table.dump,
            "read_only": table.read_only, "long": table.long, "allow": table.allow}  # fmt: skip
    for key, value in said.items():
        if value:
            with document.at("workload", number, key):
                raise UserError(
                    "it is said of own scripts, and there are none", hint='write script = "FILE.sql"'
                )
