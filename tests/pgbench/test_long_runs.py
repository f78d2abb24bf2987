"""What a run takes does not grow with it."""

import re
import subprocess
import time
from pathlib import Path

import pytest

from pgverdict.servers.server import Server

from .program import Program

pytestmark = pytest.mark.slow

SETTLED_S, SECONDS = 3.0, 9
GROWTH_BYTES_MAX = 128 * 1024
"""Less than a byte for every transaction of these seconds."""


def test_memory_stays_flat_while_hundreds_of_thousands_of_transactions_go_by(
    our_pgbench: Path, server: Server, tmp_path: Path
) -> None:
    program = Program.on(our_pgbench, server, tmp_path)
    script = "\\set a random(1, 1000)\nselect :a as a, 'x' || :a as b \\gset p_\nselect :p_a;\n"
    (tmp_path / "script.sql").write_text(script)
    options = ["-n", "-M", "prepared", "-c", "8", "-j", "2", "-T", str(SECONDS), "-r", "--percentiles"]
    samples: list[tuple[float, int]] = []
    with subprocess.Popen(
        [str(program.path), *options, "-f", "script.sql"],
        env=program.environment,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        begun = time.monotonic()
        while run.poll() is None:
            status = Path(f"/proc/{run.pid}/status").read_text()
            found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
            if found is not None:
                samples.append((time.monotonic() - begun, int(found[1]) * 1024))
            time.sleep(0.1)
        assert run.stdout is not None
        said = run.stdout.read()

    assert run.returncode == 0
    done = re.search(r"actually processed: (\d+)", said)
    assert done is not None
    assert int(done[1]) > 20_000
    settled = [size for when, size in samples if SETTLED_S < when < SECONDS - 0.5]
    assert len(settled) > 20
    assert settled[-1] - settled[0] < GROWTH_BYTES_MAX
