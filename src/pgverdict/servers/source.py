"""The source of PostgreSQL that somebody names: a release, a tree, a tarball, a revision; found, checked, unpacked.

Content identifies a source: a commit by its hash, a tarball by its digest, a tree by the digests of its files.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pgverdict.errors import UserError, WorldError
from pgverdict.servers.home import Home
from pgverdict.servers.install import extract
from pgverdict.servers.maven import Progress
from pgverdict.servers.release import find_release, major_of_version, spell_major
from pgverdict.servers.scratch import scratch
from pgverdict.spec.spelling import Commit, Source, is_prerelease, is_release

VARIABLE = "PGVERDICT_SOURCE_MIRROR"
"""Another place with the layout of the project's own: v18.1/postgresql-18.1.tar.bz2 and .sha256 beside it."""
_PUBLISHED_AT = "https://ftp.postgresql.org/pub/source"
_PIECE_BYTES = 1 << 20
_PATIENCE_S = 60


@dataclass(frozen=True)
class FoundSource:
    """`identity` tells its content; `exact` is a spelling of the same source that stays the same."""

    identity: str
    exact: str
    tree: Path | None = None
    tarball: Path | None = None
    repository: Path | None = None


def find_source(asked: Source | Commit, home: Home, progress: Progress | None = None) -> FoundSource:
    """Where the source is and what it is; a release's tarball is downloaded, a repository's address cloned."""
    if isinstance(asked, Commit):
        return _find_commit(asked, home)
    if is_release(asked.place) or is_prerelease(asked.place):
        return _find_release(asked.place, home, progress)
    path = Path(asked.place).expanduser().absolute()
    if path.is_dir():
        return _find_tree(path)
    if path.is_file():
        digest = _digest(path)
        return FoundSource(f"tarball {digest}", f"source:{path}", tarball=path)
    raise UserError(
        f"no source of PostgreSQL is there: {path}",
        hint="write source:18.1, or the path of a tree or tarball",
    )


