"""Own work that campaign files name is read beside them, and what cannot be has file, line and key."""

import json
from pathlib import Path

import pytest

from pgverdict.cli.exits import run
from pgverdict.cli.own_tables import own_work_of
from pgverdict.cli.run import read_campaign
from pgverdict.errors import UserError
from pgverdict.spec.campaign import CellSpec
from pgverdict.spec.regime import Regime

TOP = 'arms = ["17", "18"]\n[[workload]]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files of a user's."""
    for name, text in (
        ("buy.sql", "UPDATE stock SET n = 1;\n"),
        ("look.sql", "SELECT 1;\n"),
        ("schema.sql", "CREATE TABLE stock (n int);\n"),
        ("rows.sql", "INSERT INTO stock SELECT generate_series(1, :scale);\n"),
        ("data.dump", "PGDMP and more"),
    ):
        (tmp_path / "sql").mkdir(exist_ok=True)
        (tmp_path / "sql" / name).write_text(text)
    return tmp_path


def cells(folder: Path, text: str) -> tuple[CellSpec, ...]:
    file = folder / "c.toml"
    file.write_text(TOP + text)
    return read_campaign(file).cells


def test_files_are_found_beside_the_campaign_file(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    first, *others = cells(
        folder,
        'script = ["sql/buy.sql@3", "sql/look.sql"]\nschema = "sql/schema.sql"\nload = "sql/rows.sql"\n'
        'dump = "sql/data.dump"\nlong = true\nscale = [1, 2]\nclients = [1, 4]\nregime = ["fresh", "steady"]\n',
    )

    assert len(others) == 7
    assert (first.workload, first.scale, first.clients) == ("buy+look", 1, 1)
    assert {one.regime for one in (first, *others)} == {None, Regime.STEADY}, (
        "fresh is what own work has anyhow"
    )
    own = first.own
    assert own is not None
    assert [(one.path, one.text, one.weight) for one in own.scripts] == [
        (str(folder / "sql" / "buy.sql"), "UPDATE stock SET n = 1;\n", 3),
        (str(folder / "sql" / "look.sql"), "SELECT 1;\n", 1),
    ]
    assert own.schema is not None
    assert own.load is not None
    assert own.dump is not None
    assert (own.schema.text, own.load.at(2)) == (
        "CREATE TABLE stock (n int);\n", "INSERT INTO stock SELECT generate_series(1, 2);\n",
    )  # fmt: skip
    assert (own.dump.path, own.dump.bytes, own.long) == (str(folder / "sql" / "data.dump"), 14, True)


def test_own_scripts_stand_beside_workloads_of_the_catalogue(folder: Path) -> None:
    found = cells(
        folder,
        'script = "sql/look.sql"\nread_only = true\npartitions = [0, 8]\nsize = "500MB"\n[[workload]]\n'
        'name = "select-only"\n[[exclude]]\nworkload = "look"\npartitions = 8\n',
    )
    assert [cell.workload for cell in found] == ["look", "select-only"]
    assert found[0].own is not None
    assert found[0].scale > 10


def test_what_the_files_say_tells_cells_apart(folder: Path) -> None:
    before = cells(folder, 'script = "sql/look.sql"\n')[0].key
    (folder / "sql" / "look.sql").write_text("SELECT 2;\n")

    assert cells(folder, 'script = "sql/look.sql"\n')[0].key != before


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ('script = "sql/lok.sql"\n', ":3: workload.script: cannot read the script", "did you mean look.sql?"),
        ('script = "sql/look.sql"\nschema = "sql/shema.sql"\n', ":4: workload.schema: cannot read the schema",
         "did you mean schema.sql?"),
        ('script = "sql/look.sql"\nload = "sql"\n', ":4: workload.load: cannot read the SQL of the load", None),
        ('script = "sql/look.sql"\ndump = "sql/date.dump"\n', ":4: workload.dump: cannot read the dump",
         "did you mean data.dump?"),
        ('script = "sql/look.sql@much"\n', ":3: workload.script: not a weight: sql/look.sql@much", "write FILE@WEIGHT"),
        ('script = ["sql/look.sql", "sql/look.sql"]\n', ":3: workload.script: two scripts of one name", "reports"),
        ('script = "sql/look.sql"\nallow = "shel"\n', ":4: workload.allow: unknown thing to allow: shel", "shell"),
        ('scrpt = "sql/look.sql"\n', ":3: unknown key in [[workload]]: scrpt", "did you mean script?"),
        ('script = "sql/look.sql"\nread_only = "yes"\n', ":4: workload.read_only must be true or false", None),
        ('script = "sql/look.sql"\nname = "select-only"\n', ":4: workload.name: own scripts in place of", "two"),
        ('name = "select-only"\nload = "sql/rows.sql"\n', ":4: workload.load: it is said of own scripts", "script ="),
        ('script = "sql/buy.sql"\nload = "sql/rows.sql"\nsize = "1GB"\n', ":5: workload.size: how large your own data",
         "use scale"),
        ('script = "sql/buy.sql"\nload = "sql/rows.sql"\npartitions = 8\n', ":5: workload.partitions: buy has no",
         None),
        ('script = "sql/look.sql"\nparameters = { partition = 8 }\n', ":4: workload.parameters.partition: unknown",
         "did you mean partitions?"),
    ],
)  # fmt: skip
def test_an_error_names_file_line_and_key(folder: Path, text: str, said: str, hint: str | None) -> None:
    with pytest.raises(UserError) as caught:
        cells(folder, text)
    assert caught.value.message.startswith(f"{folder / 'c.toml'}{said}")
    if hint is not None:
        assert hint in (caught.value.hint or "")


def test_a_workload_is_named_or_scripted_in_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == 0
    table = json.loads(capsys.readouterr().out)["$defs"]["WorkloadTable"]

    assert {"script", "schema", "load", "dump", "read_only", "long", "allow"} <= set(table["properties"])
    assert table["oneOf"] == [{"required": ["name"]}, {"required": ["script"]}]
    assert "name" not in table.get("required", [])


def test_a_file_without_own_work_has_none(folder: Path) -> None:
    from pgverdict.spec.document import read_document

    assert own_work_of(read_document(str(folder / "c.toml"), f'{TOP}name = "select-only"\n')) == {}
