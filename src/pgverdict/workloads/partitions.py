"""How a table of a dataset is partitioned, and the SQL that makes its partitions at a size."""

from dataclasses import dataclass
from enum import Enum


class PartitionMethod(Enum):
    """How rows find their partition."""

    RANGE = "range"
    HASH = "hash"


@dataclass(frozen=True)
class Partitioning:
    """A table in `count` partitions by an integer column, which has the values 1 to `rows_per_scale` * scale.

    The table is made with PARTITION BY among `Dataset.tables_sql`; its partitions are named as `pgbench -i` does.
    """

    table: str
    column: str
    count: int
    method: PartitionMethod
    rows_per_scale: int
    unlogged: bool = False
    fillfactor: int = 100

    def sql_at(self, scale: int) -> str:
        """What makes the partitions; those by range are of one size, but for the last."""
        size = -(-self.rows_per_scale * scale // self.count)
        made = []
        for number in range(1, self.count + 1):
            if self.method is PartitionMethod.HASH:
                values = f"WITH (MODULUS {self.count}, REMAINDER {number - 1})"
            else:
                begin = "MINVALUE" if number == 1 else str((number - 1) * size + 1)
                end = "MAXVALUE" if number == self.count else str(number * size + 1)
                values = f"FROM ({begin}) TO ({end})"
            made.append(
                f"CREATE {'UNLOGGED ' if self.unlogged else ''}TABLE {self.table}_{number} PARTITION OF {self.table}"
                f" FOR VALUES {values} WITH (fillfactor = {self.fillfactor});\n"
            )
        return "".join(made)