def unpack_source(found: FoundSource, into: Path) -> None:
    """Write the source into a new directory."""
    if found.tree is not None:
        shutil.copytree(found.tree, into, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    elif found.tarball is not None:
        _unpack(found.tarball, into)
    else:
        assert found.repository is not None
        commit = found.identity.removeprefix("commit ")
        with scratch(".archive-", into.parent) as place:
            archive = place / "source.tar"
            answer = _git(found.repository, "archive", "--format=tar", f"--output={archive}", commit)
            if answer.returncode != 0:
                raise WorldError(
                    f"git archive failed for {commit} in {found.repository}: {answer.stderr.strip()}"
                )
            into.mkdir()
            with tarfile.open(archive) as tar:
                extract(tar, into)
    version_of(into)


def version_of(tree: Path) -> str:
    """The version a tree says it is: '18.1', '19devel'."""
    for name, pattern in (
        ("meson.build", r"^\s*version: '([^']+)'"),
        ("configure", r"^PACKAGE_VERSION='([^']+)'"),
        ("configure.in", r"^AC_INIT\(\[PostgreSQL\], \[([^\]]+)\]"),
    ):
        path = tree / name
        if path.is_file() and (match := re.search(pattern, path.read_text(errors="replace"), re.MULTILINE)):
            return match[1]
    raise UserError(f"not a source of PostgreSQL: {tree} has neither configure nor meson.build of one")


def _find_tree(path: Path) -> FoundSource:
    version_of(path)
    for made in ("config.status", "GNUmakefile"):
        if (path / made).exists():
            raise UserError(
                f"the tree has been configured already: {path} has {made}",
                hint=f"run `make distclean` there, or name the repository: git:{path}@HEAD",
            )
    whole = hashlib.sha256()
    for file in _files(path):
        whole.update(f"{file.relative_to(path)}\0".encode())
        whole.update(str(file.readlink()).encode() if file.is_symlink() else _digest(file).encode())
    return FoundSource(f"tree {whole.hexdigest()}", f"source:{path}", tree=path)


def _files(tree: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(name for name in folders if name != ".git")
        yield from (Path(folder, name) for name in sorted(names))


def _find_release(release: str, home: Home, progress: Progress | None) -> FoundSource:
    names_major = release == spell_major(major_of_version(release))
    version = find_release(release, home).version if names_major else release
    name = f"postgresql-{version}.tar.bz2"
    path = home.downloads / name
    digest_path = path.with_name(f"{name}.sha256")
    place = os.environ.get(VARIABLE, _PUBLISHED_AT).rstrip("/")
    for missing in (one for one in (digest_path, path) if not one.exists()):
        with scratch(".fetch-", home.downloads) as temporary:
            _download(f"{place}/v{version}/{missing.name}", temporary / missing.name, progress)
            (temporary / missing.name).replace(missing)
    published = digest_path.read_text().split()
    found = _digest(path)
    if not published or published[0].lower() != found:
        path.unlink()
        digest_path.unlink()
        raise WorldError(
            f"the digest of {name} is wrong: published {' '.join(published[:1]) or 'nothing'}, found {found}",
            hint="the file is deleted; try again",
        )
    return FoundSource(f"tarball {found}", f"source:{version}", tarball=path)


def _download(address: str, into: Path, progress: Progress | None) -> None:
    try:
        with urllib.request.urlopen(address, timeout=_PATIENCE_S) as answer, into.open("wb") as file:
            total = int(answer.headers.get("Content-Length") or 0) or None
            done = 0
            while piece := answer.read(_PIECE_BYTES):
                file.write(piece)
                done += len(piece)
                if progress is not None:
                    progress(done, total)
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise WorldError(
            f"cannot download {address}: {reason}",
            hint=f"name a tarball that you have: source:PATH; or set {VARIABLE}",
        ) from error


def _find_commit(asked: Commit, home: Home) -> FoundSource:
    repository = Path(asked.repository).expanduser().absolute()
    if not repository.exists():
        if "://" not in asked.repository and not re.match(r"[\w.-]+@[\w.-]+:", asked.repository):
            raise UserError(
                f"no repository is there: {repository}", hint="write git:PATH@REV, or the address of one"
            )
        repository = _clone(asked.repository, home)
    answer = _git(
        repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{asked.revision}^{{commit}}"
    )
    if answer.returncode != 0:
        if "dubious ownership" in answer.stderr:
            raise UserError(
                f"git will not read {repository}, which is another user's",
                hint=f"git config --global --add safe.directory {repository}",
            )
        known = _git(repository, "rev-parse", "--git-dir").returncode == 0
        what = f"no revision {asked.revision} in" if known else "not a repository of git:"
        raise UserError(
            f"{what} {repository}", hint="`git log` and `git tag` there show what there is" if known else None
        )
    commit = answer.stdout.strip()
    return FoundSource(f"commit {commit}", f"git:{asked.repository}@{commit}", repository=repository)


def _clone(address: str, home: Home) -> Path:
    """A copy of somebody else's repository, brought up to date."""
    place = home.repositories / hashlib.sha256(address.encode()).hexdigest()[:16]
    if place.is_dir():
        answer = _git(place, "fetch", "--quiet", "--prune", "origin", "+refs/*:refs/*")
    else:
        place.parent.mkdir(exist_ok=True)
        with scratch(".cloning-", place.parent) as temporary:
            answer = _git(temporary, "clone", "--quiet", "--mirror", "--", address, "repository")
            if answer.returncode == 0:
                (temporary / "repository").rename(place)
    if answer.returncode != 0:
        raise WorldError(
            f"cannot get {address}: {answer.stderr.strip()}", hint="clone it yourself and write git:PATH@REV"
        )
    return place


def _git(place: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(
            ["git", "-C", str(place), *words], capture_output=True, text=True, env=environment, check=False
        )
    except FileNotFoundError as error:
        raise WorldError("git is not installed", hint="apt-get install git, or dnf install git") from error


def _unpack(tarball: Path, into: Path) -> None:
    """What a tarball holds, which is one folder, as tarballs of releases do."""
    with scratch(".unpacking-", into.parent) as place:
        try:
            with tarfile.open(tarball) as tar:
                extract(tar, place)
        except (tarfile.TarError, EOFError, OSError) as error:
            raise UserError(f"cannot unpack {tarball}: {error}") from error
        folders = [path for path in place.iterdir() if path.is_dir()]
        if len(folders) != 1:
            raise UserError(
                f"not a tarball of PostgreSQL: {tarball} holds {len(folders)} folders",
                hint="those of releases hold one; unpack it, and write source:PATH of the tree",
            )
        folders[0].rename(into)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
