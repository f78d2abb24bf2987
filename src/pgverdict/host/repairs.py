"""`doctor --fix` and `--undo`: knobs of the running kernel are set, and what they were before is written down first.

The record is a file of JSON with an entry per knob: where it is, what it was before we first touched it, what we set.

    nothing -> written down -> set -> put back, entry removed

It is replaced as a whole before the next knob is touched, so that a crash leaves at worst an entry whose knob was not
set yet, which undoing finds as it was. What is set twice keeps the value from before the first time.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.host.advice import Advice, Change
from pgverdict.host.tree import Tree, chosen
from pgverdict.records.host import Level

_KNOBS = ("/sys/", "/proc/sys/")


@dataclass(frozen=True)
class Touched:
    """A knob that we set. Its value was `before` when we first did, and we last set it to `set`."""

    path: str
    before: str
    set: str


@dataclass(frozen=True)
class Step:
    """A knob that is to be set, and what it is now."""

    path: str
    now: str
    value: str

    def __str__(self) -> str:
        return f"{self.path}: {self.now} -> {self.value}"


def plan(tree: Tree, advice: Iterable[Advice]) -> tuple[Step, ...]:
    """What `fix` would do about notes and warnings: no knob that has its value already."""
    steps = []
    for one in advice:
        if one.level in (Level.NOTE, Level.WARNING):
            steps += [Step(change.path, _read(tree, change), change.value) for change in one.changes]
    return tuple(step for step in steps if step.now != step.value)


def fix(tree: Tree, record: Path, steps: Iterable[Step]) -> None:
    """Set every knob. Whatever happens meanwhile, `record` has what `undo` needs."""
    steps = tuple(steps)
    touched = {one.path: one for one in read_record(record)}
    _require_writable(tree, [step.path for step in steps])
    for step in steps:
        before = touched[step.path].before if step.path in touched else step.now
        touched[step.path] = Touched(step.path, before, step.value)
        _keep(record, touched.values())
        _set(tree, step.path, step.value)


def undo(tree: Tree, record: Path) -> Iterator[str]:
    """Put back what is still as we set it, the last first, telling each; what is not is told and left alone.

    A knob that the kernel does not take back stays in the record, and is the error at the end.
    """
    left = list(read_record(record))
    _require_writable(tree, [one.path for one in left])
    refused: WorldError | None = None
    for one in reversed(tuple(left)):
        now = chosen(tree.text(one.path))
        if now == one.set:
            try:
                _set(tree, one.path, one.before)
            except WorldError as error:
                refused = refused or error
                continue
            yield f"{one.path}: {now} -> {one.before}"
        elif now == one.before:
            yield f"{one.path}: is {now}, as it was"
        else:
            yield (
                f"{one.path}: left alone: is {now or 'not there'}, which pgverdict did not set"
                f" (it set {one.set}, and found {one.before})"
            )
        left.remove(one)
        _keep(record, left)
    if refused is not None:
        raise refused


def read_record(record: Path) -> tuple[Touched, ...]:
    """What we set and did not put back yet, in the order in which it was set."""
    try:
        content = record.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise WorldError(
            f"cannot read what was set before: {record}: {error.strerror}",
            hint="run it as the user who set it",
        ) from error
    try:
        touched = tuple(Touched(**entry) for entry in json.loads(content))
        if not all(isinstance(value, str) for one in touched for value in vars(one).values()):
            raise TypeError
    except (ValueError, TypeError):
        raise WorldError(
            f"not a record of what was set before: {record}",
            hint="put the knobs back by hand, then remove the file",
        ) from None
    for one in touched:
        # Root writes where the file says, so the file may not say much.
        if not one.path.startswith(_KNOBS) or ".." in one.path.split("/"):
            raise WorldError(f"not a knob of the kernel, in {record}: {one.path}", hint="remove that entry")
    return touched


def _keep(record: Path, touched: Iterable[Touched]) -> None:
    """Replace the record, and have it on the disk before anything else happens."""
    entries = [asdict(one) for one in touched]
    partial = record.with_suffix(".partial")
    try:
        if not entries:
            record.unlink(missing_ok=True)
            return
        with partial.open("w") as file:
            json.dump(entries, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(record)
        _sync(record.parent)
    except OSError as error:
        raise WorldError(
            f"cannot write down what was set before: {record}: {error.strerror}",
            hint="nothing was changed that is not written there",
        ) from error


def _sync(directory: Path) -> None:
    """A file's new name is safe with its directory."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(tree: Tree, change: Change) -> str:
    now = chosen(tree.text(change.path))
    if now is None:
        raise WorldError(f"cannot read the knob {change.path}")
    return now


def _set(tree: Tree, path: str, value: str) -> None:
    """Write a knob and see that the kernel took it."""
    try:
        tree.place(path).write_text(value)
    except OSError as error:
        raise WorldError(f"cannot set {path} to {value}: {error.strerror}", hint=_UNDO) from error
    if (now := chosen(tree.text(path))) != value:
        raise WorldError(f"the kernel did not take {value} for {path}: it is {now}", hint=_UNDO)


_UNDO = "`pgverdict doctor --undo` puts back what is set"


def _require_writable(tree: Tree, paths: Iterable[str]) -> None:
    """Before the first is touched. A knob that is gone (of a disk that was taken out) is no obstacle to the others."""
    for path in paths:
        if tree.exists(path) and not tree.is_writable(path):
            raise WorldError(
                f"may not write {path}",
                hint="this takes root: `sudo pgverdict doctor ...`, on the host itself where a container shows it"
                " read-only",
            )
