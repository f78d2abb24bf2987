"""The server processes that run in a directory of ours, and how they are ended.

Every process of a PostgreSQL server, in all releases, has its data directory as working directory. That
is how they are found: also children forked a moment ago, orphans of a killed postmaster, and servers of
which nobody wrote down anything. No stranger is ever hit: working directory and program are looked at
again on the very process that gets the signal.

Standard library only: the supervisor's process imports this.
"""

import contextlib
import ctypes
import os
import re
import select
import signal
import struct
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from pgverdict.servers.cgroups import Cgroup, made_for, thaw_all, thaw_around

QUIT_S = 0.5
"""How long a server has to end by itself after SIGQUIT. It needs 10 ms; the promise is two seconds."""

_QUIET_S = 0.1  # a server between fork and exec is not yet recognised: look again for so long
_GIVE_UP_S = 10.0  # a process that survives SIGKILL so long hangs in the kernel


def running_in(directory: Path) -> list[int]:
    """The ids of all processes of PostgreSQL whose data directory is `directory` or below it."""
    inside = os.path.realpath(directory)
    return [pid for pid in _all_processes() if _belongs(pid, inside)]


def children_of(pid: int) -> list[int]:
    """The child processes of a process, now: one read where the kernel lists them, else a look at all."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_bytes().split()]
    except (FileNotFoundError, ProcessLookupError):
        if not Path(f"/proc/{pid}").exists():
            return []
    return [child for child in _all_processes() if _parent(child) == pid]


def send(pids: Iterable[int], number: int, directory: Path) -> None:
    """A signal to those of the processes that (still) run in `directory`."""
    inside = os.path.realpath(directory)
    for pid in pids:
        with contextlib.suppress(ProcessLookupError), _held(pid) as handle:
            if _belongs(pid, inside):
                _signal(handle, pid, number)


def end_all(directories: Iterable[Path]) -> int:
    """Stop all servers that run in the directories, frozen ones too: thaw and quit, then kill. How many.

    What they leave in shared memory is removed, and the cgroups made for them: nobody else would.
    """
    places = [Path(os.path.realpath(directory)) for directory in directories]
    begin = quiet_since = time.monotonic()
    asked: set[int] = set()
    servers: set[str] = set()
    segments: set[str] = set()
    # Also those in which no server is seen any more: what a server started may be frozen there.
    groups: set[Cgroup] = set().union(*map(made_for, places))
    thaw_all(groups)
    while time.monotonic() - begin < _GIVE_UP_S:
        found = [(pid, place) for place in places for pid in running_in(place)]
        if found:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since >= _QUIET_S:
            break
        # Before any signal: even SIGKILL does not reach into a frozen cgroup.
        groups |= thaw_around(pid for pid, _ in found)
        for pid, place in found:
            if pid not in asked:
                asked.add(pid)
                servers |= {data for data in [_working_directory(pid)] if data}  # None: it just ended
                segments |= mapped_segments(pid)
                send([pid], signal.SIGQUIT, place)
                send([pid], signal.SIGCONT, place)
            elif time.monotonic() - begin >= QUIT_S:
                send([pid], signal.SIGKILL, place)
        time.sleep(0.01)
    for server in servers:
        forget_shared_memory(Path(server), segments)
    for group in groups.union(*map(made_for, places)):
        group.remove()
    return len(servers)


def kill_all(data: Path, segments: Iterable[str] = ()) -> None:
    """SIGKILL to every process of one server, until there is none.

    `segments`: shared memory it is known to have had, for a postmaster that cannot be asked any more.
    """
    deadline = time.monotonic() + _GIVE_UP_S
    segments = set(segments)
    while (pids := running_in(data)) and time.monotonic() < deadline:
        segments = segments.union(*map(mapped_segments, pids))
        thaw_around(pids)
        send(pids, signal.SIGKILL, data)
        time.sleep(0.005)
    forget_shared_memory(data, segments)


def wait_end(pid: int, timeout_s: float) -> bool:
    """Whether a process ended in time. Wakes up at once when it does, where the kernel can (5.3)."""
    try:
        with _held(pid) as handle:
            if handle is not None:
                return bool(select.select([handle], [], [], timeout_s)[0])
    except ProcessLookupError:
        return True
    deadline = time.monotonic() + timeout_s
    while _parent(pid) is not None and time.monotonic() < deadline:
        time.sleep(0.002)
    return _parent(pid) is None


def mapped_segments(pid: int) -> set[str]:
    """The files of dynamic shared memory that a process has mapped."""
    try:
        with as_owner(pid):
            maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
        return set(re.findall(r"/dev/shm/PostgreSQL\.\d+", maps))
    except OSError:
        return set()


def forget_shared_memory(data: Path, segments: Iterable[str] = ()) -> None:
    """Remove what a killed server left in shared memory. Its next start would, but there may be none.

    `segments`: files in /dev/shm that it had mapped. The System V segment is named in postmaster.pid, which
    a server that ended by itself has removed.
    """
    known = set(segments)
    for segment in known.union(*map(_listed_segments, known)):
        with contextlib.suppress(OSError):
            Path(segment).unlink()
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = (data / "postmaster.pid").read_text().splitlines()
        segment_id = int(lines[6].split()[1])
        if not running_in(data):
            ctypes.CDLL(None).shmctl(segment_id, _IPC_RMID, None)


_IPC_RMID = 0
_CONTROL_MAGIC = 0x9A503D32  # PG_DYNSHMEM_CONTROL_MAGIC, the first word of a control segment


def _listed_segments(segment: str) -> list[str]:
    """The segments that a server's control segment lists; none if it is not one.

    The layout differs between releases, but each entry begins with the number in the segment's name, a
    random one: so every word that is such a number is taken for an entry.
    """
    try:
        content = Path(segment).read_bytes()
    except OSError:
        return []
    words = struct.unpack(f"={len(content) // 4}I", content[: len(content) // 4 * 4])
    if not words or words[0] != _CONTROL_MAGIC:
        return []
    return [name for word in set(words) if os.path.lexists(name := f"/dev/shm/PostgreSQL.{word}")]


def _belongs(pid: int, inside: str) -> bool:
    """Whether it is a process of PostgreSQL whose working directory is `inside` or below it."""
    place = _working_directory(pid)
    if place is None or (place != inside and not place.startswith(inside + "/")):
        return False
    program = Path(_link(pid, "exe") or "").name
    return program == "postgres" or (program.startswith("ld-linux-") and _has_mapped_postgres(pid))


def _has_mapped_postgres(pid: int) -> bool:
    """Of a dynamic loader, whether the program that it was started for is postgres (`layout`)."""
    try:
        with as_owner(pid):
            maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return False
    return re.search(r"/postgres( \(deleted\))?$", maps, re.MULTILINE) is not None


def _all_processes() -> list[int]:
    with os.scandir("/proc") as entries:
        return sorted(int(entry.name) for entry in entries if entry.name.isdigit())


def state(pid: int) -> str:
    """The letter of proc(5): T stands still, Z ended and was not waited for; X where there is none (any more)."""
    return _state_and_parent(pid)[0]


def _parent(pid: int) -> int | None:
    """The parent of a process; None if it ended, waited for or not."""
    letter, parent = _state_and_parent(pid)
    return None if letter in "ZX" else parent


def _state_and_parent(pid: int) -> tuple[str, int]:
    try:
        content = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return "X", 0
    # The second field is the program's name, which may hold anything; it ends at the last bracket.
    letter, parent = content.rpartition(b")")[2].split()[:2]
    return letter.decode(), int(parent)


def _working_directory(pid: int) -> str | None:
    return _link(pid, "cwd")


def _link(pid: int, name: str) -> str | None:
    """A link of a process in /proc; None for a zombie, or where we may not look."""
    path = Path(f"/proc/{pid}/{name}")
    try:
        try:
            link = path.readlink()
        except PermissionError:
            with as_owner(pid):
                link = path.readlink()
    except OSError:
        return None
    return str(link).removesuffix(" (deleted)")


@contextlib.contextmanager
def as_owner(pid: int) -> Iterator[None]:
    """Where we are root, look at files, in this thread only, as the owner of a process does.

    In a container root often lacks CAP_SYS_PTRACE and may not see where another user's process works,
    while that user may. (os.seteuid would change all threads.)
    """
    if os.geteuid() != 0:
        yield
        return
    owner = Path(f"/proc/{pid}").stat()
    library = ctypes.CDLL(None)
    library.setfsgid(owner.st_gid)
    library.setfsuid(owner.st_uid)
    try:
        yield
    finally:
        library.setfsuid(os.geteuid())
        library.setfsgid(os.getegid())


@contextlib.contextmanager
def _held(pid: int) -> Iterator[int | None]:
    """A handle on a process, so that a check and a signal meet the same one even if its id is used again."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:  # a kernel before 5.3, or a sandbox: the check right before the signal must do
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def _signal(handle: int | None, pid: int, number: int) -> None:
    if handle is None:
        os.kill(pid, number)
    else:
        signal.pidfd_send_signal(handle, number)
