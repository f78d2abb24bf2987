"""Settings for a kind of use and a size of host, by the rules of pgtune (https://github.com/le0pard/pgtune).

Which release it is does not matter here: a setting is made if the build knows it, with the best value that the build
offers. Sizes are whole kB, rounded down.
"""

import math
from collections.abc import Mapping
from fractions import Fraction

from pgverdict.plan.defaults import Default
from pgverdict.spec.tuning import Disk, Tuning, Use

_MB, _GB = 1 << 10, 1 << 20  # in kB

_CONNECTIONS = {Use.WEB: 200, Use.OLTP: 300, Use.DW: 40, Use.DESKTOP: 20, Use.MIXED: 100}

_WAL_MB = {
    Use.WEB: (1024, 4096),
    Use.OLTP: (2048, 8192),
    Use.DW: (4096, 16384),
    Use.DESKTOP: (100, 2048),
    Use.MIXED: (1024, 4096),
}
"""The least and the most that is kept between checkpoints."""

_IO_CONCURRENCY = {Disk.HDD: 2, Disk.SSD: 200, Disk.SAN: 300, Disk.NVME: 1000}

_WORKERS = 8
"""max_worker_processes of every release, where the rules leave it alone."""

_PARALLEL_CORES_MIN = 4
_GATHER_MAX = 4


def tuned_settings(tuning: Tuning, *, data_bytes: int, known: Mapping[str, Default]) -> dict[str, str]:
    """Name to value. `data_bytes`: how large the database is; `known`: the build's settings by name."""
    made = {
        **_memory(tuning, data_bytes),
        **_writing(tuning, known),
        **_planning(tuning, data_bytes),
        **_parallel(tuning),
        **_background(tuning, known),
    }
    return {name: value for name, value in made.items() if name in known}


def _memory(tuning: Tuning, data_bytes: int) -> dict[str, str]:
    memory = _memory_kb(tuning)
    desktop = tuning.use is Use.DESKTOP
    buffers = _buffers_kb(tuning)
    maintenance = min(memory // (8 if tuning.use is Use.DW else 16), 8 * _GB)
    return {
        "shared_buffers": _size(buffers),
        "work_mem": _size(_work_kb(tuning, data_bytes)),
        "max_connections": str(_CONNECTIONS[tuning.use]),
        "effective_cache_size": _size(memory // 4 if desktop else memory * 3 // 4),
        "maintenance_work_mem": _size(maintenance),
        "huge_pages": "try" if buffers >= 2 * _GB else "off",
        **({"autovacuum_work_mem": "2GB"} if maintenance >= 2 * _GB else {}),
    }


def _work_kb(tuning: Tuning, data_bytes: int) -> int:
    """What is left beside shared buffers, for three sorts at once in every session and worker."""
    memory = _memory_kb(tuning)
    workers = tuning.cores if tuning.cores >= _PARALLEL_CORES_MIN else _WORKERS
    share = Fraction(memory - _buffers_kb(tuning), (_CONNECTIONS[tuning.use] + workers) * 3)
    share /= {Use.DW: 2, Use.MIXED: 2, Use.DESKTOP: 6}.get(tuning.use, 1)
    if data_bytes < tuning.memory_bytes:
        share *= Fraction(13, 10)
    elif data_bytes > 3 * tuning.memory_bytes:
        share *= Fraction(9, 10)
    return max(4 * _MB, math.floor(share))


def _writing(tuning: Tuning, known: Mapping[str, Default]) -> dict[str, str]:
    least, most = _WAL_MB[tuning.use]
    compression = known.get("wal_compression")
    lz4 = compression is not None and "lz4" in compression.choices
    return {
        "wal_buffers": _size(_wal_buffers_kb(tuning)),
        "min_wal_size": _size(least * _MB),
        "max_wal_size": _size(most * _MB),
        "checkpoint_completion_target": "0.9",
        "wal_compression": "lz4" if lz4 else "on",
        # A server that sends its WAL to nobody may write less of it.
        **({"wal_level": "minimal", "max_wal_senders": "0"} if tuning.use is Use.DESKTOP else {}),
    }


def _wal_buffers_kb(tuning: Tuning) -> int:
    """3 % of shared buffers, one segment of the WAL at most; nearly a segment becomes a whole one."""
    wanted = _buffers_kb(tuning) * 3 // 100
    return 16 * _MB if wanted > 14 * _MB else max(32, wanted)


def _planning(tuning: Tuning, data_bytes: int) -> dict[str, str]:
    fits = data_bytes < tuning.memory_bytes
    seeks = not fits and (tuning.disk is Disk.HDD or tuning.use is Use.DW)
    return {
        "default_statistics_target": "500" if tuning.use is Use.DW else "100",
        "random_page_cost": "4" if seeks else "1.1",
        "effective_io_concurrency": str(_IO_CONCURRENCY[tuning.disk]),
        **({"jit": "off"} if tuning.use in (Use.WEB, Use.OLTP, Use.MIXED) else {}),
    }


def _parallel(tuning: Tuning) -> dict[str, str]:
    cores = tuning.cores
    if cores < _PARALLEL_CORES_MIN:
        return {}
    half = math.ceil(cores / 2)
    return {
        "max_worker_processes": str(cores),
        "max_parallel_workers": str(cores),
        "max_parallel_workers_per_gather": str(half if tuning.use is Use.DW else min(half, _GATHER_MAX)),
        "max_parallel_maintenance_workers": str(min(half, _GATHER_MAX)),
    }


def _background(tuning: Tuning, known: Mapping[str, Default]) -> dict[str, str]:
    made = {}
    if tuning.cores >= 16:
        made["autovacuum_max_workers"] = "5" if tuning.cores >= 32 else "4"
    method = known.get("io_method")
    if method is not None and "io_uring" in method.choices:
        made["io_method"] = "io_uring"
    elif method is not None:
        made |= {"io_method": "worker", "io_workers": str(min(32, max(3, tuning.cores // 4)))}
    return made


def _memory_kb(tuning: Tuning) -> int:
    return tuning.memory_bytes >> 10


def _buffers_kb(tuning: Tuning) -> int:
    return _memory_kb(tuning) // (16 if tuning.use is Use.DESKTOP else 4)


def _size(kb: int) -> str:
    """
    >>> _size(1048576), _size(10240), _size(10241)
    ('1GB', '10MB', '10241kB')
    """
    for unit, size in (("GB", _GB), ("MB", _MB)):
        if kb % size == 0:
            return f"{kb // size}{unit}"
    return f"{kb}kB"
