"""What is in the page cache: the files of a data directory, out with them (and with no others) or locked there; and
programs, in with them.

Two kinds of rounds begin with none of their data in the page cache. Cold ones, whose data is to come from storage.
And those of servers confined in memory: the kernel charges a page of a file to the cgroup of whoever read or wrote
it first, and to nobody else as long as it stays. Data that `cp`, or the server of the round before, has brought in
would be memory beside the limit, and a dataset that does not fit would.

    evict(Path("/var/cache/pgverdict/runs/x/in-place/17.7-pgbench"))     # WorldError if it did not help

The programs of confined servers are brought in before: what we have read is charged to us.

    with locked(directory / "base") as is_locked:     # in memory, whatever the kernel would do

Some kernels drop page cache although memory is free, others make room for what servers write.
"""

import ctypes
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pgverdict.datasets.copy import sync_file_system
from pgverdict.errors import WorldError

RESIDENT_BYTES_MAX = 1 << 20
"""What may remain: pages that somebody holds for a moment, of a thousand files."""

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def evict(directory: Path) -> int:
    """Drop all files of a directory from the page cache; the bytes that remain, few.

    WorldError where more remain: a file system in memory has no other place for them, and pages that a running
    server has mapped stay.
    """
    # The kernel drops no page that is yet to be written.
    sync_file_system(directory)
    for descriptor, _ in _files(directory):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    left = resident_bytes(directory)
    if left > RESIDENT_BYTES_MAX:
        raise WorldError(
            f"cannot empty the page cache of {directory}: {left} bytes remain",
            hint="a file system in memory cannot be emptied: set PGVERDICT_HOME to one on a disk",
        )
    return left


def bring_in(files: Iterable[Path]) -> None:
    """Have files in the page cache, charged to the cgroup of this process where they were not there before."""
    for path in files:
        with path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size and _resident_bytes(file.fileno(), size) < size:
                while file.read(1 << 20):
                    pass


@contextmanager
def locked(directory: Path) -> Iterator[bool]:
    """Keep the files below in memory while the context lasts; what is not there comes. The locks end with this process,
    however it ends.

    False where so much may not be locked (RLIMIT_MEMLOCK): then nothing is.
    """
    with ExitStack() as stack:
        for path in (path for path in directory.rglob("*") if path.is_file()):
            try:
                with path.open("rb", buffering=0) as file:
                    size = os.fstat(file.fileno()).st_size
                    if not size:
                        continue
                    address = stack.enter_context(_mapped(file.fileno(), size, _PROT_READ))
            except FileNotFoundError:
                continue  # the server has dropped it meanwhile
            if _libc.mlock(address, size) != 0:
                stack.close()
                yield False
                return
        yield True


def resident_bytes(directory: Path) -> int:
    """How much of the files of a directory is in the page cache, in whole pages."""
    return sum(_resident_bytes(descriptor, size) for descriptor, size in _files(directory) if size)


def _files(directory: Path) -> Iterator[tuple[int, int]]:
    """Each regular file below, open while it is the iterator's turn, and its size. No link is followed."""
    for folder, _, names in os.walk(directory):
        for name in names:
            path = Path(folder, name)
            if not stat.S_ISREG(path.lstat().st_mode):
                continue
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                yield descriptor, os.fstat(descriptor).st_size
            finally:
                os.close(descriptor)


def _resident_bytes(descriptor: int, size: int) -> int:
    """Mapped for a moment and not touched: mincore(2) tells of a mapping what is in memory of the file behind it."""
    with _mapped(descriptor, size, _PROT_NONE) as address:
        pages = (ctypes.c_ubyte * -(-size // _PAGE_BYTES))()
        if _libc.mincore(address, size, pages) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
    # The lowest bit says it; the others are reserved.
    return sum(page & 1 for page in bytes(pages)) * _PAGE_BYTES


@contextmanager
def _mapped(descriptor: int, size: int, protection: int) -> Iterator[int]:
    address = _libc.mmap(None, size, protection, _MAP_SHARED, descriptor, 0)
    if address == _MAP_FAILED:
        raise OSError(ctypes.get_errno(), "mmap")
    try:
        yield address
    finally:
        _libc.munmap(address, size)


_PROT_NONE, _PROT_READ = 0, 1
_MAP_SHARED = 1
_MAP_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.mlock.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_ubyte))
