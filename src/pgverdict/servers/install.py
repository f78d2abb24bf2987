"""A build of PostgreSQL, unpacked and ready to run; what it was built with.

`copy` tells separate installs of the same build apart: comparing a server with itself wants two, because
where a binary lies on disk and in memory matters too.
"""

import hashlib
import json
import os
import re
import tarfile
import zipfile
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.account import Account, server_account
from pgverdict.servers.fetch import Jar, fetch
from pgverdict.servers.home import VARIABLE, Home
from pgverdict.servers.interruption import shield
from pgverdict.servers.maven import Progress
from pgverdict.servers.release import (
    Release,
    find_release,
    known_releases,
    local_releases,
    major_of_version,
    version_said,
)
from pgverdict.servers.scratch import locked, remove_at_once, scratch
from pgverdict.servers.space import require_space

_FACTS = "install.json"
_CHANGES_PAGES = re.compile(
    r"(?:with-(?:wal-)?(?:block|seg)size|(?:dis|en)able-(?:float[48]-byval|integer-datetimes))[^' ]*"
)
_BYTES_UNPACKED = 100_000_000  # the largest so far, 18.6, has 75 MB


@dataclass(frozen=True)
class Build:
    """What the binary says about its making. Two builds that differ here differ in more than PostgreSQL."""

    compiler: str
    configure: str
    cflags: str


@dataclass(frozen=True)
class Install:
    """`identity` tells what it was made from (of a package its SHA-512); two copies have the same.

    `package`: a spelling that will always mean this build.
    """

    version: str
    package: str
    copy: int
    identity: str
    build: Build
    root: Path
    bin: str = "bin"
    """Where below `root` the programs are."""

    @property
    def major(self) -> tuple[int, ...]:
        """(9, 6) or (17,)."""
        return major_of_version(self.version)

    def is_before(self, major: int) -> bool:
        """Whether it is older than the major release of that number."""
        return self.major < (major,)

    @cached_property
    def data_format(self) -> str:
        """Two installs with the same can take turns on one data directory; it is as good as made by the other.

        The catalogs a new cluster gets (two minor releases mostly agree to the letter), the extensions there are,
        and the choices at building that change pages. An install that does not show these is alone in its format.
        """
        catalogs = sorted(self.root.glob("share/**/postgres.bki"))
        if not catalogs:
            return f"of install {self.identity}"
        parts = [hashlib.sha256(path.read_bytes()).hexdigest() for path in catalogs]
        parts += [
            f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}"
            for path in sorted(self.root.glob("share/**/extension/*.control"))
        ]
        parts += sorted(_CHANGES_PAGES.findall(self.build.configure))
        whole = hashlib.sha256("\n".join([*map(str, self.major), *parts]).encode())
        return whole.hexdigest()

    @property
    def postgres(self) -> Path:
        return self.root / self.bin / "postgres"

    @cached_property
    def program_files(self) -> tuple[Path, ...]:
        """The server and the libraries that came with it."""
        libraries = (path for path in (self.root / "lib").rglob("*.so*") if path.is_file())
        return tuple(sorted({self.postgres.resolve(), *(path.resolve() for path in libraries)}))

    @property
    def initdb(self) -> Path:
        return self.root / self.bin / "initdb"


def obtain_published(
    spelling: str,
    home: Home,
    *,
    copy: int = 1,
    progress: Progress | None = None,
    account: Account | None = None,
) -> Install:
    """The install that a spelling ("17", "17.7") means: found, else downloaded, checked and unpacked.

    Without a network it is what was obtained before. `home` must have been ensured.
    """
    assert copy >= 1
    release = find_release(spelling, home)
    root = home.installs / f"{release.package}-{copy}"
    if (install := read_install(root)) is not None:
        return install
    try:
        jar = fetch(release, home, progress)
    except WorldError as error:
        raise _offer_local(error, spelling, home) from error
    return _install(jar, release, copy, root, account or server_account())


def list_installed(home: Home) -> list[Install]:
    """What is unpacked here, oldest release first."""
    read = [read_install(path.parent) for path in home.installs.glob(f"[0-9]*/{_FACTS}")]
    found = [install for install in read if install is not None]
    return sorted(found, key=lambda install: (Release(install.package).numbers, install.copy))


def list_releases(home: Home) -> list[Release]:
    """What could be obtained, oldest release first: asks the repository, else an earlier list."""
    return known_releases(home, refresh=True)


def _install(jar: Jar, release: Release, copy: int, root: Path, account: Account) -> Install:
    """Unpack beside `root`, try it, and only then give it its name: there are no half installs."""
    require_space(root.parent, _BYTES_UNPACKED, f"PostgreSQL {release.version}", advice="make room there")
    with scratch(".unpacking-", root.parent) as place:
        temporary = place / "install"
        temporary.mkdir()
        place.chmod(0o755)
        _unpack(jar.path, temporary)
        return finish_install(place, root, account, package=release.package, copy=copy, identity=jar.sha512)


