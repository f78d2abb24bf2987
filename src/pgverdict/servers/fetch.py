"""A published package, on this disk and checked.

The published SHA-512 is compared by us before every unpack, also when the file has been here for months:
jgo only warns when a weaker digest does not match. What does not match is deleted.
"""

import contextlib
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers import maven
from pgverdict.servers.home import Home
from pgverdict.servers.maven import Progress
from pgverdict.servers.release import Release
from pgverdict.servers.scratch import scratch


@dataclass(frozen=True)
class Jar:
    """A checked package; its digest identifies the build for good."""

    path: Path
    sha512: str


def fetch(release: Release, home: Home, progress: Progress | None = None) -> Jar:
    """The package of a release, downloaded if need be, its digest compared now."""
    path = home.downloads / f"{maven.artifact()}-{release.package}.jar"
    digest_path = path.with_name(path.name + ".sha512")
    if not digest_path.exists():
        _download_digest(release, digest_path)
    if not path.exists():
        _download_jar(release, path, progress)
    return Jar(path, _check(path, digest_path))


def _check(path: Path, digest_path: Path) -> str:
    """The digest that the file has and should have; what is not right is deleted."""
    published = digest_path.read_text().split()
    if not published or not re.fullmatch(r"[0-9a-fA-F]{128}", published[0]):
        digest_path.unlink()
        raise WorldError(f"not a SHA-512 digest: {digest_path}", hint="it is deleted; try again")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha512").hexdigest()
    expected = published[0].lower()
    if found != expected:
        path.unlink()
        digest_path.unlink()
        raise WorldError(
            f"the digest of {path.name} is wrong: published {expected}, found {found}",
            hint="the file is deleted; try again, and if it stays wrong, ask who runs the repository "
            f"or mirror: {maven.source()}",
        )
    return found


def _download_digest(release: Release, digest_path: Path) -> None:
    with _temporary(digest_path) as temporary:
        try:
            maven.download(release.package, "jar.sha512", temporary)
        except maven.NotPublishedError as error:
            raise WorldError(
                f"no SHA-512 is published for PostgreSQL {release.version} (package {release.package}) "
                f"at {maven.source()}, and nothing is run unchecked",
                hint="choose another release: `pgverdict list servers`",
            ) from error


def _download_jar(release: Release, path: Path, progress: Progress | None) -> None:
    with _temporary(path) as temporary:
        try:
            maven.download(release.package, "jar", temporary, progress)
        except maven.NotPublishedError as error:
            raise WorldError(
                f"PostgreSQL {release.version} (package {release.package}) is not at {maven.source()}",
                hint="choose another release: `pgverdict list servers`",
            ) from error


@contextlib.contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """A name beside `path` that becomes it if all goes well; two processes at once do not meet."""
    with scratch(".fetch-", path.parent) as place:
        temporary = place / path.name
        yield temporary
        temporary.replace(path)
