"""What a check says: a diagnosis, why it matters for a comparison, and the command that mends it."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from pgverdict.records.host import Diagnosis, Level


@dataclass(frozen=True)
class Change:
    """A value for a knob: a file of the running kernel that forgets it at the next start of the host."""

    path: str
    value: str


@dataclass(frozen=True)
class Advice:
    """`why` and `command` are empty where all is fine.

    `command` is also empty where no command can help; `why` then says what can.
    """

    diagnosis: Diagnosis
    why: str = ""
    command: str = ""
    changes: tuple[Change, ...] = ()
    """What `doctor --fix` does; nothing where it is not ours to do, or could break something."""

    @property
    def level(self) -> Level:
        return self.diagnosis.level


def fine(check: str, found: str) -> Advice:
    return Advice(Diagnosis(check, Level.FINE, found))


def note(check: str, found: str, why: str, command: str = "", changes: Iterable[Change] = ()) -> Advice:
    """Worth knowing: it belongs to what is measured, or makes intervals wider."""
    return _advise(Level.NOTE, check, found, why, command, tuple(changes))


def warning(check: str, found: str, why: str, command: str = "", changes: Iterable[Change] = ()) -> Advice:
    """It may favour an arm, or hit one and not the other."""
    return _advise(Level.WARNING, check, found, why, command, tuple(changes))


def not_known(check: str, found: str, why: str = "", command: str = "") -> Advice:
    """The host does not show it. `why`: what is to be thought of it all the same."""
    return _advise(Level.NOT_KNOWN, check, found, why, command, ())


def _advise(
    level: Level, check: str, found: str, why: str, command: str, changes: tuple[Change, ...]
) -> Advice:
    return Advice(Diagnosis(check, level, found), why, command or command_of(changes), changes)


def command_of(changes: tuple[Change, ...]) -> str:
    """What does the same by hand.

    >>> command_of((Change("/proc/sys/vm/swappiness", "1"),))
    'sudo sysctl -w vm.swappiness=1'
    >>> command_of((Change("/sys/block/sda/queue/scheduler", "none"), Change("/sys/block/sdb/queue/scheduler", "none")))
    'echo none | sudo tee /sys/block/sda/queue/scheduler /sys/block/sdb/queue/scheduler'
    """
    by_value: dict[str, list[str]] = {}
    for change in changes:
        by_value.setdefault(change.value, []).append(change.path)
    return " && ".join(_command(value, paths) for value, paths in by_value.items())


def _command(value: str, paths: list[str]) -> str:
    if all(path.startswith(SYSCTL) for path in paths):
        names = " ".join(f"{path.removeprefix(SYSCTL).replace('/', '.')}={value}" for path in paths)
        return f"sudo sysctl -w {names}"
    return f"echo {shlex.quote(value)} | sudo tee {' '.join(paths)}"


SYSCTL = "/proc/sys/"
