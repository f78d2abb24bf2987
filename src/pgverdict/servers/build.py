"""Build PostgreSQL from source: out of the tree, by the one recipe, kept by its content.

    obtain_built(read_spelling("git:/src/postgres@HEAD,patch=mine.patch"), home)

The same source, recipe, patches and compiler are built once. Builds are run by the account that servers run as, and
never by root. The log stays in the cache, under `builds`, whether it went well or not.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from pgverdict.errors import UserError, WorldError
from pgverdict.servers.account import Account, server_account
from pgverdict.servers.home import VARIABLE, Home
from pgverdict.servers.install import Build, Install, finish_install, read_install
from pgverdict.servers.maven import Progress
from pgverdict.servers.recipe import LIBRARIES, Recipe, packages_hint, recipe
from pgverdict.servers.release import major_of_version
from pgverdict.servers.scratch import scratch
from pgverdict.servers.source import FoundSource, find_source, unpack_source, version_of
from pgverdict.servers.space import require_space
from pgverdict.spec.spelling import BuildWish, Commit, Source

_BYTES_NEEDED = 1_500_000_000
_LOG_LINES_TOLD = 15
_NINJA = re.compile(r"^\[(\d+)/(\d+)\]")

Say = Callable[[str], None]


def obtain_built(
    asked: Source | Commit,
    home: Home,
    *,
    copy: int = 1,
    progress: Progress | None = None,
    say: Say | None = None,
    account: Account | None = None,
) -> Install:
    """The install of what is asked for: found, else built, which takes minutes. `say` is told what happens."""
    account = account or server_account()
    found = find_source(asked, home, progress)
    patches = [_read_patch(name) for name in asked.wish.patches]
    compiler = _compiler()
    # The recipe depends on the version too, which the source says, and its identity stands for.
    wish = (" ".join(asked.wish.features), repr(asked.wish.cflags), *map(_sha256, patches))
    key = _sha256("\n".join([found.identity, compiler, *wish]).encode())[:16]
    root = home.installs / f"build-{key}-{copy}"
    # Made from the same source elsewhere, perhaps, which may be gone: more copies are asked of the one that is here.
    exact = found.exact + asked.wish.spelled
    if (install := read_install(root)) is not None:
        return replace(install, package=exact)
    for other in sorted(home.installs.glob(f"build-{key}-*")):
        if (made := read_install(other)) is not None:
            return _copy(made, root, exact, copy, account)
    log = home.cache / "builds" / f"{key}.log"
    if say is not None:
        say(f"building {exact}, which takes minutes; the log: {log}")
    return _build(_Order(found, asked.wish, patches, compiler, exact, root, copy, log), account, progress)


def list_built(home: Home) -> list[Install]:
    """What was built here, each build once."""
    made = [read_install(path) for path in sorted(home.installs.glob("build-*-1"))]
    return [install for install in made if install is not None]


@dataclass(frozen=True)
class _Order:
    """What is built, and where it goes."""

    found: FoundSource
    wish: BuildWish
    patches: list[bytes]
    compiler: str
    exact: str
    root: Path
    copy: int
    log: Path


def _build(order: _Order, account: Account, progress: Progress | None) -> Install:
    installs = order.root.parent
    require_space(installs, _BYTES_NEEDED, "a build of PostgreSQL", advice="make room there")
    with scratch(".building-", installs) as place:
        place.chmod(0o755)
        folders = {name: place / name for name in ("source", "build", "prefix")}
        unpack_source(order.found, folders["source"])
        folders["build"].mkdir()
        folders["prefix"].mkdir()
        for name, patch in zip(order.wish.patches, order.patches, strict=True):
            _apply(name, patch, folders["source"])
        chosen = recipe(major_of_version(version_of(folders["source"])), order.wish, jobs=os.cpu_count() or 1)
        _require_programs(chosen)
        for path in folders.values():
            _give(path, account)
        order.log.parent.mkdir(exist_ok=True)
        with order.log.open("wb") as log, _leash(place) as leash:
            for step in chosen.steps:
                words = [fill(word, folders) for word in step.words]
                if _run(words, Path(fill(step.inside, folders)), leash, account, log, progress) != 0:
                    log.flush()
                    raise _failure(words, chosen, account, order.log)
        # Copied by us: what servers run they may not change.
        shutil.copytree(folders["prefix"], place / "install", symlinks=True)
        identity = _sha256(
            "\n".join([order.found.identity, order.compiler, chosen.text, *_digests(order)]).encode()
        )
        said = Build(compiler=order.compiler, configure=" ".join(chosen.options), cflags=chosen.cflags)
        return finish_install(
            place, order.root, account, package=order.exact, copy=order.copy, identity=identity, build=said
        )


def fill(word: str, folders: Mapping[str, Path]) -> str:
    """With the folders' paths in place of their names; flags of a compiler may hold braces of their own."""
    for name, path in folders.items():
        word = word.replace(f"{{{name}}}", str(path))
    return word


