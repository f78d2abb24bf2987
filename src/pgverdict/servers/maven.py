"""The repository that ready-made builds come from, by way of jgo, a Maven client.

jgo knows the address of Maven Central; this code does not. PGVERDICT_MAVEN_MIRROR names another
repository with the same layout instead, by http(s):// or file:// address. Nothing here is trusted:
`fetch` checks what arrives.
"""

import contextlib
import logging
import os
import platform
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from pgverdict.errors import WorldError

if TYPE_CHECKING:
    from jgo.maven import Project

VARIABLE = "PGVERDICT_MAVEN_MIRROR"
GROUP = "io.zonky.test.postgres"

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64v8"}

Progress = Callable[[int, int | None], None]
"""Called with the bytes there are so far and the bytes there will be, where that is known."""


class NotPublishedError(Exception):
    """The repository answered, and has no such file. Never leaves this layer."""


def artifact() -> str:
    """The name under which builds for this machine are published."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES)
        raise WorldError(
            f"there are no ready-made builds of PostgreSQL for this machine: {machine}",
            hint=f"machines with ready-made builds: {known}",
        )
    return f"embedded-postgres-binaries-linux-{_ARCHITECTURES[machine]}"


def source() -> str:
    """Where builds come from, in words, without a password that the address may hold.

    >>> os.environ[VARIABLE] = "https://me:secret@mirror.example/maven2"
    >>> source()
    'https://mirror.example/maven2'
    >>> del os.environ[VARIABLE]
    """
    mirror = os.environ.get(VARIABLE)
    return re.sub(r"//[^/@]*@", "//", mirror) if mirror else "Maven Central"


def source_words() -> str:
    """What the builds are, for a list of servers: 'ready-made binaries from Maven Central'."""
    return f"ready-made binaries from {source()}"


def list_packages() -> list[str]:
    """The versions published, as the repository spells them, in its order."""
    with tempfile.TemporaryDirectory(prefix="pgverdict-") as scratch, _complaints() as complaints:
        project = _project(Path(scratch))
        try:
            project.update()
            packages = [component.version for component in project.versions()]
        except Exception as error:  # jgo passes on whatever its HTTP and XML libraries raise
            raise _failure("the list of releases", str(error)) from error
        if not packages:
            raise _failure("the list of releases", " ".join(complaints) or "it is empty")
        return packages


def download(package: str, packaging: str, into: Path, progress: Progress | None = None) -> None:
    """Write one published file to `into`, which must not exist; NotPublishedError if there is none."""
    # jgo writes straight to the final name in its cache and believes in what it finds there, so it
    # gets an empty one each time: half a file is never mistaken for a whole one.
    with tempfile.TemporaryDirectory(prefix=".maven-", dir=into.parent) as scratch, _complaints():
        project = _project(Path(scratch), progress)
        try:
            path = project.at_version(package).artifact(packaging=packaging).resolve()
        except RuntimeError as error:
            raise NotPublishedError(f"{source()} has no {artifact()} {package}.{packaging}") from error
        except Exception as error:
            raise _failure(f"{artifact()} {package}.{packaging}", str(error)) from error
        if path.is_relative_to(scratch):
            path.rename(into)
        else:  # a file:// mirror: jgo answers with the mirror's own file
            into.write_bytes(path.read_bytes())


def _project(cache: Path, progress: Progress | None = None) -> "Project":
    from jgo.maven import MavenContext, PythonResolver

    resolver = PythonResolver(progress_callback=_bridge(progress) if progress else None)
    mirror = os.environ.get(VARIABLE, "").rstrip("/")
    if mirror and not mirror.startswith(("file://", "http://", "https://")):
        raise WorldError(
            f"not an address of a repository in {VARIABLE}: {mirror}",
            hint="write https://..., http://... or file://..., or unset it for Maven Central",
        )
    if mirror.startswith("file://"):
        local = Path(unquote(urlsplit(mirror).path))
        if not local.is_dir():
            raise WorldError(
                f"the repository that {VARIABLE} names is not there: {local}",
                hint=f"correct {VARIABLE}, or unset it for Maven Central",
            )
        context = MavenContext(resolver, repo_cache=cache, local_repos=[local], remote_repos={})
    elif mirror:
        context = MavenContext(resolver, repo_cache=cache, remote_repos={"mirror": mirror})
    else:
        context = MavenContext(resolver, repo_cache=cache)
    return context.project(GROUP, artifact())


def _bridge(
    progress: Progress,
) -> Callable[[str, int], contextlib.AbstractContextManager[Callable[[int], None]]]:
    """Our way of reporting progress, in the form that jgo calls."""

    @contextlib.contextmanager
    def callback(_filename: str, total: int) -> Iterator[Callable[[int], None]]:
        done = 0

        def update(count: int) -> None:
            nonlocal done
            done += count
            progress(done, total or None)

        yield update

    return callback


@contextlib.contextmanager
def _complaints() -> Iterator[list[str]]:
    """What jgo says in its log: it reports some failures nowhere else. Kept off the user's screen."""
    messages: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    log, handler = logging.getLogger("jgo"), Collect(logging.WARNING)
    log.propagate = False
    log.addHandler(handler)
    try:
        yield messages
    finally:
        log.removeHandler(handler)


def _failure(what: str, story: str) -> WorldError:
    tried = f"cannot get {what} from {source()}"
    if os.environ.get(VARIABLE):
        advice = f"{VARIABLE} names this repository: correct it, or unset it for Maven Central"
    else:
        advice = f"check the network or proxy, or name a mirror in {VARIABLE}"
    return WorldError(
        f"{tried}: {_reason(story)}",
        hint=f"{advice}; builds that were downloaded once need no network: `pgverdict list servers`",
    )


def _reason(story: str) -> str:
    """The last cause in what an HTTP library says, which is the one that means something.

    >>> _reason("Max retries exceeded (Caused by X('y: [Errno 111] Connection refused'))")
    'Connection refused'
    """
    causes: list[Any] = re.findall(r"\[Errno -?\d+\] ([^'\")\]]+)", story)
    if causes:
        return str(causes[-1]).strip()
    return " ".join(story.split())
