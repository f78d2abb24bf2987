"""Lock files that a server which is gone left behind, in its data directory and beside its socket."""

import contextlib
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers import processes


def clear_stale_locks(data: Path, socket_directory: Path, port: int) -> None:
    """Remove them; WorldError if a server still runs there.

    PostgreSQL removes them too, but not if the process id was given to another server of the same account since, which
    after a reboot is likely. What a server left in shared memory PostgreSQL finds by the data directory, and removes.
    """
    if running := processes.running_in(data):
        raise WorldError(
            f"a server is running in {data} already: process {running[0]}",
            hint="another pgverdict may be using it; if not, stop that process",
        )
    (data / "postmaster.pid").unlink(missing_ok=True)
    lock = socket_directory / f".s.PGSQL.{port}.lock"
    with contextlib.suppress(FileNotFoundError, IndexError):
        holder = Path(lock.read_text().splitlines()[1])
        if running := processes.running_in(holder):
            # To go on would be to connect to that server and take it for this one.
            raise WorldError(
                f"another server holds the socket in {socket_directory}: process {running[0]}, "
                f"which runs in {holder}"
            )
        lock.unlink()
