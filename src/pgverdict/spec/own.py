"""A user's own work, in place of a built-in workload: scripts, and what they work on. Values, with all texts in them.

They are made by `cli` from files, and kept whole, so that a stored run says what was measured even where the files
have changed since. A dump is kept by its digest only.
"""

import hashlib
import json
import re
from dataclasses import dataclass

from pgverdict.errors import UserError, unknown_word

_NAME_LENGTH_MAX = 40

RISKS = ("shell",)
"""What scripts may do only where it is allowed by name. `shell`: run commands on this host (\\shell, \\setshell)."""


@dataclass(frozen=True)
class OwnScript:
    """A pgbench script: the file it was read from, its text, its weight in the mix."""

    path: str
    text: str
    weight: int = 1

    @property
    def name(self) -> str:
        """Its file's name without folder and ending.

        >>> OwnScript("/work/check out.sql", "").name
        'check-out'
        """
        stem = self.path.rpartition("/")[2].rpartition(".")[0] or self.path.rpartition("/")[2]
        return re.sub(r"[^\w.-]+", "-", stem) or "script"


@dataclass(frozen=True)
class OwnText:
    """SQL of the user's, and the file it was read from. `:scale` in it becomes the cell's scale."""

    path: str
    text: str

    def at(self, scale: int) -> str:
        """What is executed at a scale.

        >>> OwnText("", "SELECT generate_series(1, 10 * :scale)::scale").at(3)
        'SELECT generate_series(1, 10 * 3)::scale'
        """
        return re.sub(r"(?<![:\w]):scale\b", str(scale), self.text)


@dataclass(frozen=True)
class OwnDump:
    """A dump to be restored by PostgreSQL's own programs: where it is, and what was in it."""

    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class OwnWork:
    """Scripts, and the data they work on: `schema`, then `load`, then `dump`; none of the three: pgbench's tables.

    `read_only`: the scripts change nothing, so that rounds may work on data in place. `long`: their transactions take
    seconds or more. `allow`: which of `RISKS` are allowed.
    """

    scripts: tuple[OwnScript, ...]
    schema: OwnText | None = None
    load: OwnText | None = None
    dump: OwnDump | None = None
    read_only: bool = False
    long: bool = False
    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [script.name for script in self.scripts]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UserError(
                f"two scripts of one name: {', '.join(twice)}",
                hint="reports tell scripts apart by their names",
            )
        for risk in self.allow:
            if risk not in RISKS:
                raise unknown_word("thing to allow", risk, RISKS)
        if not any(script.weight for script in self.scripts):
            raise UserError(f"no script is ever chosen: {', '.join(names)}", hint="give one a weight above 0")

    @property
    def has_data(self) -> bool:
        """Whether it brings its own data."""
        return any((self.schema, self.load, self.dump))

    @property
    def name(self) -> str:
        """What the workload is called: after its scripts."""
        return "+".join(script.name for script in self.scripts)[:_NAME_LENGTH_MAX]

    @property
    def digest(self) -> str:
        """Of everything that decides what is measured: texts, weights and the dump's content, but no paths.

        What is allowed decides only whether it is measured.
        """
        texts = [one.text if one else None for one in (self.schema, self.load)]
        parts = (
            [(script.name, script.text, script.weight) for script in self.scripts],
            texts,
            self.dump.sha256 if self.dump else None,
            self.read_only,
            self.long,
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
