"""A repetition as it is kept: a file of JSON lines, the first with its facts, then one for each round.

    LINE/0001-probe.jsonl   what the size of the injected slow-down was taken from
    LINE/0001.jsonl         a repetition (0001.jsonl.gz where slices are kept)

A file appears whole or not at all, and is never changed. Values of metrics stand in the order of the first line's
`metrics`, as [baseline, candidate, log ratio]; null where a round has none. Log ratios are kept to the last digit, so
that verdicts can be made again; values to seven digits.
"""

import gzip
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pgverdict.errors import WorldError
from pgverdict.plan.rounds import RoundPlan

PROBE = "probe"


@dataclass(frozen=True)
class SliceFigures:
    """A slice in a few figures; times in microseconds."""

    pair: int
    arm: int
    transactions: int
    busy_us: float
    p50_us: float
    p99_us: float
    max_us: float


@dataclass(frozen=True)
class Round:
    """A round. Orders are the plan's: arms as they were started, as they were connected, and their directories."""

    cell: int
    ordinal: int
    state: str
    seconds: float
    start_order: tuple[int, ...]
    connect_order: tuple[int, ...]
    slots: tuple[int, ...]
    loads: tuple[int, ...]
    installs: tuple[int, ...]
    values: Mapping[str, tuple[float, float, float]]
    spun_us: tuple[float, ...] | None = None
    """Per arm, what the injected slow-down really took per transaction; None where nothing was injected."""
    messages: float | None = None
    """Messages (round trips) per transaction of the baseline."""
    slices: tuple[SliceFigures, ...] = ()
    story: str | None = None

    @property
    def plan(self) -> RoundPlan:
        """The round's plan, without its pairs."""
        return RoundPlan(
            self.ordinal, self.start_order, self.connect_order, self.slots, self.loads, self.installs, ()
        )


@dataclass(frozen=True)
class Cell:
    """A cell of the repetition, and what the product said of its primary metric in the end."""

    key: str
    primary: str
    threads: int
    """Engine threads, each on a core of its own: how many clients work at once."""
    load_pools: tuple[int, ...]
    """Per arm, the pool its loads come from: loads of one pool are the same ones for all its arms."""
    install_pools: tuple[int, ...]
    """The same of the copies of its install."""
    alpha: float
    outcome: str
    effect: float
    low: float
    high: float


@dataclass(frozen=True)
class Repetition:
    """One whole run of the product."""

    line: str
    begun: str
    revision: str
    command: str
    host: Mapping[str, str]
    servers: tuple[str, ...]
    engine: str
    seed: int
    margin: float
    confidence: float
    budget_s: float
    fixed_rounds: int | None
    injected: float
    handicap_ns: int
    seconds: float
    failure: str | None
    cells: tuple[Cell, ...]
    rounds: tuple[Round, ...]

    def measured(self, cell: int = 0) -> tuple[Round, ...]:
        """The rounds of a cell that count."""
        return tuple(r for r in self.rounds if r.cell == cell and r.state == "measured")


def to_lines(repetition: Repetition) -> str:
    """The content of its file."""
    metrics = sorted({name for r in repetition.rounds for name in r.values})
    head = {"metrics": metrics, **{k: v for k, v in asdict(repetition).items() if k != "rounds"}}
    return "".join(
        json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"
        for line in (_plain(head), *(_round_line(r, metrics) for r in repetition.rounds))
    )


def _round_line(r: Round, metrics: list[str]) -> dict[str, Any]:
    line = {
        **{field.name: getattr(r, field.name) for field in fields(Round)},
        "seconds": round(r.seconds, 3),
        "values": [
            [_short(r.values[m][0]), _short(r.values[m][1]), r.values[m][2]] if m in r.values else None
            for m in metrics
        ],
        "spun_us": None if r.spun_us is None else [_short(one) for one in r.spun_us],
        "slices": [
            [one.pair, one.arm, one.transactions, *map(_short, (one.busy_us, one.p50_us, one.p99_us, one.max_us))]
            for one in r.slices
        ],
    }  # fmt: skip
    # What most rounds do not have is left out.
    return {name: value for name, value in line.items() if value not in (None, [])}


def _short(value: float) -> float:
    return float(f"{value:.7g}")


def _plain(value: Any) -> Any:
    """JSON knows no infinity and no NaN: they are written as null and text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def from_lines(text: str) -> Repetition:
    """The repetition of a file's content."""
    head, *rest = (json.loads(line) for line in text.splitlines())
    metrics = head.pop("metrics")
    cells = tuple(
        Cell(**{**cell, **{name: float(cell[name]) for name in ("effect", "low", "high")},
                **{name: tuple(cell[name]) for name in ("load_pools", "install_pools")}})
        for cell in head.pop("cells")
    )  # fmt: skip
    head["servers"] = tuple(head["servers"])
    return Repetition(**head, cells=cells, rounds=tuple(_round(line, metrics) for line in rest))


def _round(line: dict[str, Any], metrics: list[str]) -> Round:
    values = {m: tuple(one) for m, one in zip(metrics, line.pop("values", []), strict=False) if one}
    slices = tuple(SliceFigures(*one) for one in line.pop("slices", []))
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in line.items()
    }
    return Round(values=values, slices=slices, **plain)


def keep(repetition: Repetition, folder: Path, name: str, *, compress: bool) -> Path:
    """Write the file of a repetition: whole, under its own name, or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{name}.jsonl{'.gz' if compress else ''}"
    content = to_lines(repetition).encode()
    unfinished = folder / f".{place.name}"
    # Without the time of writing, the same data gives the same bytes.
    unfinished.write_bytes(gzip.compress(content, 9, mtime=0) if compress else content)
    os.link(unfinished, place)  # fails where there is one already
    unfinished.unlink()
    return place


def read(path: Path) -> Repetition:
    """The repetition in a file; WorldError if it cannot be understood."""
    try:
        raw = path.read_bytes()
        return from_lines((gzip.decompress(raw) if path.suffix == ".gz" else raw).decode())
    except (OSError, ValueError, TypeError, KeyError, EOFError) as error:
        raise WorldError(
            f"cannot read the repetition {path}: {error}", hint="take it from git again"
        ) from error


def read_all(folder: Path) -> list[Repetition]:
    """All repetitions of a line, in the order they were measured; none where nothing was."""
    return [read(path) for path in _repetitions(folder)]


def count(folder: Path) -> int:
    """How many repetitions of a line there are."""
    return len(_repetitions(folder))


def _repetitions(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("[0-9]*.jsonl*") if PROBE not in path.name)


def next_name(folder: Path) -> str:
    """The name of the next repetition: they are numbered from 1. That of a probe without one is not used again."""
    taken = [int(path.name[:4]) for path in folder.glob("[0-9]*.jsonl*")]
    return f"{max(taken, default=0) + 1:04}"
