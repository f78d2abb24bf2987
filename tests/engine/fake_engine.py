"""A fake engine: a script that plays one side of a recorded stream, for tests of the other side.

A line {"from_engine": ...} is said; a line {"to_engine": ...} must be heard, key by key, or it says an error.
"""

import json
import stat
import sys
from pathlib import Path
from typing import Any

Line = dict[str, Any]

_PLAYER = """#!{python}
import json, sys
for line in {lines!r}:
    if "from_engine" in line:
        said = line["from_engine"]
        sys.stdout.write(said if isinstance(said, str) else json.dumps(said) + "\\n")
        sys.stdout.flush()
    else:
        heard = json.loads(sys.stdin.readline())
        if heard != line["to_engine"]:
            what = "heard %s instead of %s" % (json.dumps(heard), json.dumps(line["to_engine"]))
            print(json.dumps(dict(message="error", request=None, kind="request", arm=None, what=what,
                                  sqlstate=None, detail=None)), flush=True)
sys.stdin.read()
"""

HELLO = {
    "message": "hello",
    "protocol": 1,
    "version": "0.1.0",
    "build": {"profile": "release", "identity": "of this checkout", "rustc": "1.95.0"},
    "pid": 1,
    "cpus": [0, 1],
}


def make_fake_engine(directory: Path, lines: list[Line]) -> Path:
    """An executable that plays `lines`."""
    path = directory / "fake-engine"
    path.write_text(_PLAYER.format(python=sys.executable, lines=lines))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def read_stream(path: Path) -> list[Line]:
    """A golden stream."""
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
