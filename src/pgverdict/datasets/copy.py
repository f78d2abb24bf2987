"""Copies of data directories, and the rest they need before a server may be measured on them."""

import ctypes
import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.observe.host import memory_bytes

SETTLED_BYTES = 32 << 20
"""With no more than this dirty or under write-back on the whole host, write-back is not what a round measures."""

SETTLE_S = 5.0
"""How long to wait for that; other programs may keep writing, and the round is then measured all the same."""


def copy_data(source: Path, target: Path) -> None:
    """Copy a data directory, owner and modes included; shares blocks where the file system can (reflink)."""
    copy_at_once([(source, target)])


def copy_at_once(copies: Iterable[tuple[Path, Path]]) -> None:
    """Copies from sources to targets, side by side: sooner done, and none is older, or warmer, than another."""
    with ExitStack() as stack:
        running = [
            (source, target, stack.enter_context(_copying(source, target))) for source, target in copies
        ]
        for source, target, process in running:
            _, said = process.communicate()
            if process.returncode:
                raise WorldError(f"cannot copy {source} to {target}: {said.strip()}")


@contextmanager
def _copying(source: Path, target: Path) -> Iterator[subprocess.Popen[str]]:
    """The end of the context is the end of the process: nobody writes where the caller may delete."""
    command = ["cp", "-a", "--reflink=auto", str(source), str(target)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def settle(path: Path) -> bool:
    """Write out what the file system of `path` still holds back and wait for it; False if the host never got quiet."""
    sync_file_system(path)
    deadline = time.monotonic() + SETTLE_S
    while memory_bytes("Dirty") + memory_bytes("Writeback") > SETTLED_BYTES:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def sync_file_system(path: Path) -> None:
    """Returns when all that was written to the file system of `path` is on its storage."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if _libc.syncfs(descriptor) != 0:
            raise OSError(ctypes.get_errno(), "syncfs", str(path))
    finally:
        os.close(descriptor)


_libc = ctypes.CDLL(None, use_errno=True)
