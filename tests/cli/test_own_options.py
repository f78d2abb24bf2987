"""Files of a user's own work are read, and what cannot be read is said."""

import hashlib
from pathlib import Path

import pytest

from pgverdict.cli.own_files import TEXT_BYTES_MAX
from pgverdict.cli.own_options import own_work
from pgverdict.errors import UserError
from pgverdict.spec.own import OwnWork


def read(
    *scripts: str, schema: str | None = None, load: str | None = None, dump: str | None = None
) -> OwnWork | None:
    return own_work(scripts, schema, load, dump, read_only=False, long=False)


def test_texts_and_weights_and_the_digest_of_a_dump_are_kept(tmp_path: Path) -> None:
    for name in ("a.sql", "b@home.sql", "schema.sql"):
        (tmp_path / name).write_text(f"SELECT '{name}';\n")
    (tmp_path / "data.dump").write_bytes(b"PGDMP and more")
    own = read(
        f"{tmp_path}/a.sql@3",
        f"{tmp_path}/b@home.sql@1",
        schema=f"{tmp_path}/schema.sql",
        dump=f"{tmp_path}/data.dump",
    )

    assert own is not None
    assert [(one.name, one.text, one.weight) for one in own.scripts] == [
        ("a", "SELECT 'a.sql';\n", 3),
        ("b-home", "SELECT 'b@home.sql';\n", 1),
    ]
    assert own.schema is not None
    assert own.schema.text == "SELECT 'schema.sql';\n"
    assert own.dump is not None
    assert (own.dump.bytes, own.dump.sha256) == (14, hashlib.sha256(b"PGDMP and more").hexdigest())


def test_without_a_script_there_is_no_own_work() -> None:
    assert read() is None
    with pytest.raises(UserError, match="nothing works on what these say: --schema, --load"):
        read(schema="x.sql", load="y.sql")


@pytest.mark.parametrize(
    ("make", "spelled", "complaint"),
    [
        (lambda _path: None, "{}", "cannot read the script .*: No such file"),
        (lambda path: path.mkdir(), "{}", "cannot read the script .*: Is a directory"),
        (lambda path: path.write_bytes(b"SELECT '\xff';"), "{}", "the script is not UTF-8 at byte 8"),
        (lambda path: path.write_bytes(b" " * (TEXT_BYTES_MAX + 1)), "{}", "more than 4 MB"),
        (lambda path: path.write_text("SELECT 1;"), "{}@heavy", "not a weight: .*@heavy"),
    ],
)
def test_what_is_no_script_is_refused(tmp_path: Path, make: object, spelled: str, complaint: str) -> None:
    path = tmp_path / "script.sql"
    make(path)  # type: ignore[operator]
    with pytest.raises(UserError, match=complaint):
        read(spelled.format(path))


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda _path: None, "cannot read the dump .*: No such file"),
        (lambda path: path.mkdir(), "a dump in a directory is not read"),
        (lambda path: path.touch(), "the dump is empty"),
    ],
)
def test_what_is_no_dump_is_refused(tmp_path: Path, make: object, complaint: str) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1;")
    make(tmp_path / "dump")  # type: ignore[operator]
    with pytest.raises(UserError, match=complaint):
        read(f"{tmp_path}/a.sql", dump=f"{tmp_path}/dump")
