"""What a running server says of its build and of its cluster, under names that are the same for all releases.

A fact that a release cannot have (lz4 before 14, say) is absent: that is the release, not the build.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

Facts = tuple[tuple[str, str], ...]

_COSMETIC = re.compile(r"-[Wg]|-f(?:file|debug|macro)-prefix-map=|-O|-D_FORTIFY_SOURCE=0")
"""Flags that do not change the code, and those that have a fact of their own."""

_HARMLESS = re.compile(r"--(?:en|dis)able-(?:nls|rpath|tap-tests|debug|thread-safety|integer-datetimes)\b")


@dataclass(frozen=True)
class Told:
    """What was asked, as it was answered. `shown` are settings; `choices` what enums among them may be."""

    version: str
    config: Mapping[str, str]
    """pg_config by its names: CONFIGURE, CFLAGS ...; empty where this user may not ask for it."""
    shown: Mapping[str, str]
    choices: Mapping[str, tuple[str, ...]]
    jit: bool | None = None
    """Whether code can be compiled at run time; None: not in this release."""
    icu: bool | None = None


def build_facts(told: Told) -> Facts:
    """The facts of a build."""
    cflags, configure = told.config.get("CFLAGS", ""), told.config.get("CONFIGURE", "")
    found: dict[str, str | None] = {
        "version": told.version,
        "compiler": _compiler(told.version),
        "optimisation": _optimisation(cflags),
        "flags": " ".join(sorted({flag for flag in cflags.split() if not _COSMETIC.match(flag)})),
        "assertions": told.shown.get("debug_assertions"),
        "llvm": _yes(told.jit),
        "icu": _yes(told.icu),
        "lz4": _offers(told, "default_toast_compression", "lz4"),
        "zstd": _offers(told, "wal_compression", "zstd"),
        "liburing": _offers(told, "io_method", "io_uring"),
        "openssl": _yes(_has_openssl(told, configure)),
        "options": " ".join(
            sorted(set(re.findall(r"--(?:en|dis)able-[\w-]+", _HARMLESS.sub("", configure))))
        ),
        **{name: told.shown.get(name) for name in ("block_size", "wal_block_size", "segment_size")},
        "configure": configure,
        "cflags": cflags,
    }
    unknown = () if told.config else ("optimisation", "flags", "options", "configure", "cflags")
    return tuple((name, value) for name, value in found.items() if value is not None and name not in unknown)


MADE_WITH = ("compiler", "optimisation", "flags", "assertions", "llvm", "icu", "lz4", "zstd", "liburing", "openssl",
             "options", "block_size", "wal_block_size", "segment_size")  # fmt: skip
"""Facts in which builds of two releases can be alike, and should be."""

CLUSTER = ("wal_segment_size", "locale_provider", "collation", "character_type", "encoding")
"""The same of clusters; page checksums are among the defaults that `plan.alignment` compares."""


def ask_build(connection: "psycopg.Connection[Any]") -> Facts:
    """The facts of the build that answers."""
    release = connection.info.server_version
    (version,) = _row(connection, "SELECT pg_catalog.version()")
    (may,) = _row(connection, "SELECT pg_catalog.has_function_privilege('pg_catalog.pg_config()', 'EXECUTE')")
    config = (
        connection.execute("SELECT c.name, c.setting FROM pg_catalog.pg_config() AS c").fetchall()
        if may
        else []
    )
    shown = connection.execute(
        "SELECT s.name, pg_catalog.current_setting(s.name), coalesce(s.enumvals, '{}')"
        " FROM pg_catalog.pg_settings AS s"
    ).fetchall()
    jit = icu = None
    if release >= 11_00_00:
        # A session that is told not to compile does not look whether it could.
        connection.execute("SET jit = on")
        (jit,) = _row(connection, "SELECT pg_catalog.pg_jit_available()")
        connection.execute("RESET jit")
    if release >= 10_00_00:
        (icu,) = _row(
            connection, "SELECT EXISTS (SELECT FROM pg_catalog.pg_collation AS c WHERE c.collprovider = 'i')"
        )
    return build_facts(
        Told(
            version=version,
            config=dict(config),
            shown={name: value for name, value, _ in shown},
            choices={name: tuple(choices) for name, _, choices in shown},
            jit=jit,
            icu=icu,
        )
    )


def ask_cluster(connection: "psycopg.Connection[Any]") -> Facts:
    """The facts of the cluster, and of the database that is connected to."""
    release = connection.info.server_version
    provider = "d.datlocprovider::text" if release >= 15_00_00 else "'c'"
    names = (
        "wal_segment_size",
        "data_checksums",
        "locale_provider",
        "collation",
        "character_type",
        "encoding",
    )
    values = _row(
        connection,
        "SELECT pg_catalog.current_setting('wal_segment_size'), pg_catalog.current_setting('data_checksums'),"
        f" CASE {provider} WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' END,"
        " d.datcollate, d.datctype, pg_catalog.pg_encoding_to_char(d.encoding)"
        " FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()",
    )
    return tuple((name, str(value)) for name, value in zip(names, values, strict=True))


def debug_build(facts: Mapping[str, str]) -> str | None:
    """Why a build is for finding errors and not for measuring; None if it is not."""
    if facts.get("assertions") == "on":
        return "it checks assertions"
    if facts.get("optimisation") == "-O0":
        return "it was compiled without optimisation (-O0)"
    return None


def _compiler(version: str) -> str:
    match = re.search(r", compiled by (.+?)(?:, \d+-bit)?$", version)
    return match[1] if match else ""


def _optimisation(cflags: str) -> str | None:
    """The last one counts; a compiler that is told none does not optimise. None: the flags are not known."""
    if not cflags.strip():
        return None
    told = [flag for flag in cflags.split() if re.fullmatch(r"-O\w*", flag)]
    return {"-O": "-O1"}.get(told[-1], told[-1]) if told else "-O0"


def _has_openssl(told: Told, configure: str) -> bool:
    """Releases from 12 on say it; earlier ones were told when they were configured."""
    if "ssl_library" in told.shown:
        return told.shown["ssl_library"] == "OpenSSL"
    return "--with-openssl" in configure


def _offers(told: Told, setting: str, choice: str) -> str | None:
    """Whether an enum may be something; None where the release has no such enum."""
    return _yes(choice in told.choices[setting]) if told.choices.get(setting) else None


def _yes(known: bool | None) -> str | None:
    return None if known is None else "yes" if known else "no"


def _row(connection: "psycopg.Connection[Any]", query: str) -> tuple[Any, ...]:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return tuple(row)
