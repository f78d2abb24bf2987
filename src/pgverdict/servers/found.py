"""Releases that somebody installed on this host: where they lie, and a copy of one that servers are started from.

A copy, because a package may be upgraded in the middle of a run, and because rounds draw from several installs of one
build. PostgreSQL finds its files relative to its program, so a copy with the same layout runs like the original.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pgverdict.errors import UserError, WorldError
from pgverdict.servers.account import Account, server_account
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install, finish_install, read_install
from pgverdict.servers.release import major_of_version, spell_major, version_said
from pgverdict.servers.scratch import scratch
from pgverdict.servers.space import require_space
from pgverdict.spec.spelling import Installed, is_release

LAYOUTS = (
    "usr/lib/postgresql/*/bin",  # Debian, Ubuntu, and PGDG there
    "usr/pgsql-*/bin",  # PGDG on RPM systems
    "usr/lib64/pgsql/postgresql-*/bin",  # Fedora's older releases
    "usr/lib/postgresql*/bin",  # SUSE
    "usr/libexec/postgresql*",  # Alpine
    "usr/bin",  # Fedora, RHEL, Arch
    "usr/local/pgsql/bin",  # make install
    "usr/local/bin",  # FreeBSD's way, and containers
    "opt/homebrew/opt/postgresql@*/bin",
    "usr/local/opt/postgresql@*/bin",
    "home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
)
"""Where programs of PostgreSQL lie, below the root of the file system."""

_PROGRAMS = ("postgres", "initdb")
_SHARED_WITH_OTHERS = ("usr", "local", "opt")
"""Folders that hold more than PostgreSQL."""
_BYTES_COPIED = 400_000_000


@dataclass(frozen=True)
class FoundRelease:
    """A release that is installed: what its postgres says it is, and the folders of its files."""

    version: str
    programs: Path
    libraries: Path
    shared: Path

    @property
    def major(self) -> str:
        """'17' or '9.6'."""
        return spell_major(major_of_version(self.version))


def find_installed(root: Path = Path("/")) -> list[FoundRelease]:
    """All releases that are installed, the newest first; each place once."""
    places = dict.fromkeys(
        Path(os.path.realpath(place)) for layout in LAYOUTS for place in sorted(root.glob(layout))
    )
    found = [release for place in places if (release := _look_at(place)) is not None]
    return sorted(
        found, key=lambda one: [int(part) for part in re.findall(r"\d+", one.version)], reverse=True
    )


def obtain_installed(
    asked: Installed, home: Home, *, copy: int = 1, account: Account | None = None, root: Path = Path("/")
) -> Install:
    """A copy of an installed release."""
    release = _find(asked, root)
    identity = _identity(release)
    place = home.installs / f"system-{identity[:16]}-{copy}"
    package = str(release.programs.parent)
    if (install := read_install(place)) is not None:
        return replace(install, package=package)  # what is alike may have been copied from elsewhere
    require_space(home.installs, _BYTES_COPIED, "a copy of PostgreSQL", advice="make room there")
    account = account or server_account()
    with scratch(".unpacking-", home.installs) as temporary:
        temporary.chmod(0o755)
        common = Path(os.path.commonpath([release.programs, release.libraries, release.shared]))
        programs = release.programs.relative_to(common)
        target = temporary / "install"
        if common == release.programs.parent and common.name not in _SHARED_WITH_OTHERS:
            shutil.copytree(common, target)  # it may have libraries beside those we know of
        else:
            for folder in (release.libraries, release.shared):
                shutil.copytree(folder, target / folder.relative_to(common), dirs_exist_ok=True)
            (target / programs).mkdir(parents=True, exist_ok=True)
            for name in _PROGRAMS:
                shutil.copy2(release.programs / name, target / programs / name)
        return finish_install(
            temporary,
            place,
            account,
            package=package,
            copy=copy,
            identity=identity,
            bin=str(programs),
        )


def _find(asked: Installed, root: Path) -> FoundRelease:
    if is_release(asked.place):
        found = find_installed(root)
        for release in found:
            if asked.place in (release.version, release.major):
                return release
        known = ", ".join(f"{release.version} in {release.programs}" for release in found)
        raise UserError(
            f"PostgreSQL {asked.place} is not installed on this host",
            hint=f"installed: {known}" if known else "no release is; `17` without `system:` needs none",
        )
    path = Path(asked.place).expanduser().absolute()
    for place in (path, path / "bin"):
        if (named := _look_at(Path(os.path.realpath(place)))) is not None:
            return named
    raise UserError(
        f"PostgreSQL is not installed in {path}",
        hint="name the folder that holds bin/postgres: /usr/lib/postgresql/17",
    )


def _look_at(programs: Path) -> FoundRelease | None:
    """The release whose programs lie there; None if there are none that run."""
    if not all((programs / name).is_file() for name in _PROGRAMS):
        return None
    try:
        answer = subprocess.run(
            [str(programs / "postgres"), "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = version_said(answer.stdout)
    if version is None:
        return None
    folders = _folders(programs, version)
    return FoundRelease(version, programs, *folders) if folders is not None else None


def _folders(programs: Path, version: str) -> tuple[Path, Path] | None:
    """The folders of libraries and of shared files: asked of pg_config, else where layouts have them."""
    asked = programs / "pg_config"
    if asked.is_file():
        words = [str(asked), "--pkglibdir", "--sharedir"]
        answer = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
        told = [Path(os.path.realpath(line)) for line in answer.stdout.splitlines()]
        if answer.returncode == 0 and len(told) == 2 and _is_whole(told[0], told[1]):
            return told[0], told[1]
    for libraries in _near(programs, version, ("lib", "lib64", "libexec")):
        for shared in _near(programs, version, ("share",)):
            if _is_whole(libraries, shared):
                return libraries, shared
    return None


def _near(programs: Path, version: str, kinds: tuple[str, ...]) -> Iterator[Path]:
    """Where files of the programs may lie: beside them, or in folders named after PostgreSQL."""
    major = version.split(".")[0]
    for above in list(programs.parents)[:5]:
        for kind in kinds:
            for name in (
                "",
                "postgresql",
                "pgsql",
                f"postgresql/{major}",
                f"postgresql{major}",
                f"postgresql/{version}",
            ):
                yield above / kind / name
        yield above


def _is_whole(libraries: Path, shared: Path) -> bool:
    return any(libraries.glob("dict_snowball.*")) and (shared / "postgres.bki").is_file()


def _identity(release: FoundRelease) -> str:
    """The content of its program and the names and sizes of its libraries: an upgrade changes it."""
    if not all(os.access(release.programs / name, os.R_OK) for name in _PROGRAMS):
        raise WorldError(f"cannot read {release.programs / 'postgres'}")
    whole = hashlib.sha256((release.programs / "postgres").read_bytes())
    for path in sorted(release.libraries.glob("*.so")):
        whole.update(f"{path.name} {path.stat().st_size}".encode())
    return whole.hexdigest()
