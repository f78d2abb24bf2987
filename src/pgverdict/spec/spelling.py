"""Where a server comes from, in the short spelling that is used everywhere.

    18                     the newest 18.x there is ready-made, or 17.7: that one
    system:17              the release that is installed on this host, or a folder: /usr/lib/postgresql/17
    source:18.1            built from the release's tarball, or from an unpacked tree or tarball: source:./postgresql
    git:PATH@REV           built from a revision of a repository, which may also be an address
    docker:IMAGE           the server of a container's image: docker:postgres:18
    dsn:postgresql://...   a server that somebody else runs, by libpq's connection URI, without a password

What is built takes wishes behind commas: source:18.1,with=lz4+liburing,cflags=-O3,patch=mine.patch
Before all of it an arm may be given a name: patched=git:.@HEAD,patch=mine.patch
"""

import re
from dataclasses import dataclass

from pgverdict.errors import UserError, unknown_word

FEATURES = ("cassert", "icu", "liburing", "llvm", "lz4", "numa", "openssl", "zlib", "zstd")
"""What a build may be asked to be made with. It has nothing else, whatever its release would take by itself."""


@dataclass(frozen=True)
class BuildWish:
    """What a build is to be made with. `cflags`: instead of the recipe's; `patches`: files, applied in this order."""

    features: tuple[str, ...] = ()
    cflags: str | None = None
    patches: tuple[str, ...] = ()

    @property
    def spelled(self) -> str:
        """As it stands in a spelling.

        >>> BuildWish(("lz4", "zstd"), "-O3", ("a.patch",)).spelled
        ',with=lz4+zstd,cflags=-O3,patch=a.patch'
        """
        parts = [f",with={'+'.join(self.features)}"] if self.features else []
        parts += [f",cflags={self.cflags}"] if self.cflags is not None else []
        return "".join([*parts, *(f",patch={patch}" for patch in self.patches)])


@dataclass(frozen=True)
class Published:
    """A ready-made build. `release`: as the user wrote it."""

    release: str


@dataclass(frozen=True)
class Installed:
    """A release that somebody installed on this host: its major version, or the folder it is in."""

    place: str


@dataclass(frozen=True)
class Source:
    """Source to be built: a release, or the path of a tree or a tarball."""

    place: str
    wish: BuildWish = BuildWish()


@dataclass(frozen=True)
class Commit:
    """A revision in a repository (a path or an address) to be built."""

    repository: str
    revision: str
    wish: BuildWish = BuildWish()


@dataclass(frozen=True)
class Outside:
    """A server that somebody else runs, by a connection URI without a secret in it."""

    dsn: str

    @property
    def place(self) -> str:
        """The host and port as they were given, or the whole where it names none.

        >>> Outside("postgresql://me@db.example:6432/app?sslmode=require").place
        'db.example:6432'
        """
        match = _URI.fullmatch(self.dsn)
        return (match["place"] if match else "") or self.dsn


@dataclass(frozen=True)
class Image:
    """The server of an image, by the name that a container engine knows it by."""

    name: str


Spelling = Published | Installed | Source | Commit | Outside | Image

_KINDS = ("docker", "dsn", "git", "source", "system")
_WISHES = re.compile(r",(?=(?:with|cflags|patch)=)")
_RELEASE = re.compile(r"\d+(?:\.\d+)*")


_NAMED = re.compile(r"([A-Za-z][\w.-]*)=(.+)", re.DOTALL)


def split_name(text: str) -> tuple[str | None, str]:
    """The name that an arm is given, if it is, and the spelling of its server.

    >>> split_name("patched=git:.@HEAD,patch=mine.patch")
    ('patched', 'git:.@HEAD,patch=mine.patch')
    >>> split_name("git:.@HEAD,patch=mine.patch")
    (None, 'git:.@HEAD,patch=mine.patch')
    """
    match = _NAMED.fullmatch(text)
    return (match[1], match[2]) if match else (None, text)


def is_release(place: str) -> bool:
    """Whether a place is the number of a release rather than a path.

    >>> is_release("18.1"), is_release("./18.1")
    (True, False)
    """
    return _RELEASE.fullmatch(place) is not None


def is_prerelease(place: str) -> bool:
    """Whether a place is the name of a release that is still being tested; only the project's own tarballs have them.

    >>> is_prerelease("19beta2"), is_prerelease("19")
    (True, False)
    """
    return re.fullmatch(r"\d+(?:beta|rc)\d+", place) is not None


