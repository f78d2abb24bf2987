"""The YCSB group: its core workloads A to F, as a native program. Sources and deviations: docs/workloads/ycsb.md."""

from collections.abc import Mapping
from dataclasses import dataclass

from pgverdict.errors import UserError
from pgverdict.spec.parameters import Kind, Parameter, Value
from pgverdict.spec.regime import Regime
from pgverdict.workloads.workload import Dataset, Entry, Program, SliceBound, Table, Workload

RECORDS_PER_SCALE = 10_000
"""As the engine's generate/ycsb.rs has it."""

RECORD_BYTES_MAX = 50_000
"""As the engine has it: a record is a row of COPY in one piece."""

SHARES = 4
"""Parts of the table that are loaded side by side, the same on every host: digests are of parts."""

_KEY_BYTES, _ROW_BYTES, _FIELD_BYTES, _PAGE_FILL = 24, 28, 4, 0.97
"""Of a key in heap and index; of a row's and a field's headers; and how full pages get."""

_ROW_PARAMETERS = (
    Parameter("fields", "fields of a record", Kind.INTEGER, 10, least=1, most=100),
    Parameter("field_length", "bytes of a field, the longest", Kind.INTEGER, 100, least=1, most=10_000),
    Parameter(
        "field_lengths", "how lengths of fields are spread", Kind.CHOICE, "constant",
        choices=("constant", "uniform", "zipfian"),
    ),
    Parameter("layout", "a column per field, or one document", Kind.CHOICE, "columns", choices=("columns", "jsonb")),
    Parameter(
        "insert_order", "keys from hashes of record numbers, or from the numbers", Kind.CHOICE, "hashed",
        choices=("hashed", "ordered"),
    ),
    Parameter("zero_padding", "digits of a key at least", Kind.INTEGER, 1, least=1, most=40),
)  # fmt: skip


@dataclass(frozen=True)
class _Kind:
    """One core workload."""

    letter: str
    about: str
    requests: str = "zipfian"
    changes_data: bool = True
    mixed: bool = True

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (
            *_ROW_PARAMETERS,
            Parameter(
                "requests", "which records are popular", Kind.CHOICE, self.requests,
                choices=("zipfian", "uniform", "latest", "hotspot", "exponential"),
            ),
            Parameter("read_all_fields", "read all fields, or one", Kind.BOOLEAN, True),
            Parameter("write_all_fields", "update all fields, or one", Kind.BOOLEAN, False),
            Parameter("scan_length", "records of a scan at most", Kind.INTEGER, 100, least=1, most=1_000_000),
            Parameter(
                "operations", "operations that popular records are spread for (operationcount)", Kind.INTEGER, 10_000,
                least=0, most=10**12,
            ),
            Parameter(
                "target", "operations a second of all clients, 0 for as many as they can; times count from when each"
                " was due", Kind.INTEGER, 0, least=0, most=10**8,
            ),
        )  # fmt: skip

    def make(self, values: Mapping[str, Value]) -> Workload:
        return Workload(
            name=f"ycsb-{self.letter}",
            about=self.about,
            dataset=_dataset(values),
            regime=Regime.FRESH if self.changes_data else Regime.READ_ONLY,
            bound=SliceBound.TRANSACTIONS if self.changes_data else SliceBound.TIME,
            program=Program("ycsb", (("mix", self.letter), *sorted(values.items())), mixed=self.mixed),
            is_paced=int(values["target"]) > 0,
        )


def _dataset(values: Mapping[str, Value]) -> Dataset:
    fields, length = int(values["fields"]), int(values["field_length"])
    if fields * length > RECORD_BYTES_MAX:
        raise UserError(
            f"a record has at most {RECORD_BYTES_MAX} bytes: fields={fields} field_length={length}",
            hint="choose fewer fields, or shorter ones",
        )
    columns = values["layout"] == "columns"
    value = "".join(f", field{number} text" for number in range(fields)) if columns else ", ycsb_value jsonb"
    rows = tuple((one.name, values[one.name]) for one in _ROW_PARAMETERS)
    record_bytes = fields * (length + (_FIELD_BYTES if columns else 3 * _FIELD_BYTES)) + _ROW_BYTES
    return Dataset(
        name="ycsb",
        revision=1,
        # The order of keys must not depend on the release's or the host's collations.
        tables_sql=f'CREATE TABLE usertable (ycsb_key varchar(255) COLLATE "C"{value});\n',
        indexes_sql="ALTER TABLE usertable ADD PRIMARY KEY (ycsb_key);\n",
        tables=(Table("usertable", "ycsb", rows, SHARES),),
        bytes_per_scale=int(RECORDS_PER_SCALE * (record_bytes + 3 * _KEY_BYTES) / _PAGE_FILL),
        lanes=SHARES,
    )


_KINDS = (
    _Kind("a", "half reads, half updates of popular records (YCSB A)"),
    _Kind("b", "reads, and 5 % updates of popular records (YCSB B)"),
    _Kind("c", "reads of popular records (YCSB C)", changes_data=False, mixed=False),
    _Kind("d", "reads of the latest records, and 5 % inserts (YCSB D)", requests="latest"),
    _Kind("e", "scans of up to 100 records, and 5 % inserts (YCSB E)"),
    _Kind("f", "half reads, half reads followed by an update (YCSB F)"),
)

ENTRIES = tuple(Entry(f"ycsb-{kind.letter}", kind.parameters, kind.make) for kind in _KINDS)