def _digests(order: _Order) -> list[str]:
    return [_sha256(patch) for patch in order.patches]


def _copy(made: Install, root: Path, exact: str, copy: int, account: Account) -> Install:
    with scratch(".unpacking-", root.parent) as place:
        place.chmod(0o755)
        shutil.copytree(made.root, place / "install", symlinks=True)
        return finish_install(
            place, root, account, package=exact, copy=copy, identity=made.identity, build=made.build
        )


def _read_patch(name: str) -> bytes:
    try:
        return Path(name).expanduser().read_bytes()
    except OSError as error:
        raise UserError(f"cannot read the patch {name}: {error.strerror}") from error


def _apply(name: str, patch: bytes, source: Path) -> None:
    try:
        done = subprocess.run(
            ["patch", "-p1", "--batch", "--forward", "--no-backup-if-mismatch"],
            cwd=source, input=patch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise WorldError("the program patch is not installed", hint=packages_hint(["patch"])) from error
    if done.returncode != 0:
        told = done.stdout.decode(errors="replace").strip()
        raise UserError(f"the patch {name} does not apply: {told}", hint="patches are applied with patch -p1")


def _compiler() -> str:
    """What `cc --version` says first; two builds by the same are alike in that."""
    try:
        told = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise WorldError("there is no C compiler: cc", hint=packages_hint(["cc"])) from error
    return told.stdout.splitlines()[0].strip()


def _require_programs(chosen: Recipe) -> None:
    missing = [name for name in chosen.programs if shutil.which(name) is None]
    if missing:
        raise WorldError(f"to build PostgreSQL there is no {', '.join(missing)}", hint=packages_hint(missing))


def _give(path: Path, account: Account) -> None:
    account.give(path)
    for folder, folders, names in os.walk(path):
        for name in (*folders, *names):
            account.give(Path(folder, name))


_ON_A_LEASH = '(read -r end < "$0"; kill -9 0) >/dev/null 2>&1 & exec "$@"'
"""Runs a command; when nobody has the named pipe open for writing any more, all of its session is killed."""


@contextmanager
def _leash(place: Path) -> Iterator[Path]:
    """A named pipe that we hold open: what runs on it ends with this block, or with this process, however that ends."""
    path = place / "leash"
    os.mkfifo(path)
    path.chmod(0o644)
    held = os.open(path, os.O_RDWR)
    try:
        yield path
    finally:
        os.close(held)


def _run(
    words: list[str], inside: Path, leash: Path, account: Account, log: IO[bytes], progress: Progress | None
) -> int:
    """Run one command to its end; its exit code."""
    log.write(f"$ {' '.join(words)}\n".encode())
    log.flush()
    process = account.popen(
        ["sh", "-c", _ON_A_LEASH, str(leash), *words],
        cwd=inside,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        environment={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(inside)},
    )
    try:
        for line in _lines(process):
            log.write(line)
            if progress is not None and (found := _NINJA.match(line.decode(errors="replace"))):
                progress(int(found[1]), int(found[2]))
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        process.wait()
    return process.returncode


def _lines(process: "subprocess.Popen[bytes]") -> Iterator[bytes]:
    assert process.stdout is not None
    with process.stdout as output:
        yield from output


def _failure(words: list[str], chosen: Recipe, account: Account, log: Path) -> WorldError:
    text = log.read_text(errors="replace")
    of_step = text.rpartition("\n$ ")[2].splitlines()[1:]
    tail = "\n".join(of_step[-_LOG_LINES_TOLD:])
    missing = [feature for feature in chosen.features if feature in LIBRARIES and _lacks(feature, tail)]
    missing += [name for name in ("bison", "flex", "perl") if re.search(rf"\b{name}\b.*not found", tail)]
    if "ermission denied" in tail and not account.is_self:
        hint = (
            f"builds run as the user {account.name}: set {VARIABLE} to a place it can reach; the log: {log}"
        )
    elif missing:
        hint = f"{packages_hint(missing)}; the log: {log}"
    else:
        hint = f"the log: {log}"
    return WorldError(f"the build failed at {Path(words[0]).name}: {tail}", hint=hint)


_SIGNS = {"icu": "icu", "liburing": "liburing", "llvm": "llvm", "lz4": "lz4", "numa": "numa", "openssl": "ssl|crypto",
          "zlib": r"zlib|\bz\b", "zstd": "zstd"}  # fmt: skip


def _lacks(feature: str, tail: str) -> bool:
    complaint = re.search(r"(?i)(not found|required|cannot find|is needed|missing).*", tail)
    return complaint is not None and re.search(rf"(?i){_SIGNS[feature]}", tail) is not None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