def read_spelling(text: str) -> Spelling:
    """What a spelling means. UserError if it means nothing.

    >>> read_spelling("17.7")
    Published(release='17.7')
    >>> read_spelling("/usr/lib/postgresql/17")
    Installed(place='/usr/lib/postgresql/17')
    >>> read_spelling("git:/src/postgres@REL_18_STABLE,patch=mine.patch")
    Commit(repository='/src/postgres', revision='REL_18_STABLE', wish=BuildWish(features=(), cflags=None, patches=('mine.patch',)))
    """  # noqa: E501
    if text.startswith(("/", "./", "../", "~/")):
        return Installed(text)
    kind, colon, rest = text.partition(":")
    if not colon:
        return Published(text)
    if kind in ("postgresql", "postgres"):
        raise UserError(
            "a connection URI without dsn: before it", hint="write dsn:postgresql://USER@HOST/DATABASE"
        )
    if kind not in _KINDS:
        raise unknown_word("kind of server", kind, _KINDS)
    if kind == "dsn":
        return _outside(rest)
    if kind == "docker":
        if not _IMAGE.fullmatch(rest):
            raise UserError(f"not the name of an image: {text}", hint="write docker:postgres:18")
        return Image(rest)
    if kind == "system":
        return Installed(_given(rest, text))
    place, *wishes = _WISHES.split(rest)
    wish = _wish(wishes)
    if kind == "source":
        return Source(_given(place, text), wish)
    # A revision may hold anything but this sign, which addresses have too: me@host.
    repository, sign, revision = place.rpartition("@")
    if not sign or not repository or not revision:
        raise UserError(
            f"no revision in {text}",
            hint=f"write git:{repository or place.strip('@') or 'PATH'}@HEAD, a tag, a branch or a commit",
        )
    return Commit(repository, revision, wish)


_URI = re.compile(
    r"postgres(?:ql)?://(?:(?P<who>[^/?#]*)@)?(?P<place>[^/?#]*)(?:/[^?#]*)?(?:\?(?P<options>.*))?"
)


_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@-]*")


def whereabouts(text: str) -> str | None:
    """Where a server is that is only connected to: its URI, or "container"; None for one that is started here.

    >>> whereabouts("17"), whereabouts("docker:postgres:17")
    (None, 'container')
    """
    match read_spelling(text):
        case Outside(dsn):
            return dsn
        case Image():
            return "container"
    return None


def _outside(dsn: str) -> Outside:
    """Nothing of the text is repeated in an error: what is taken apart wrongly may hold a password."""
    match = _URI.fullmatch(dsn)
    if match is None:
        raise UserError(
            "not a connection URI behind dsn:", hint="write dsn:postgresql://USER@HOST:PORT/DATABASE"
        )
    asked = [option.partition("=")[0].lower() for option in (match["options"] or "").split("&")]
    if ":" in (match["who"] or "") or any("%" in name or name.endswith("password") for name in asked):
        raise UserError(
            "a password in a dsn: it would be seen in the list of processes and kept in reports",
            hint="give it as PGPASSWORD, or in the file that PGPASSFILE names (else ~/.pgpass)",
        )
    return Outside(dsn)


def _given(place: str, text: str) -> str:
    if not place:
        raise UserError(
            f"nothing behind the colon: {text}", hint="write system:17, source:18.1 or source:PATH"
        )
    return place


def _wish(parts: list[str]) -> BuildWish:
    features: list[str] = []
    patches: list[str] = []
    cflags: str | None = None
    for part in parts:
        name, _, value = part.partition("=")
        if not value:
            raise UserError(
                f"an empty wish for a build: {part}=", hint="write with=lz4, cflags=-O3 or patch=FILE"
            )
        if name == "with":
            features += value.split("+")
        elif name == "patch":
            patches.append(value)
        elif cflags is None:
            cflags = value
        else:
            raise UserError(
                f"two wishes for cflags: {cflags} and {value}", hint="write all flags in one, with spaces"
            )
    for feature in features:
        if feature not in FEATURES:
            raise unknown_word("feature of a build", feature, FEATURES)
    return BuildWish(tuple(sorted(set(features))), cflags, tuple(patches))
