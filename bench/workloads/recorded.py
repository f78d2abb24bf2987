"""What is kept of a case: a file with its circumstances, and a line per run of a program."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pgverdict.errors import UserError

from .case import Case, Size
from .figures import Run


@dataclass
class Recorded:
    """Repetitions of one case that may stand beside each other: of one engine, one rival, one size, one host."""

    case: str
    rival: str
    """With its version."""
    size: dict[str, float]
    engine: str
    """The digest of the sources of the engine."""
    host: dict[str, str]
    command: str
    runs: list[Run] = field(default_factory=list)

    @property
    def repetitions(self) -> int:
        """That are whole, of both programs: they are numbered from 0 on."""
        return 1 + max((run.repetition for run in self.runs), default=-1)

    def check_goes_on(self, begun: "Recorded") -> None:
        """UserError unless `begun`, of now, may add to this."""
        for what in ("rival", "size", "engine", "host"):
            was, now = getattr(self, what), getattr(begun, what)
            if was != now:
                raise UserError(
                    f"what is recorded of {self.case} is of another {what}: {was}, not {now}",
                    hint="--anew begins it anew",
                )


def begin(
    case: Case, rival: str, size: Size, *, engine: str, host: Mapping[str, str], command: str
) -> Recorded:
    """Nothing measured yet."""
    return Recorded(case.name, rival, asdict(size), engine, dict(host), command)


def read(path: Path) -> Recorded:
    """What `write` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return Recorded(**{**document, "runs": [Run(**row) for row in document["runs"]]})


def read_all(folder: Path) -> list[Recorded]:
    """Of every case."""
    return [read(path) for path in sorted(folder.glob("*.json"))]


def write(recorded: Recorded, path: Path) -> None:
    """JSON with a line per run; the file appears whole."""
    document = asdict(recorded)
    rows = ",\n  ".join(json.dumps(row) for row in document.pop("runs"))
    parts = [f'"{name}": {json.dumps(value)}' for name, value in document.items()]
    parts.append(f'"runs": [\n  {rows}\n ]')
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text("{\n " + ",\n ".join(parts) + "\n}\n", encoding="utf-8")
    new.rename(path)
