"""Who servers run as.

PostgreSQL refuses to run as root, and so do we: root's servers run as `postgres` where there is such a
user, else as `nobody`. Anybody else's servers run as themselves.
"""

import os
import pwd
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from pgverdict.errors import WorldError

_CANDIDATES = ("postgres", "nobody")

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
"""All that a server's environment holds: no PG* variable of the user's leaks in, and its size, which
shifts the stack and with it the speed, is the same for all arms."""


@dataclass(frozen=True)
class Account:
    """An operating system user. `is_self`: no change of user is needed."""

    name: str
    uid: int
    gid: int
    groups: frozenset[int]
    is_self: bool

    def give(self, path: Path) -> None:
        """Make the account the owner of a file or directory (not of what is in it)."""
        if not self.is_self:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def make_directory(self, path: Path) -> None:
        """A new private directory of the account's."""
        path.mkdir()
        path.chmod(0o700)
        self.give(path)

    def popen(
        self,
        command: list[str],
        *,
        cwd: Path,
        stdout: int | IO[bytes],
        stderr: int | IO[bytes],
        stdin: int = subprocess.DEVNULL,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> "subprocess.Popen[bytes]":
        """Start a program as this account, in a session of its own (Ctrl-C does not reach it).

        `environment` comes beside ENVIRONMENT.
        """
        identity: dict[str, Any] = {}
        if not self.is_self:
            identity = {"user": self.uid, "group": self.gid, "extra_groups": sorted(self.groups)}
        return subprocess.Popen(
            command,
            cwd=cwd,
            env={**ENVIRONMENT, **environment},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            **identity,
        )

    def run(self, command: list[str], *, cwd: Path) -> "subprocess.CompletedProcess[str]":
        """Run a program as this account to its end; the output of both streams, in order."""
        process = self.popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = process.communicate()[0].decode(errors="replace")
        return subprocess.CompletedProcess(command, process.returncode, output, "")

    def can_traverse(self, directory: Path) -> bool:
        """Whether the account may pass through this one directory, by its permission bits."""
        status = directory.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid or status.st_gid in self.groups:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)

    def require_reach(self, directory: Path, variable: str) -> None:
        """Every directory on the way lets the account through, or a WorldError names the one that does not.

        `variable` is the environment variable that says where such directories go.
        """
        if self.is_self:
            return
        real = Path(os.path.realpath(directory))
        for step in (*reversed(real.parents), real):
            if step.exists() and not self.can_traverse(step):
                raise WorldError(
                    f"servers run as the user {self.name}, who cannot pass through {step} to {directory}",
                    hint=f"set {variable} to a directory that {self.name} can reach, or `chmod o+x {step}`",
                )


def server_account() -> Account:
    """The account that servers run as when started from here."""
    if os.geteuid() != 0:
        return _ourselves()
    for name in _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        groups = frozenset(os.getgrouplist(name, entry.pw_gid))
        return Account(name, entry.pw_uid, entry.pw_gid, groups, is_self=False)
    raise WorldError(
        "PostgreSQL does not run as root, and there is no other user for it: "
        f"looked for {', '.join(_CANDIDATES)}",
        hint="`useradd --system postgres` makes one",
    )


def _ourselves() -> Account:
    uid = os.geteuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        # Containers often run as a number without a line in /etc/passwd. initdb refuses that, but says so.
        name = str(uid)
    return Account(name, uid, os.getegid(), frozenset(os.getgroups()), is_self=True)
