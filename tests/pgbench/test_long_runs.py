"""What a run takes does not grow with it: a few seconds of it always, minutes where there is time."""

import re
import subprocess
import time
from pathlib import Path

import pytest

from bench.engine.memory import growth_bytes, resident_bytes, watch
from pgverdict.datasets.load import where
from pgverdict.engine.process import Engine
from pgverdict.servers.server import Server
from pgverdict.workloads.workload import Script

from .program import Program

pytestmark = pytest.mark.slow

SETTLED_S, SECONDS = 3.0, 9
GROWTH_BYTES_MAX = 128 * 1024
"""Less than a byte for every transaction of these seconds."""
LONG_S, SLICES_S = 600, 300


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


@pytest.mark.long
@pytest.mark.timeout(LONG_S + 300)
def test_memory_stays_flat_for_ten_minutes(our_pgbench: Path, server: Server) -> None:
    watched = watch(our_pgbench, server.socket_directory, seconds=LONG_S)

    assert watched.transactions > 1500 * LONG_S
    assert len(watched.looks) > LONG_S / 2
    assert watched.is_flat, watched.growth_bytes


@pytest.mark.long
@pytest.mark.timeout(LONG_S + 300)
def test_memory_stays_flat_for_minutes_of_slices(server: Server) -> None:
    script = Script("script", "\\set a random(1, 1000)\nSELECT :a, 'x'::text;\n")
    begun, looks = time.monotonic(), []
    with Engine.start() as engine:
        engine.setup(clients=8, threads=2, cpus=None, scripts=[script], variables={})
        engine.connect(0, where(server, "postgres"))
        for seed in range(1_000_000):
            engine.slice(0, seed=seed, bound={"duration_us": 50_000}, discard={"duration_us": 5_000})
            if seed % 20 == 0:
                engine.totals(0)
                size = resident_bytes(engine.hello.pid)
                assert size is not None
                looks.append((time.monotonic() - begun, size))
            if time.monotonic() - begun > SLICES_S:
                break

    assert len(looks) > SLICES_S / 6
    # What slices leave to the allocator goes up and down by a megabyte; a byte lost for each of millions of
    # transactions would be more than that.
    assert growth_bytes(looks, settled_s=0.3 * SLICES_S) < 1 << 20
