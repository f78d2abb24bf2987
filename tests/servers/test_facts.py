"""What builds and clusters say of themselves, under names that are the same for all releases."""

import dataclasses

import pytest

from pgverdict.servers.facts import CLUSTER, MADE_WITH, Told, ask_build, ask_cluster, build_facts, debug_build
from pgverdict.servers.install import Install

from .conftest import MakeServer

TOLD = Told(
    version="PostgreSQL 18.6 on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit",
    config={
        "CONFIGURE": " '--prefix=/opt/18' '--enable-nls' '--enable-dtrace' '--with-openssl'",
        "CFLAGS": "-Wall -Wno-format-truncation -fwrapv -fno-strict-aliasing -ffile-prefix-map=/a=. -g -O2",
    },
    shown={"debug_assertions": "off", "block_size": "8192", "segment_size": "1GB", "ssl_library": "OpenSSL"},
    choices={
        "default_toast_compression": ("pglz", "lz4"),
        "wal_compression": ("pglz", "on", "off"),
        "io_method": ("sync", "worker"),
    },
    jit=True,
    icu=False,
)


def facts(**changes: object) -> dict[str, str]:
    return dict(build_facts(dataclasses.replace(TOLD, **changes)))  # type: ignore[arg-type]


def with_flags(flags: str) -> dict[str, str]:
    return facts(config={"CFLAGS": flags})


def test_a_build_is_told_in_facts_with_stable_names() -> None:
    found = facts()

    assert {name: found[name] for name in MADE_WITH if name in found} == {
        "compiler": "gcc (Debian 12.2.0-14) 12.2.0",
        "optimisation": "-O2",
        "flags": "-fno-strict-aliasing -fwrapv",
        "assertions": "off",
        "llvm": "yes",
        "icu": "no",
        "lz4": "yes",
        "zstd": "no",
        "liburing": "no",
        "openssl": "yes",
        "options": "--enable-dtrace",
        "block_size": "8192",
        "segment_size": "1GB",
    }


def test_what_a_release_cannot_have_is_absent() -> None:
    old = facts(jit=None, icu=None, choices={"wal_compression": ()}, shown={})

    assert not {"llvm", "icu", "lz4", "zstd", "liburing", "block_size"} & set(old)


def test_a_release_that_does_not_say_its_ssl_library_was_told_to_have_it() -> None:
    assert facts(shown={})["openssl"] == "yes"
    assert facts(shown={}, config={"CONFIGURE": ""})["openssl"] == "no"
    assert facts(shown={"ssl_library": ""})["openssl"] == "no"


@pytest.mark.parametrize(
    ("flags", "optimisation"),
    [
        ("-O0 -O2", "-O2"),
        ("-O2 -g -O0", "-O0"),
        ("-g -fwrapv", "-O0"),
        ("-Os", "-Os"),
        ("-O", "-O1"),
        ("", None),
    ],
)
def test_the_last_optimisation_counts_and_none_is_none(flags: str, optimisation: str | None) -> None:
    assert with_flags(flags).get("optimisation") == optimisation


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (facts(), None),
        (facts(shown={"debug_assertions": "on"}), "it checks assertions"),
        (with_flags("-g -O0"), "it was compiled without optimisation (-O0)"),
        (with_flags(""), None),
        (with_flags("-Os"), None),
    ],
)
def test_a_build_for_finding_errors_is_told_from_one_to_measure(
    found: dict[str, str], reason: str | None
) -> None:
    assert debug_build(found) == reason


def test_real_builds_of_all_releases_tell_what_they_were_made_with(
    any_install: Install, borrow_server: MakeServer
) -> None:
    with borrow_server(any_install) as server, server.connect() as connection:
        found, cluster = dict(ask_build(connection)), dict(ask_cluster(connection))

    assert found["version"].startswith(f"PostgreSQL {any_install.version} on ")
    assert found["compiler"].startswith("gcc")
    assert found["optimisation"].startswith("-O")
    assert found["assertions"] == "off"
    assert (found["block_size"], found["wal_block_size"], found["segment_size"]) == ("8192", "8192", "1GB")
    assert ("llvm" in found) == (any_install.major >= (11,))
    assert ("lz4" in found) == (any_install.major >= (14,))
    assert ("zstd" in found) == (any_install.major >= (15,))
    assert ("liburing" in found) == (any_install.major >= (18,))
    assert "-W" not in found["flags"]
    assert debug_build(found) is None
    assert {name: cluster[name] for name in CLUSTER} == {
        "wal_segment_size": "16MB",
        "locale_provider": "libc",
        "collation": "C",
        "character_type": "C",
        "encoding": "UTF8",
    }
    assert cluster["data_checksums"] == ("on" if any_install.major >= (18,) else "off")
