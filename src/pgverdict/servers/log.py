"""What a server wrote since its latest start, in a file that earlier lives of it have written to as well."""

import os
from pathlib import Path


class Log:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._begin: int | None = None
        """Where in the file the latest life begins."""

    def begin(self) -> None:
        """From here on: a start."""
        self._begin = self.path.stat().st_size if self.path.exists() else 0

    def tail(self, lines: int) -> str:
        """The last lines."""
        if self._begin is None or not self.path.exists():
            return ""
        with self.path.open("rb") as file:
            file.seek(self._begin)
            text = file.read().decode(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def end(self, bytes_max: int) -> str:
        """The last whole lines, of so many bytes at most."""
        if self._begin is None or not self.path.exists():
            return ""
        with self.path.open("rb") as file:
            begin = max(self._begin, file.seek(0, os.SEEK_END) - bytes_max)
            # A byte more says whether a line begins there.
            file.seek(max(self._begin, begin - 1))
            written = file.read(bytes_max + 1)
        if begin > self._begin:
            # Of a single line that is longer than all of it, its end.
            written = written.partition(b"\n")[2] or written[1:]
        return written.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
