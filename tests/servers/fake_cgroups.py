"""A host whose /proc and cgroups are files, which stand still where a kernel would answer."""

import os
from pathlib import Path

import pytest

from pgverdict.servers import cgroups

UNLIMITED = "9223372036854771712\n"

BORN_WITH = {
    "freezer": {"freezer.state": "THAWED\n"},
    "memory": {
        "memory.limit_in_bytes": UNLIMITED,
        "memory.memsw.limit_in_bytes": UNLIMITED,
        "memory.max_usage_in_bytes": "4096\n",
        "memory.swappiness": "60\n",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
    },
    "cpuset": {"cpuset.cpus": "\n", "cpuset.mems": "\n"},
}
"""What a new cgroup of version 1 has, by controller."""

BORN_WITH_2 = {
    "cgroup.freeze": "0",
    "cgroup.events": "populated 1\nfrozen 0\n",
    "memory.max": "max\n",
    "memory.swap.max": "max\n",
    "memory.peak": "8192\n",
    "memory.events": "low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n",
    "cpuset.cpus": "\n",
    "cpuset.cpus.effective": "0-1\n",
}
"""What one of version 2 has, where all controllers are handed down to it."""


class FakeHost:
    """A /proc and mounts of cgroups; `answers` are the files a new cgroup has at once, by version or controller."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.proc = root / "proc"
        self.answers: dict[int | str, dict[str, str]] = {2: dict(BORN_WITH_2)}
        self.answers |= {controller: dict(files) for controller, files in BORN_WITH.items()}
        (self.proc / "self").mkdir(parents=True)
        self._mounts: list[str] = []
        self._inside: list[str] = []
        self._places: dict[Path, int | str] = {}
        self._write()

    def mount(self, version: int, *, root: str = "/", inside: str = "/", controller: str = "freezer") -> Path:
        """A mounted tree, and the cgroup in it that all processes are in."""
        kind = 2 if version == 2 else controller
        place = self.root / f"mount of {kind}"
        place.mkdir()
        self._places[place] = kind
        spelt = str(place).replace(" ", "\\040")
        said = "cgroup2 none rw" if version == 2 else f"cgroup none rw,{controller}"
        self._mounts.append(f"37 31 0:34 {root} {spelt} rw,relatime - {said}")
        self._inside.append(f"{'0:' if version == 2 else f'6:{controller}'}:{inside}")
        self._write()
        home = place / os.path.relpath(inside, root)
        home.mkdir(parents=True, exist_ok=True)
        (home / "cgroup.procs").touch()
        return home

    def process(self, pid: int, line: str) -> None:
        (self.proc / str(pid)).mkdir()
        (self.proc / str(pid) / "cgroup").write_text(line + "\n")

    def be_born(self, cgroup: Path) -> None:
        """The files that a new cgroup has."""
        kind = next(kind for place, kind in self._places.items() if cgroup.is_relative_to(place))
        (cgroup / "cgroup.procs").touch()
        for name, text in self.answers[kind].items():
            (cgroup / name).write_text(text)

    def _write(self) -> None:
        others = ["31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw", "32 31 0:29 / /c rw - cgroup c rw,cpu"]
        (self.proc / "self" / "mountinfo").write_text("\n".join(others + self._mounts) + "\n")
        (self.proc / "self" / "cgroup").write_text("\n".join(["8:pids:/", *self._inside]) + "\n")


def fake_host(root: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    """Makes directories of ours in its mounts come with files, and go with them."""
    fake = FakeHost(root)
    mkdir, rmdir = Path.mkdir, Path.rmdir

    def make(path: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        mkdir(path, mode, parents, exist_ok)
        if path.name.startswith(cgroups.MARK):
            fake.be_born(path)

    def remove(path: Path) -> None:
        for file in path.iterdir():
            file.unlink()
        rmdir(path)

    monkeypatch.setattr(Path, "mkdir", make)
    monkeypatch.setattr(Path, "rmdir", remove)
    return fake
