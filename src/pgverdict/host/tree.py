"""The kernel's files below a root directory: / on a host, a recorded tree in tests. Paths begin with a slash."""

import os
from pathlib import Path

from pgverdict.errors import WorldError


class Tree:
    """Reads and, for `host.repairs` only, writes. What is not there, or may not be read, is None."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        if self.text("/proc/stat") is None:
            raise WorldError(
                f"cannot look at this host: no proc/stat below {root}",
                hint="this takes Linux with /proc mounted",
            )

    def text(self, path: str) -> str | None:
        """The content of a file, without the blanks around it."""
        try:
            return self.place(path).read_text(errors="replace").strip()
        except OSError:
            return None  # not on this kernel, not for this user, or not for this device

    def number(self, path: str) -> int | None:
        """The whole number a file holds."""
        return whole(self.text(path))

    def names(self, directory: str, pattern: str = "*") -> tuple[str, ...]:
        """What a directory holds, sorted as people count: policy2 before policy10."""
        return tuple(sorted((path.name for path in self.place(directory).glob(pattern)), key=_as_counted))

    def exists(self, path: str) -> bool:
        return self.place(path).exists()

    def is_writable(self, path: str) -> bool:
        """Whether this process may write it: not without root, nor where a container mounts it read-only."""
        return os.access(self.place(path), os.W_OK)

    def place(self, path: str) -> Path:
        """Where the file really is."""
        assert path.startswith("/"), path
        return self._root / path[1:]


def whole(text: str | None) -> int | None:
    """
    >>> whole("60"), whole("-1"), whole("max"), whole(None)
    (60, -1, None, None)
    """
    return int(text) if text and text.removeprefix("-").isdigit() else None


def chosen(text: str | None) -> str | None:
    """Of a list, the word in brackets; of one word, that word.

    >>> chosen("always [madvise] never"), chosen("none"), chosen(None)
    ('madvise', 'none', None)
    """
    if text is None or "[" not in text:
        return text
    return text.partition("[")[2].partition("]")[0]


def offered(text: str | None) -> tuple[str, ...]:
    """All words of such a list.

    >>> offered("none [mq-deadline] bfq")
    ('none', 'mq-deadline', 'bfq')
    """
    return tuple((text or "").replace("[", "").replace("]", "").split())


def listed_numbers(text: str | None) -> frozenset[int]:
    """Cores or nodes as the kernel lists them.

    >>> sorted(listed_numbers("0-2,8"))
    [0, 1, 2, 8]
    """
    numbers: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit():
            numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)


def _as_counted(name: str) -> tuple[str, int]:
    letters = name.rstrip("0123456789")
    return letters, int(name[len(letters) :] or 0)
