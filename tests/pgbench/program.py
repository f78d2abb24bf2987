"""A pgbench to be run, and what it says."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pgverdict.servers.cluster import SUPERUSER
from pgverdict.servers.server import Server

TIMEOUT_S = 60


@dataclass(frozen=True)
class Said:
    """The exit code, and the lines of standard output and standard error."""

    code: int
    out: list[str]
    err: list[str]


@dataclass(frozen=True)
class Program:
    path: Path
    environment: dict[str, str]
    folder: Path

    @classmethod
    def on(cls, path: Path, server: Server, folder: Path) -> Self:
        """Connects to this server, and to no other."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        own |= {"LC_ALL": "C", "PGHOST": str(server.socket_directory), "PGPORT": str(server.port)}
        return cls(path, own | {"PGUSER": SUPERUSER, "PGDATABASE": "postgres"}, folder)

    def run(self, *arguments: str, script: str | bytes | None = None) -> Said:
        """Run with these arguments, and with this script if there is one."""
        command = [str(self.path), *arguments]
        if script is not None:
            (self.folder / "script.sql").write_bytes(script.encode() if isinstance(script, str) else script)
            command += ["-f", "script.sql"]
        done = subprocess.run(
            command,
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=TIMEOUT_S,
            check=False,
        )
        return Said(done.returncode, done.stdout.splitlines(), done.stderr.splitlines())