def finish_install(
    place: Path,
    root: Path,
    account: Account,
    *,
    package: str,
    copy: int,
    identity: str,
    build: Build | None = None,
    bin: str = "bin",  # noqa: A002  (what the folder is called everywhere)
) -> Install:
    """Try what lies in `install` in a scratch directory, and give it its name. `build`: if its maker knows better."""
    temporary = place / "install"
    _open_to_servers(temporary)
    version = _ask_version(temporary / bin, account)
    facts = {
        "version": version,
        "package": package,
        "copy": copy,
        "identity": identity,
        "build": asdict(build or _read_build(temporary / bin / "postgres")),
        "bin": bin,
    }
    (temporary / _FACTS).write_text(json.dumps(facts, indent=1))
    _open_to_servers(temporary)
    with shield(), locked(root.parent):
        # If another process was faster, its install is as good. What is no whole install goes.
        if read_install(root) is None:
            if os.path.lexists(root):
                root.rename(place / "damaged")
            temporary.rename(root)
    install = read_install(root)
    assert install is not None
    return install


def _unpack(jar: Path, into: Path) -> None:
    try:
        with zipfile.ZipFile(jar) as package:
            names = [name for name in package.namelist() if name.endswith(".txz")]
            if len(names) != 1:
                raise WorldError(f"not a package of PostgreSQL: {jar} holds {package.namelist()}")
            with package.open(names[0]) as archive, tarfile.open(fileobj=archive, mode="r:xz") as tar:
                extract(tar, into)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise WorldError(f"cannot unpack {jar}: {error}") from error
    for program in ("postgres", "initdb"):
        if not (into / "bin" / program).is_file():
            raise WorldError(f"not a package of PostgreSQL: {jar} has no bin/{program}")


def extract(tar: tarfile.TarFile, into: Path) -> None:
    """Unpack an archive, nothing of which may land or point outside."""
    if hasattr(tarfile, "data_filter"):
        tar.extractall(into, filter="data")
        return
    # Python before 3.11.4, which Debian 12 has: a coarser sieve, through which these packages pass.
    for member in tar.getmembers():
        ways = [member.name, member.linkname] if member.issym() else [member.name]
        plain = member.isfile() or member.isdir() or member.issym()
        if not plain or any(way.startswith("/") or ".." in way.split("/") for way in ways):
            raise tarfile.TarError(f"will not unpack {member.name}")
    tar.extractall(into)


def _open_to_servers(root: Path) -> None:
    """Everybody may read, nobody else may write, whatever the umask: servers have an account of their own."""
    root.chmod(0o755)
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            if not path.is_symlink():
                executable = path.is_dir() or path.stat().st_mode & 0o100
                path.chmod(0o755 if executable else 0o644)


def _ask_version(programs: Path, account: Account) -> str:
    """What `postgres --version` says, asked as the account that servers run as: does it run at all?"""
    try:
        answer = account.run([str(programs / "postgres"), "--version"], cwd=programs)
    except PermissionError:
        account.require_reach(programs, VARIABLE)
        raise
    version = version_said(answer.stdout)
    if answer.returncode != 0 or version is None:
        raise WorldError(
            f"the build of PostgreSQL does not run on this machine: {answer.stdout.strip()}",
            hint="ready-made builds want glibc; a missing library is named above",
        )
    return version


def _read_build(postgres: Path) -> Build:
    """From the strings in the binary: these packages have no pg_config, and nothing need run for it."""
    content = postgres.read_bytes()
    find = partial(_find_text, content)
    return Build(
        compiler=find(rb"PostgreSQL [0-9][^\0]* compiled by ([^\0]+?)(?:, \d+-bit)?\0"),
        configure=find(rb"\0 ?((?:'[^'\0]*' ?)*'--[^\0]+)\0"),
        cflags=find(rb"\0(-Wall -W[^\0]*)\0"),
    )


def _find_text(content: bytes, pattern: bytes) -> str:
    match = re.search(pattern, content)
    return match[1].decode(errors="replace").strip() if match else ""


def read_install(root: Path) -> Install | None:
    """The install in a directory; None if there is none, or a damaged one, which is as good as none."""
    try:
        facts = json.loads((root / _FACTS).read_text())
        install = Install(**{**facts, "build": Build(**facts["build"])}, root=root)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return install if install.postgres.is_file() and install.initdb.is_file() else None


def note_use(install: Install, home: Home) -> None:
    """A run works with it now: what was used longest ago goes first where the cache is to hold less."""
    if install.root.parent == home.installs:
        os.utime(install.root)


def forget_install(home: Home, name: str) -> None:
    """Delete it; it can be made again."""
    with locked(home.installs):
        remove_at_once(home.installs / name)


def _offer_local(error: WorldError, spelling: str, home: Home) -> WorldError:
    fitting = [release for release in local_releases(home) if release.answers_to(spelling)]
    if not fitting or any(spelling in (release.package, release.version) for release in fitting):
        return error
    version = max(fitting).version
    return WorldError(error.message, hint=f"{version} is here and needs no network: write `{version}`")
