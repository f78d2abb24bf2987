"""Finding the engine, and telling a stale one."""

import hashlib
from pathlib import Path

import pytest

from pgverdict.engine import binary
from pgverdict.errors import WorldError


def _sources(root: Path) -> Path:
    (root / "engine" / "src" / "wire").mkdir(parents=True)
    (root / "Cargo.lock").write_text("lock")
    (root / "engine" / "Cargo.toml").write_text("manifest")
    (root / "engine" / "build.rs").write_text("build")
    (root / "engine" / "src" / "main.rs").write_text("main")
    (root / "engine" / "src" / "wire" / "mod.rs").write_text("wire")
    return root


def test_the_identity_of_the_sources_is_what_the_protocol_says(tmp_path: Path) -> None:
    written_out = b""
    for name, content in (
        (b"Cargo.lock", b"lock"),
        (b"engine/Cargo.toml", b"manifest"),
        (b"engine/build.rs", b"build"),
        (b"engine/src/main.rs", b"main"),
        (b"engine/src/wire/mod.rs", b"wire"),
    ):
        written_out += name + b"\0" + len(content).to_bytes(8, "little") + content

    assert binary.source_identity(_sources(tmp_path)) == hashlib.sha256(written_out).hexdigest()


def test_one_changed_byte_is_another_identity(tmp_path: Path) -> None:
    root = _sources(tmp_path)
    before = binary.source_identity(root)
    (root / "engine" / "src" / "main.rs").write_text("Main")

    assert binary.source_identity(root) != before


def test_an_engine_named_by_the_environment_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(binary.VARIABLE, str(tmp_path / "nothing"))

    with pytest.raises(WorldError, match=f"named by {binary.VARIABLE}"):
        binary.find_engine()


def test_every_place_searched_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(binary.VARIABLE, raising=False)
    monkeypatch.setattr(binary, "checkout_root", lambda: tmp_path)

    with pytest.raises(WorldError) as caught:
        binary.find_engine()

    assert str(tmp_path / "target" / "release" / binary.NAME) in caught.value.message
