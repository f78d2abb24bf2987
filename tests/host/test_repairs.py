"""Knobs are set and put back, on files that stand for a kernel's."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgverdict.errors import WorldError
from pgverdict.host import repairs
from pgverdict.host.doctor import examine, read_facts
from pgverdict.host.repairs import Step, Touched, plan, read_record, undo
from pgverdict.host.tree import Tree

from .recorded import lay_out

SWAPPINESS = "/proc/sys/vm/swappiness"
BALANCING = "/proc/sys/kernel/numa_balancing"
NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
GOVERNORS = tuple(f"/sys/devices/system/cpu/cpufreq/policy{n}/scaling_governor" for n in (0, 1, 2))


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return lay_out("laptop", tmp_path / "laptop")


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "doctor-undo.json"


def _steps(tree: Tree) -> tuple[Step, ...]:
    return plan(tree, examine(read_facts(tree, Path("/var/cache")), layout_obstacle=None))


def _fix(tree: Tree, record: Path) -> None:
    repairs.fix(tree, record, _steps(tree))


def _contents(tree: Tree) -> dict[str, str]:
    root = tree.place("/")
    return {
        str(path.relative_to(root)): path.read_text().strip() for path in root.rglob("*") if path.is_file()
    }


def test_only_what_is_not_right_yet_is_planned(tree: Tree) -> None:
    assert [str(step) for step in _steps(tree)] == [
        *(f"{path}: powersave -> performance" for path in GOVERNORS),
        f"{NO_TURBO}: 0 -> 1",
        f"{THP}: always -> madvise",
        f"{SWAPPINESS}: 60 -> 1",
    ]


def test_fixing_changes_the_knobs_and_nothing_else(tree: Tree, record: Path) -> None:
    before = _contents(tree)

    _fix(tree, record)

    changed = {f"/{path}" for path, text in _contents(tree).items() if before[path] != text}
    assert changed == {*GOVERNORS, NO_TURBO, THP, SWAPPINESS}
    assert _steps(tree) == ()


def test_undoing_puts_everything_back_and_forgets(tree: Tree, record: Path) -> None:
    _fix(tree, record)

    told = list(undo(tree, record))

    assert told[0] == f"{SWAPPINESS}: 1 -> 60"  # the last first
    assert len(told) == 6
    # The kernel shows all words again; a file of ours holds the one that was written.
    assert {path: tree.text(path) for path in (*GOVERNORS, NO_TURBO, THP, SWAPPINESS)} == {
        **dict.fromkeys(GOVERNORS, "powersave"), NO_TURBO: "0", THP: "always", SWAPPINESS: "60",
    }  # fmt: skip
    assert not record.exists()
    assert list(undo(tree, record)) == []


def test_fixing_twice_keeps_what_was_there_before_the_first_time(tree: Tree, record: Path) -> None:
    _fix(tree, record)
    tree.place(SWAPPINESS).write_text("30")  # somebody else's
    _fix(tree, record)
    _fix(tree, record)

    list(undo(tree, record))

    assert tree.text(SWAPPINESS) == "60"


def test_what_somebody_changed_since_is_told_and_left_alone(tree: Tree, record: Path) -> None:
    _fix(tree, record)
    tree.place(SWAPPINESS).write_text("30\n")

    told = list(undo(tree, record))

    assert told[0] == (
        f"{SWAPPINESS}: left alone: is 30, which pgverdict did not set (it set 1, and found 60)"
    )
    assert tree.text(SWAPPINESS) == "30"
    assert tree.text(NO_TURBO) == "0"
    assert not record.exists()


def test_what_went_back_by_itself_is_as_it_was(tree: Tree, record: Path) -> None:
    _fix(tree, record)
    tree.place(SWAPPINESS).write_text("60")  # as a new start of the host does

    assert next(iter(undo(tree, record))) == f"{SWAPPINESS}: is 60, as it was"


def test_a_disk_that_was_taken_out_is_told(tree: Tree, record: Path) -> None:
    _fix(tree, record)
    tree.place(NO_TURBO).unlink()

    told = list(undo(tree, record))

    assert (
        f"{NO_TURBO}: left alone: is not there, which pgverdict did not set (it set 1, and found 0)" in told
    )
    assert tree.text(SWAPPINESS) == "60"


class Crash(BaseException):
    """What nothing catches: the process is gone."""


# Writing files through to the disk takes as long as the disk likes.
@settings(deadline=None)
@given(st.integers(0, 5), st.booleans())
def test_a_crash_at_any_step_leaves_a_record_that_undoes_it(
    tmp_path_factory: pytest.TempPathFactory, steps: int, after: bool
) -> None:
    """Before or after a knob is set, with its entry written down."""
    place = tmp_path_factory.mktemp("crash")
    tree, record = lay_out("laptop", place / "laptop"), place / "undo.json"
    set_ = repairs._set
    done: list[str] = []

    def crash(tree: Tree, path: str, value: str) -> None:
        if len(done) == steps and not after:
            raise Crash
        set_(tree, path, value)
        if len(done) == steps:
            raise Crash
        done.append(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repairs, "_set", crash)
        with pytest.raises(Crash):
            _fix(tree, record)

    assert len(read_record(record)) == steps + 1
    list(undo(tree, record))
    assert {tree.text(path) for path in GOVERNORS} == {"powersave"}
    assert [tree.text(path) for path in (NO_TURBO, SWAPPINESS)] == ["0", "60"]
    assert not record.exists()


def test_a_knob_that_the_kernel_refuses_is_named_and_the_others_can_be_undone(
    tree: Tree, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file that takes every value and shows its own.
    monkeypatch.setattr(tree, "text", _stubborn(tree, THP, "[always] madvise never"))

    with pytest.raises(
        WorldError, match=f"the kernel did not take madvise for {THP}: it is always"
    ) as caught:
        _fix(tree, record)

    assert caught.value.hint == "`pgverdict doctor --undo` puts back what is set"
    told = list(undo(tree, record))
    assert told[0] == f"{THP}: is always, as it was"
    assert tree.text(NO_TURBO) == "0"


def test_a_knob_that_cannot_be_put_back_stays_written_down(
    tree: Tree, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fix(tree, record)
    monkeypatch.setattr(tree, "text", _stubborn(tree, THP, "always [madvise] never"))

    with pytest.raises(WorldError, match=f"the kernel did not take always for {THP}"):
        list(undo(tree, record))

    assert read_record(record) == (Touched(THP, "always", "madvise"),)
    assert tree.text(NO_TURBO) == "0"


def _stubborn(tree: Tree, path: str, shown: str):  # type: ignore[no-untyped-def]
    real = tree.text
    return lambda asked: shown if asked == path else real(asked)


def test_who_may_not_write_changes_nothing(tree: Tree, record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _contents(tree)
    monkeypatch.setattr(Tree, "is_writable", lambda _self, path: path != SWAPPINESS)

    with pytest.raises(WorldError, match=f"may not write {SWAPPINESS}") as caught:
        _fix(tree, record)

    assert caught.value.hint is not None
    assert "sudo pgverdict doctor" in caught.value.hint
    assert _contents(tree) == before
    assert not record.exists()


@pytest.mark.parametrize("path", ["/etc/passwd", "/sys/../etc/passwd", "relative"])
def test_a_record_that_names_other_files_is_refused(path: str, tree: Tree, record: Path) -> None:
    record.write_text(json.dumps([{"path": path, "before": "0", "set": "1"}]))

    with pytest.raises(WorldError, match="not a knob of the kernel"):
        list(undo(tree, record))


@pytest.mark.parametrize(
    "content",
    [b"", b"[1]", b"{", b'[{"path": "/sys/a"}]', b"\xff", b'[{"path": 1, "before": "0", "set": "1"}]'],
)
def test_a_record_that_cannot_be_read_is_named(content: bytes, tree: Tree, record: Path) -> None:
    record.write_bytes(content)

    with pytest.raises(WorldError, match=r"not a record of what was set before: .*doctor-undo\.json"):
        _fix(tree, record)


def test_a_record_that_cannot_be_written_stops_before_anything_is_set(tree: Tree, tmp_path: Path) -> None:
    before = _contents(tree)

    with pytest.raises(WorldError, match="cannot write down what was set before"):
        _fix(tree, tmp_path / "nowhere" / "doctor-undo.json")

    assert _contents(tree) == before
