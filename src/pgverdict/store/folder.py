"""A run as a folder of tables, for notebooks: a file per table of the store, CSV or Parquet, and what columns mean.

CSV holds numbers to their last digit, lists as JSON, histograms in base64, and nothing where there is nothing.
"""

import base64
import csv
import errno
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, Column, Double, Integer, Select, Table, select

from pgverdict.errors import UserError, WorldError
from pgverdict.store import tables
from pgverdict.store.columns import Histogram, Measured
from pgverdict.store.json_text import to_json_text
from pgverdict.store.runs import Store

_ROWS_AT_ONCE = 20_000

Rows = Iterator[Sequence[dict[str, Any]]]
"""Of a table, some at a time."""

WriteTable = Callable[[Path, Table, Rows], None]
"""Into the folder of that path."""


def write_csv(store: Store, run_id: str, folder: Path) -> None:
    """A run of the store, into a folder that is empty or not there yet; UserError if it is neither."""
    _write(store, run_id, folder, _csv)


def write_parquet(store: Store, run_id: str, folder: Path) -> None:
    """The same as Parquet. UserError where pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401 (an extra: 130 MB that only this needs)
    except ImportError:
        raise UserError(
            "Parquet needs the package pyarrow, which is not installed",
            hint="pip install 'pgverdict[parquet]', or --csv DIR",
        ) from None
    _write(store, run_id, folder, _parquet)


def _write(store: Store, run_id: str, folder: Path, write_table: WriteTable) -> None:
    try:
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UserError(
                f"will not write into a folder that holds something: {folder}", hint="name a new one"
            )
        with _whole_or_nothing(folder, new=new), store.reading() as connection:
            reading = connection.execution_options(yield_per=_ROWS_AT_ONCE)
            for table in tables.metadata.sorted_tables:
                found = reading.execute(_of_run(table, run_id)).mappings().partitions()
                write_table(folder, table, ([dict(row) for row in some] for some in found))
            # The last file: a folder without it is that of an export that was killed.
            (folder / "README.md").write_text(_readme(run_id), encoding="utf-8")
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise WorldError(
            f"cannot write tables into {folder}: {error.strerror or error}",
            hint="make room on its file system" if full else "name a folder in a directory of yours",
        ) from error


@contextmanager
def _whole_or_nothing(folder: Path, *, new: bool) -> Iterator[None]:
    """Removes what we wrote into a folder that was empty, if not all of it could be; what others did stays."""
    ours = {"README", *(table.name for table in tables.metadata.sorted_tables)}
    try:
        yield
    except BaseException:
        for file in folder.iterdir():
            if file.stem in ours and not file.is_dir():
                file.unlink()
        if new and not any(folder.iterdir()):
            folder.rmdir()
        raise


def _of_run(table: Table, run_id: str) -> Select[Any]:
    of_run = select(tables.cells.c.cell).where(tables.cells.c.run_id == run_id)
    of_cells = select(tables.rounds.c.round).where(tables.rounds.c.cell.in_(of_run))
    if table is tables.runs:
        condition = table.c.id == run_id
    elif "run_id" in table.c:
        condition = table.c.run_id == run_id
    elif table is tables.rounds:
        condition = table.c.cell.in_(of_run)
    else:
        condition = table.c.round.in_(of_cells)
    return select(table).where(condition).order_by(*table.primary_key.columns)


def _csv(folder: Path, table: Table, rows: Rows) -> None:
    with (folder / f"{table.name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([column.name for column in table.columns])
        for some in rows:
            writer.writerows([_text(column, row[column.name]) for column in table.columns] for row in some)


def _text(column: Column[Any], value: Any) -> Any:
    found = _value(column, value)
    if isinstance(found, bool):
        return "true" if found else "false"
    return "" if found is None else found  # the csv module writes floats as repr() does: to the last digit


def _value(column: Column[Any], value: Any) -> Any:
    """None for what the database calls NULL."""
    if isinstance(column.type, Measured):
        return None if math.isnan(value) else value
    if isinstance(column.type, JSON):
        return None if value is None else to_json_text(value)
    return value


def _parquet(folder: Path, table: Table, rows: Rows) -> None:
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema(
        [
            pyarrow.field(column.name, _kind(column, pyarrow), metadata={"comment": column.comment or ""})
            for column in table.columns
        ]
    )
    with parquet.ParquetWriter(folder / f"{table.name}.parquet", schema, compression="zstd") as writer:
        for some in rows:
            made = {
                column.name: [_packed(column, row[column.name]) for row in some] for column in table.columns
            }
            writer.write_table(pyarrow.table(made, schema=schema))


def _packed(column: Column[Any], value: Any) -> Any:
    found = _value(column, value)
    return base64.b64decode(found) if isinstance(column.type, Histogram) and found is not None else found


def _kind(column: Column[Any], pyarrow: Any) -> Any:
    kinds = (
        (Histogram, pyarrow.binary()),
        ((Measured, Double), pyarrow.float64()),
        (Boolean, pyarrow.bool_()),
        (BigInteger, pyarrow.int64()),
        (Integer, pyarrow.int32()),
    )
    return next((kind for types, kind in kinds if isinstance(column.type, types)), pyarrow.string())


def _readme(run_id: str) -> str:
    """Every table and column, in the words of the store itself."""
    lines = [f"# Run {run_id} of pgverdict, as tables", ""]
    for table in tables.metadata.sorted_tables:
        lines += [f"## {table.name}", "", f"{table.comment}.", "", "| column | meaning |", "|---|---|"]
        lines += [f"| `{column.name}` | {column.comment} |" for column in table.columns] + [""]
    return "\n".join(lines)
