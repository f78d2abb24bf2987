"""Starting a server with its memory where a plan wants it (`plan.layout`).

The kernel is told not to draw (personality(2)); it then puts a program at one address for ever and its maps below the
largest stack that the limit allows. So the limit moves the maps, and what is in the environment moves the stack. The
program itself moves if it is one of the maps, which it is where its own dynamic loader is started with it as argument.
The server keeps the limit, which is larger than it would have had; `max_stack_depth` is 2 MB with either.

    with laid_out(layout):
        popen([*loader_of(postgres), postgres, ...], env=padding(layout))
"""

import ctypes
import os
import resource
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.plan.layout import MAP_PAGES, Layout

_QUERY = 0xFFFFFFFF
_ADDR_NO_RANDOMIZE = 0x0040000

STACK_BYTES_MIN = 256 << 20
"""Above the 128 MB that the kernel leaves for a stack whatever the limit is, so that every page more moves the maps."""

_ELF_64, _LITTLE, _INTERPRETER = 2, 1, 3


@contextmanager
def fixed_addresses() -> Iterator[None]:
    """What this thread starts inside has its memory at the same addresses every time, as by `setarch -R`.

    It takes effect when a program is executed, so this process itself stays as it is. WorldError if it may not be.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    before = libc.personality(ctypes.c_ulong(_QUERY))
    if before == -1 or libc.personality(ctypes.c_ulong(before | _ADDR_NO_RANDOMIZE)) == -1:
        raise WorldError(
            f"cannot fix the addresses of new processes: {os.strerror(ctypes.get_errno())}",
            hint="containers forbid personality(2) unless their seccomp profile allows it",
        )
    try:
        yield
    finally:
        libc.personality(ctypes.c_ulong(before))


@contextmanager
def laid_out(layout: Layout) -> Iterator[None]:
    """What this thread executes inside has its maps where the layout says. Its stack is moved by `padding`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    moved = STACK_BYTES_MIN + layout.map_pages * resource.getpagesize()
    with fixed_addresses():
        resource.setrlimit(resource.RLIMIT_STACK, (moved, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


def padding(layout: Layout) -> Mapping[str, str]:
    """What has to be in the environment. The stack lies below it."""
    return {"PGVERDICT_LAYOUT": "." * layout.stack_bytes}


@cache
def loader_of(program: Path) -> Path | None:
    """The dynamic loader that a program asks for; None where it asks for none, or is not for 64 bits."""
    with program.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:6] != b"\x7fELF" + bytes((_ELF_64, _LITTLE)):
            return None
        begin, size, count = (*struct.unpack_from("<Q", head, 32), *struct.unpack_from("<HH", head, 54))
        file.seek(begin)
        table = file.read(size * count)
        for number in range(count):
            kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", table, number * size)
            if kind == _INTERPRETER:
                file.seek(offset)
                return Path(os.fsdecode(file.read(length).rstrip(b"\0")))
    return None


@cache
def obstacle(program: Path) -> str | None:
    """Why the layout of a program cannot be chosen here, if it cannot."""
    loader = loader_of(program)
    # Others (musl's, say) put a program elsewhere than among the maps, or were not tried.
    if loader is None or not loader.name.startswith("ld-linux-"):
        return f"it is loaded by {loader or 'nobody'}, and not by the GNU C library's loader"
    return obstacle_here()


def obstacle_here() -> str | None:
    """Why this host lets us choose the layout of no program, if it does not."""
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    most = STACK_BYTES_MIN + MAP_PAGES * resource.getpagesize()
    if hard != resource.RLIM_INFINITY and hard < most:
        return f"a stack may not be larger than {hard >> 20} MB here (ulimit -H -s)"
    try:
        with fixed_addresses():
            return None
    except WorldError as error:
        return error.message
