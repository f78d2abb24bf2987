"""Which release is meant by "17", "17.7", "9.6"; which there are, and in what order they stand.

A release of PostgreSQL has a major part ("9.6" and "10" are majors) and a minor one. It may be packaged
several times: package 10.11.0-1 is a later packaging of release 10.11, 9.6.24 is release 9.6.24.
"""

import difflib
import json
import os
import re
import threading
import time
from dataclasses import dataclass
from functools import total_ordering
from pathlib import Path

from pgverdict.errors import UserError, WorldError
from pgverdict.servers import maven
from pgverdict.servers.home import Home

LIST_AGE_S_MAX = 3600.0
"""How long a list of releases is believed before the repository is asked again."""


@total_ordering
@dataclass(frozen=True)
class Release:
    """One published package. Ordered by age of the release, then of the packaging."""

    package: str

    @classmethod
    def parse(cls, package: str) -> "Release | None":
        """None for what does not look like a final release (a beta, say)."""
        return cls(package) if re.fullmatch(r"\d+\.\d+\.\d+(-\d+)?", package) else None

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(int(part) for part in re.split(r"[.-]", self.package))

    @property
    def major(self) -> tuple[int, ...]:
        """(9, 6) or (17,)."""
        return major_of(self.numbers)

    @property
    def version(self) -> str:
        """As PostgreSQL itself spells it.

        >>> [Release(package).version for package in ("17.7.0", "13.1.0-1", "9.6.24")]
        ['17.7', '13.1', '9.6.24']
        """
        return ".".join(map(str, self.numbers[: len(self.major) + 1]))

    def __lt__(self, other: "Release") -> bool:
        return self.numbers < other.numbers

    def answers_to(self, spelling: str) -> bool:
        """Whether a user who writes `spelling` may mean this one."""
        return spelling in (self.package, self.version, spell_major(self.major))


def major_of(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The major part of a version: two numbers before 10, one since."""
    return numbers[:2] if numbers[0] < 10 else numbers[:1]


def major_of_version(version: str) -> tuple[int, ...]:
    """The major part of what PostgreSQL says it is.

    >>> major_of_version("9.6.24"), major_of_version("19devel")
    ((9, 6), (19,))
    """
    return major_of(tuple(int(part) for part in re.findall(r"\d+", version)))


def version_said(told: str) -> str | None:
    """The version in what `postgres --version` prints; None if it is not the word of one.

    >>> version_said("postgres (PostgreSQL) 18.1 (Debian 18.1-1)")
    '18.1'
    """
    match = re.search(r"\(PostgreSQL\) (\d+(?:\.\d+)*[a-z]*\d*)", told)
    return match[1] if match else None


def spell_major(major: tuple[int, ...]) -> str:
    return ".".join(map(str, major))


def choose(spelling: str, releases: list[Release]) -> Release:
    """The newest of the releases that is meant by a spelling; UserError with the nearest ones if none is.

    >>> choose("17", [Release("17.9.0"), Release("17.10.0"), Release("18.0.0")]).version
    '17.10'
    """
    fitting = [release for release in releases if release.answers_to(spelling)]
    if not fitting:
        raise _unknown(spelling, releases)
    return max(fitting)


def find_release(spelling: str, home: Home) -> Release:
    """The release that is meant. Asks the repository only if what is here does not answer the question."""
    here = local_releases(home)
    exact = [release for release in here if spelling in (release.package, release.version)]
    if exact:
        return max(exact)
    try:
        return choose(spelling, known_releases(home))
    except WorldError:
        # No network and no list from earlier: the newest one that is here will do.
        fitting = [release for release in here if release.answers_to(spelling)]
        if not fitting:
            raise
        return max(fitting)


def known_releases(home: Home, *, refresh: bool = False) -> list[Release]:
    """All published releases for this machine, oldest first; without a network those of an earlier list."""
    path = _list_path(home)
    earlier = _read_list(path)
    if earlier is not None and not refresh and 0 <= time.time() - path.stat().st_mtime < LIST_AGE_S_MAX:
        return earlier
    try:
        packages = maven.list_packages()
    except WorldError:
        if earlier is None:
            raise
        return earlier
    _write_list(path, packages)
    return _parse(packages)


def local_releases(home: Home) -> list[Release]:
    """The releases that need no network: downloaded, or installed."""
    names = [path.name.removesuffix(".jar") for path in home.downloads.glob("*.jar")]
    prefix = f"{maven.artifact()}-"
    packages = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    packages |= {path.parent.name.rpartition("-")[0] for path in home.installs.glob("[0-9]*/install.json")}
    return _parse(sorted(packages))


def _list_path(home: Home) -> Path:
    # A list per source, so that a mirror's list never answers for another repository.
    name = re.sub(r"\W+", "-", f"{maven.source()}-{maven.artifact()}")
    return home.downloads / f"releases-{name}.json"


def _read_list(path: Path) -> list[Release] | None:
    try:
        return _parse(json.loads(path.read_text())["packages"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        return None  # not ours or damaged: as good as none, and soon replaced


def _write_list(path: Path, packages: list[str]) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    temporary.write_text(json.dumps({"source": maven.source(), "packages": packages}, indent=1))
    temporary.replace(path)


def _parse(packages: list[str]) -> list[Release]:
    return sorted(release for package in packages if (release := Release.parse(package)))


def _unknown(spelling: str, releases: list[Release]) -> UserError:
    majors = [spell_major(major) for major in sorted({release.major for release in releases})]
    known = f"majors with builds: {', '.join(majors)}"
    if not re.fullmatch(r"\d+(\.\d+)*(-\d+)?", spelling):
        return UserError(f"not a release of PostgreSQL: {spelling}", hint=f"write `17` or `17.7`; {known}")
    numbers = tuple(int(part) for part in re.split(r"[.-]", spelling))
    if numbers[0] == 9 and len(numbers) == 1:
        same = [release for release in releases if release.numbers[0] == 9]
    else:
        same = [release for release in releases if release.major == major_of(numbers)]
    if not same:
        near = difflib.get_close_matches(spelling, majors, n=1)
        offer = f"did you mean {near[0]}? " if near else ""
        return UserError(f"no build of PostgreSQL {spelling}", hint=f"{offer}{known}")
    versions = list(dict.fromkeys(release.version for release in same))
    place = sum(release.numbers < numbers for release in same)
    around = versions[max(0, place - 2) : place + 2] or versions[-2:]
    return UserError(f"no build of PostgreSQL {spelling}", hint=f"nearest: {', '.join(around)}; {known}")
