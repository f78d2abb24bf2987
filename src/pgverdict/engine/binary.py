"""Finding the engine's binary, and the identity of the sources it ought to be built from.

A stale engine that runs silently is the worst bug a benchmark can have, so the binary's own account
of its sources (in `hello`) is compared with the sources of the checkout, where there is one.
"""

import hashlib
import os
from pathlib import Path

from pgverdict.errors import WorldError

NAME = "pgverdict-engine"
PGBENCH_NAME = "pgverdict-pgbench"
VARIABLE = "PGVERDICT_ENGINE"


def find_engine() -> Path:
    """The engine: named by the environment, beside the package, or built in the checkout; never from PATH."""
    named = os.environ.get(VARIABLE)
    if named:
        if not os.access(named, os.X_OK):
            raise WorldError(
                f"cannot run the engine named by {VARIABLE}: {named}", hint="`./x setup` builds it"
            )
        return Path(named)
    places = [Path(__file__).parent / NAME]
    root = checkout_root()
    if root is not None:
        places.append(root / "target" / "release" / NAME)
    for place in places:
        if os.access(place, os.X_OK):
            return place
    searched = ", ".join(map(str, places))
    raise WorldError(
        f"no engine found; searched {VARIABLE}, {searched}", hint="`./x setup` builds it in a checkout"
    )


def find_pgbench() -> Path:
    """The engine in pgbench's place; it lies beside the engine."""
    path = find_engine().with_name(PGBENCH_NAME)
    if not os.access(path, os.X_OK):
        raise WorldError(
            f"there is no {PGBENCH_NAME} beside the engine: {path}", hint="`./x setup` builds it"
        )
    return path


def checkout_root() -> Path | None:
    """The root of the checkout this package runs from, or None where it was installed."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "engine" / "Cargo.toml").is_file() else None


def source_identity(root: Path) -> str:
    """SHA-256 over the engine's sources, by the rule in engine/PROTOCOL.md under `hello`."""
    engine = root / "engine"
    files = [root / "Cargo.lock", engine / "Cargo.toml", engine / "build.rs"]
    files += [path for path in (engine / "src").rglob("*") if path.is_file()]
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(root).as_posix(), path) for path in files):
        content = path.read_bytes()
        digest.update(name.encode() + b"\0" + len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()
