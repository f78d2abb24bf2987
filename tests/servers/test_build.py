"""Builds from source: kept by their content, run on a leash, and told where they fail.

The source here is a pretence: its make copies a ready-made build to where it is asked to. Real sources are built in
tests/building.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import pgverdict
from pgverdict.errors import UserError, WorldError
from pgverdict.servers import processes
from pgverdict.servers.account import Account
from pgverdict.servers.build import fill, obtain_built
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install
from pgverdict.servers.obtain import obtain
from pgverdict.spec.spelling import Source, read_spelling

_MISSING = [name for name in ("cc", "make", "bison", "flex", "perl", "patch") if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(
    bool(_MISSING), reason=f"NOT TESTED: builds, for want of {', '.join(_MISSING)}"
)

CONFIGURE = """#!/bin/sh
PACKAGE_VERSION='15.99'
for word in "$@"; do
    case "$word" in
    --prefix=*) prefix="${{word#--prefix=}}" ;;
    --with-lz4) echo "configure: error: library 'lz4' is required for LZ4 support"; exit 1 ;;
    esac
done
cat > Makefile <<END
all:
	@echo compiling slowly; {meanwhile}
install:
	@mkdir -p $prefix; cp -r {made}/bin {made}/lib {made}/share $prefix
END
for name in pg_buffercache pg_prewarm pg_stat_statements; do
    mkdir -p contrib/$name
    printf 'install:\\n\\t@true\\n' > contrib/$name/Makefile
done
"""


@pytest.fixture
def make_tree(install: Install, scratch: Path) -> Callable[..., Path]:
    def make(meanwhile: str = "true") -> Path:
        tree = scratch / "postgres"
        tree.mkdir()
        (tree / "configure").write_text(CONFIGURE.format(made=install.root, meanwhile=meanwhile))
        (tree / "configure").chmod(0o755)
        return tree

    return make


def test_what_was_built_is_not_built_again(
    make_tree: Callable[..., Path], own_home: Home, install: Install
) -> None:
    tree = make_tree()
    said: list[str] = []
    first = obtain(f"source:{tree}", own_home, say=said.append)

    assert first.version == install.version  # what was copied says so
    assert (first.package, first.copy, first.build.cflags) == (f"source:{tree}", 1, "-O2 -g")
    assert "--without-zlib" in first.build.configure
    assert len(said) == 1
    assert obtain(f"source:{tree}", own_home, say=said.append) == first
    second = obtain(first.package, own_home, copy=2, say=said.append)
    assert len(said) == 1
    assert second.identity == first.identity
    assert second.root != first.root

    (tree / "note").write_text("another content")
    other = obtain(f"source:{tree}", own_home, say=said.append)
    assert len(said) == 2
    assert other.identity != first.identity


def test_a_build_is_found_by_where_its_source_is_now(make_tree: Callable[..., Path], own_home: Home) -> None:
    tree = make_tree()
    first = obtain(f"source:{tree}", own_home)
    moved = tree.rename(tree.with_name("moved"))

    found = obtain(f"source:{moved}", own_home)
    assert (found.root, found.package) == (first.root, f"source:{moved}")
    assert obtain(found.package, own_home, copy=2).package == f"source:{moved}"


def test_other_flags_are_another_build(make_tree: Callable[..., Path], own_home: Home) -> None:
    tree = make_tree()
    plain, other = (obtain(f"source:{tree}{wish}", own_home) for wish in ("", ",cflags=-O3"))

    assert plain.identity != other.identity
    assert other.build.cflags == "-O3"


def test_the_log_stays_and_a_failure_names_it_and_the_package(
    make_tree: Callable[..., Path], own_home: Home
) -> None:
    tree = make_tree()
    with pytest.raises(
        WorldError, match="the build failed at configure: configure: error: library 'lz4' is required"
    ) as caught:
        obtain(f"source:{tree},with=lz4", own_home)

    hint = caught.value.hint or ""
    assert "apt-get install liblz4-dev" in hint
    log = Path(hint.rpartition("the log: ")[2])
    assert "--with-lz4" in log.read_text()
    assert not list(own_home.installs.iterdir())


def test_a_patch_is_applied_and_is_part_of_what_is_built(
    make_tree: Callable[..., Path], own_home: Home, scratch: Path
) -> None:
    tree = make_tree()
    (tree / "README").write_text("one\n")
    patch = scratch / "mine.patch"
    patch.write_text("--- a/README\n+++ b/README\n@@ -1 +1 @@\n-one\n+two\n")

    plain, patched = (obtain(f"source:{tree}{wish}", own_home) for wish in ("", f",patch={patch}"))
    assert plain.identity != patched.identity
    assert (tree / "README").read_text() == "one\n"

    (tree / "README").write_text("three\n")
    with pytest.raises(UserError, match=r"mine\.patch does not apply"):
        obtain(f"source:{tree},patch={patch}", own_home)
    with pytest.raises(UserError, match="cannot read the patch"):
        obtain(f"source:{tree},patch={scratch / 'none'}", own_home)


def test_a_build_whose_maker_is_killed_ends(
    make_tree: Callable[..., Path], own_home: Home, scratch: Path, account: Account
) -> None:
    sign = scratch / "sign"
    sign.touch()
    account.give(sign)
    tree = make_tree(f"echo begun > {sign}; sleep 1000")
    program = (
        "import sys; from pathlib import Path; from pgverdict.servers.home import Home;"
        "from pgverdict.servers.obtain import obtain; obtain(sys.argv[3], Home(Path(sys.argv[1]), Path(sys.argv[2])))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(pgverdict.__file__).parents[1])}
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(own_home.cache), str(own_home.data), f"source:{tree}"],
        env=environment,
    )
    try:
        _await(lambda: sign.read_text() == "begun\n")
        assert _running_below(own_home.installs)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    _await(lambda: not _running_below(own_home.installs))


def _await(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "in vain"
        time.sleep(0.02)


def _running_below(folder: Path) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            inside = (process / "cwd").readlink()
        except OSError:
            continue
        if inside.is_relative_to(folder):
            found.append(int(process.name))
    return found


def test_a_source_that_is_named_wrongly_costs_no_build(own_home: Home) -> None:
    asked = read_spelling("source:/no/such/place")
    assert isinstance(asked, Source)
    with pytest.raises(UserError, match="no source of PostgreSQL is there"):
        obtain_built(asked, own_home)
    assert not processes.running_in(own_home.cache)


def test_braces_in_a_compilers_flags_stay_as_they_are() -> None:
    folders = {"source": Path("/a"), "prefix": Path("/b")}
    assert fill("CFLAGS=-DX={1,2} {source}/x{prefix}", folders) == "CFLAGS=-DX={1,2} /a/x/b"
