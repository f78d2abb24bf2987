"""The invariants of ARCHITECTURE.md, held against the code."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "pgverdict"

# From the first stage to the last: a folder imports only folders before it.
LINE = (
    "errors", "spec", "workloads", "plan", "records", "servers", "host", "engine", "observe", "datasets", "conduct",
    "store", "judge", "run", "report", "cli",
)  # fmt: skip

PURE = ("errors", "spec", "plan", "records", "judge")
TOUCHES_THE_WORLD = {
    "asyncio", "ctypes", "fcntl", "glob", "http", "io", "os", "pathlib", "platform", "psycopg", "secrets", "select",
    "shutil", "signal", "socket", "sqlalchemy", "sqlite3", "subprocess", "sys", "tempfile", "threading", "time",
    "urllib",
}  # fmt: skip

ONLY_IN = {
    "sqlalchemy": {"store"},
    "alembic": {"store"},
    "pyarrow": {"store"},
    "jinja2": {"report"},
    "typer": {"cli"},
    "jgo": {"servers"},
    "psycopg": {"servers", "observe"},
    "pydantic": {"spec"},
    "tomllib": {"spec"},
    "numpy": {"judge"},
    "scipy": {"judge"},
}

NAMES_THAT_PROMISE_NOTHING = {
    "utils",
    "util",
    "common",
    "helpers",
    "core",
    "types",
    "manager",
    "misc",
    "base",
}


def _modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem == "errors")


def _folder(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imports(path: Path) -> list[tuple[str, ast.stmt]]:
    """Every imported module, wherever in the file the import stands: a late import is no way round a rule."""
    found: list[tuple[str, ast.stmt]] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(alias.name, node) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            assert node.module
            found.append((node.module, node))
    return found


def test_every_folder_is_a_stage_of_the_line() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}

    assert folders | {"errors"} == set(LINE)


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_backwards_along_the_line(path: Path) -> None:
    here = LINE.index(_folder(path))
    for name, node in _imports(path):
        if name.startswith("pgverdict."):
            there = LINE.index(name.split(".")[1])
            assert there <= here, f"{path}:{node.lineno} imports {name}"


@pytest.mark.parametrize("folder", PURE)
def test_pure_stages_do_not_touch_the_world(folder: str) -> None:
    for path in _modules():
        if _folder(path) == folder:
            for name, node in _imports(path):
                assert name.split(".")[0] not in TOUCHES_THE_WORLD, f"{path}:{node.lineno} imports {name}"


@pytest.mark.parametrize("library", sorted(ONLY_IN))
def test_a_library_is_known_to_its_own_stage_only(library: str) -> None:
    users = {
        _folder(path) for path in _modules() for name, _ in _imports(path) if name.split(".")[0] == library
    }

    assert users <= ONLY_IN[library]


def test_only_the_engine_stage_starts_the_engine() -> None:
    starters = {_folder(path) for path in _modules() if "pgverdict-engine" in path.read_text()}

    assert starters == {"engine"}


def test_no_module_has_a_name_that_promises_nothing() -> None:
    names = {path.stem for path in _modules()} | {
        path.stem for path in (ROOT / "engine" / "src").rglob("*.rs")
    }

    assert not names & NAMES_THAT_PROMISE_NOTHING


def test_the_map_shows_every_stage() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()

    assert [stage for stage in LINE if f"`{stage}" not in text] == []
