"""How a release is built: one recipe for all, so that builds differ in PostgreSQL and in nothing else.

The same compiler and the same flags everywhere; features only where they are asked for, whatever a release would take
by itself; meson where the release has it, configure and make before. Pure: what is run, and not the running.
"""

from dataclasses import dataclass

from pgverdict.errors import UserError
from pgverdict.servers.release import spell_major
from pgverdict.spec.spelling import BuildWish

CFLAGS = "-O2 -g"
"""The optimisation that PostgreSQL's own configure chooses, and names for profiles."""

MESON_SINCE = (16,)

CONTRIB = ("pg_buffercache", "pg_prewarm", "pg_stat_statements")
"""Extensions that the measuring uses. meson builds all there are."""

_SINCE = {
    "cassert": (9, 6),
    "icu": (10,),
    "liburing": (18,),
    "llvm": (11,),
    "lz4": (14,),
    "numa": (18,),
    "openssl": (9, 6),
    "zlib": (9, 6),
    "zstd": (15,),
}
_CONFIGURE = {
    "cassert": "--enable-cassert",
    "icu": "--with-icu",
    "llvm": "--with-llvm",
    "lz4": "--with-lz4",
    "openssl": "--with-openssl",
    "zlib": "",
    "zstd": "--with-zstd",
}
_MESON = {
    "cassert": "-Dcassert=true",
    "icu": "-Dicu=enabled",
    "liburing": "-Dliburing=enabled",
    "llvm": "-Dllvm=enabled",
    "lz4": "-Dlz4=enabled",
    "numa": "-Dlibnuma=enabled",
    "openssl": "-Dssl=openssl",
    "zlib": "-Dzlib=enabled",
    "zstd": "-Dzstd=enabled",
}

PROGRAMS = {
    "cc": ("gcc", "gcc"),
    "make": ("make", "make"),
    "meson": ("meson", "meson"),
    "ninja": ("ninja-build", "ninja-build"),
    "bison": ("bison", "bison"),
    "flex": ("flex", "flex"),
    "perl": ("perl", "perl-FindBin perl-File-Compare"),
    "pkg-config": ("pkg-config", "pkgconf-pkg-config"),
    "patch": ("patch", "patch"),
    "git": ("git", "git"),
}
LIBRARIES = {
    "icu": ("libicu-dev", "libicu-devel"),
    "liburing": ("liburing-dev", "liburing-devel"),
    "llvm": ("llvm-dev clang", "llvm-devel clang"),
    "lz4": ("liblz4-dev", "lz4-devel"),
    "numa": ("libnuma-dev", "numactl-devel"),
    "openssl": ("libssl-dev", "openssl-devel"),
    "zlib": ("zlib1g-dev", "zlib-devel"),
    "zstd": ("libzstd-dev", "libzstd-devel"),
}
"""The packages of Debian and of RPM systems that a program or a feature comes with."""


@dataclass(frozen=True)
class Step:
    """A command; `{source}`, `{build}` and `{prefix}` in it stand for folders. `inside`: where it runs."""

    words: tuple[str, ...]
    inside: str = "{build}"


@dataclass(frozen=True)
class Recipe:
    """`options` are what the build says about itself; with `cflags` and the compiler they identify it."""

    system: str
    options: tuple[str, ...]
    cflags: str
    programs: tuple[str, ...]
    features: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def text(self) -> str:
        """Two builds of one source with the same text, by the same compiler, are the same."""
        return "\n".join(
            [self.system, *self.options, self.cflags, *(" ".join(step.words) for step in self.steps)]
        )


def recipe(major: tuple[int, ...], wish: BuildWish, *, jobs: int) -> Recipe:
    """How that release is built. UserError for a feature that it does not have."""
    for feature in wish.features:
        if major < _SINCE[feature]:
            raise UserError(
                f"PostgreSQL {spell_major(major)} cannot be built with {feature}",
                hint=f"{feature} is there since PostgreSQL {spell_major(_SINCE[feature])}",
            )
    cflags = CFLAGS if wish.cflags is None else wish.cflags
    programs = ["cc", "bison", "flex", "perl", *(["patch"] if wish.patches else [])]
    if wish.features:
        programs.append("pkg-config")
    if major >= MESON_SINCE:
        return _by_meson(wish, cflags, [*programs, "meson", "ninja"], jobs)
    return _by_make(wish, cflags, [*programs, "make"], jobs)


def _by_meson(wish: BuildWish, cflags: str, programs: list[str], jobs: int) -> Recipe:
    options = ("-Dauto_features=disabled", *(_MESON[feature] for feature in wish.features))
    setup = (
        "meson", "setup", "{build}", "{source}", "--prefix={prefix}", "--libdir=lib",
        # `plain` leaves the flags to us.
        "--buildtype=plain", f"-Dc_args={cflags}", *options,
    )  # fmt: skip
    steps = (
        Step(setup, inside="{source}"),
        Step(("ninja", f"-j{jobs}")),
        Step(("meson", "install", "--no-rebuild", "--quiet")),
    )
    return Recipe("meson", options, cflags, tuple(programs), wish.features, steps)


def _by_make(wish: BuildWish, cflags: str, programs: list[str], jobs: int) -> Recipe:
    without = ["--without-readline", *(["--without-zlib"] if "zlib" not in wish.features else [])]
    options = (*without, *(option for feature in wish.features if (option := _CONFIGURE[feature])))
    configure = ("{source}/configure", "--prefix={prefix}", f"CFLAGS={cflags}", *options)
    contrib = tuple(Step(("make", "-s", f"-j{jobs}", "-C", f"contrib/{name}", "install")) for name in CONTRIB)
    steps = (Step(configure), Step(("make", "-s", f"-j{jobs}")), Step(("make", "-s", "install")), *contrib)
    return Recipe("make", options, cflags, tuple(programs), wish.features, steps)


def packages_hint(missing: list[str]) -> str:
    """Which packages bring what is missing: names of PROGRAMS or LIBRARIES.

    >>> packages_hint(["lz4", "bison"])
    'Debian, Ubuntu: apt-get install liblz4-dev bison; RPM systems: dnf install lz4-devel bison'
    """
    known = PROGRAMS | LIBRARIES
    debian, rpm = (" ".join(known[name][number] for name in missing) for number in (0, 1))
    return f"Debian, Ubuntu: apt-get install {debian}; RPM systems: dnf install {rpm}"
