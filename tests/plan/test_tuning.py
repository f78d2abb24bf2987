"""Settings for a use and a host: examples worked out by hand from the rules, and what holds for every host."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgverdict.errors import UserError
from pgverdict.plan.defaults import Default
from pgverdict.plan.tuning import tuned_settings
from pgverdict.spec.quantities import size_bytes
from pgverdict.spec.tuning import MEMORY_BYTES_MIN, Disk, Tuning, Use

MB, GB = 1 << 20, 1 << 30

NAMES = (
    "autovacuum_max_workers", "autovacuum_work_mem", "checkpoint_completion_target", "default_statistics_target",
    "effective_cache_size", "effective_io_concurrency", "huge_pages", "maintenance_work_mem", "max_connections",
    "max_parallel_workers_per_gather", "max_wal_senders", "max_wal_size", "max_worker_processes", "min_wal_size",
    "random_page_cost", "shared_buffers", "wal_buffers", "wal_level", "work_mem",
)  # fmt: skip
"""What 9.6 knows of it."""

OLD = {name: Default(name, "", "string") for name in NAMES} | {
    "wal_compression": Default("wal_compression", "off", "bool"),
}

NEW = OLD | {
    "jit": Default("jit", "on", "bool"),
    "max_parallel_workers": Default("max_parallel_workers", "8", "integer"),
    "max_parallel_maintenance_workers": Default("max_parallel_maintenance_workers", "2", "integer"),
    "wal_compression": Default(
        "wal_compression", "off", "enum", choices=("pglz", "lz4", "zstd", "on", "off")
    ),
    "io_method": Default("io_method", "worker", "enum", choices=("sync", "worker")),
    "io_workers": Default("io_workers", "3", "integer"),
}

URING = NEW | {"io_method": Default("io_method", "worker", "enum", choices=("sync", "worker", "io_uring"))}


def check(
    tuning: Tuning, data_bytes: int, expected: Mapping[str, str], known: Mapping[str, Default] = NEW
) -> None:
    assert tuned_settings(tuning, data_bytes=data_bytes, known=known) == expected


def test_an_oltp_server_whose_data_fits_into_4_gb() -> None:
    check(
        Tuning(Use.OLTP, 4 * GB, 2, Disk.SSD),
        160 * MB,
        {
            "max_connections": "300",
            "shared_buffers": "1GB",
            "effective_cache_size": "3GB",
            "maintenance_work_mem": "256MB",
            "work_mem": "4425kB",  # 3 GB / ((300 + 8) * 3) = 3404.47 kB, times 1.3
            "huge_pages": "off",
            "wal_buffers": "16MB",  # 3 % of 1 GB are more than that
            "min_wal_size": "2GB",
            "max_wal_size": "8GB",
            "checkpoint_completion_target": "0.9",
            "wal_compression": "lz4",
            "default_statistics_target": "100",
            "random_page_cost": "1.1",
            "effective_io_concurrency": "200",
            "jit": "off",
            "io_method": "worker",
            "io_workers": "3",
        },
    )


def test_a_data_warehouse_that_does_not_fit_into_64_gb_and_lies_on_turning_disks() -> None:
    check(
        Tuning(Use.DW, 64 * GB, 32, Disk.HDD),
        100 * GB,
        {
            "max_connections": "40",
            "shared_buffers": "16GB",
            "effective_cache_size": "48GB",
            "maintenance_work_mem": "8GB",
            "autovacuum_work_mem": "2GB",
            "work_mem": "116508kB",  # 48 GB / ((40 + 32) * 3) = 233016.9 kB, half of it
            "huge_pages": "try",
            "wal_buffers": "16MB",
            "min_wal_size": "4GB",
            "max_wal_size": "16GB",
            "checkpoint_completion_target": "0.9",
            "wal_compression": "lz4",
            "default_statistics_target": "500",
            "random_page_cost": "4",
            "effective_io_concurrency": "2",
            "max_worker_processes": "32",
            "max_parallel_workers": "32",
            "max_parallel_workers_per_gather": "16",
            "max_parallel_maintenance_workers": "4",
            "autovacuum_max_workers": "5",
            "io_method": "io_uring",
        },
        URING,
    )


def test_a_desktop_with_much_more_data_than_memory() -> None:
    check(
        Tuning(Use.DESKTOP, 8 * GB, 4, Disk.NVME),
        30 * GB,
        {
            "max_connections": "20",
            "shared_buffers": "512MB",
            "effective_cache_size": "2GB",
            "maintenance_work_mem": "512MB",
            "work_mem": "16MB",  # 7.5 GB / ((20 + 4) * 3) = 109226.7 kB, a sixth of it, times 0.9
            "huge_pages": "off",
            "wal_buffers": "16MB",  # 3 % of 512 MB are 15.4 MB
            "min_wal_size": "100MB",
            "max_wal_size": "2GB",
            "checkpoint_completion_target": "0.9",
            "wal_compression": "lz4",
            "wal_level": "minimal",
            "max_wal_senders": "0",
            "default_statistics_target": "100",
            "random_page_cost": "1.1",
            "effective_io_concurrency": "1000",
            "max_worker_processes": "4",
            "max_parallel_workers": "4",
            "max_parallel_workers_per_gather": "2",
            "max_parallel_maintenance_workers": "2",
            "io_method": "worker",
            "io_workers": "3",
        },
    )


def test_an_old_release_gets_what_it_knows() -> None:
    check(
        Tuning(Use.WEB, 1 * GB, 1, Disk.SAN),
        160 * MB,
        {
            "max_connections": "200",
            "shared_buffers": "256MB",
            "effective_cache_size": "768MB",
            "maintenance_work_mem": "64MB",
            "work_mem": "4MB",  # 1638 kB would be less
            "huge_pages": "off",
            "wal_buffers": "7864kB",
            "min_wal_size": "1GB",
            "max_wal_size": "4GB",
            "checkpoint_completion_target": "0.9",
            "wal_compression": "on",
            "default_statistics_target": "100",
            "random_page_cost": "1.1",
            "effective_io_concurrency": "300",
        },
        OLD,
    )


@pytest.mark.parametrize(("cores", "gather"), [(3, None), (4, "2"), (7, "4"), (16, "4")])
def test_parallel_plans_are_spread_over_half_of_the_cores_four_at_most(
    cores: int, gather: str | None
) -> None:
    made = tuned_settings(Tuning(Use.MIXED, 16 * GB, cores, Disk.SSD), data_bytes=20 * GB, known=NEW)

    assert made.get("max_parallel_workers_per_gather") == gather
    assert made.get("max_parallel_workers") == (None if gather is None else str(cores))


@pytest.mark.parametrize(
    ("use", "disk", "data_bytes", "cost"),
    [
        (Use.OLTP, Disk.HDD, 1 * GB, "1.1"),
        (Use.OLTP, Disk.HDD, 4 * GB, "4"),
        (Use.OLTP, Disk.SSD, 99 * GB, "1.1"),
        (Use.DW, Disk.NVME, 99 * GB, "4"),
    ],
)
def test_a_seek_costs_much_only_where_data_is_read_from_where_it_does(
    use: Use, disk: Disk, data_bytes: int, cost: str
) -> None:
    made = tuned_settings(Tuning(use, 4 * GB, 2, disk), data_bytes=data_bytes, known=NEW)

    assert made["random_page_cost"] == cost


@given(
    use=st.sampled_from(Use),
    memory_bytes=st.integers(MEMORY_BYTES_MIN, 4096 * GB),
    cores=st.integers(1, 512),
    disk=st.sampled_from(Disk),
    data_bytes=st.integers(0, 100_000 * GB),
)
def test_what_is_shared_out_is_never_more_than_there_is(
    use: Use, memory_bytes: int, cores: int, disk: Disk, data_bytes: int
) -> None:
    tuning = Tuning(use, memory_bytes, cores, disk)
    made = tuned_settings(tuning, data_bytes=data_bytes, known=NEW)
    buffers, work = size_bytes(made["shared_buffers"]), size_bytes(made["work_mem"])
    sessions = int(made["max_connections"]) + int(made.get("max_worker_processes", 8))

    assert buffers <= memory_bytes / 4
    assert size_bytes(made["effective_cache_size"]) <= memory_bytes * 3 / 4
    assert size_bytes(made["maintenance_work_mem"]) <= min(memory_bytes / 8, 8 * GB)
    assert 32 << 10 <= size_bytes(made["wal_buffers"]) <= 16 * MB
    assert size_bytes(made["min_wal_size"]) < size_bytes(made["max_wal_size"])
    # Where the data fits, sorts may take a third more than what is left beside shared buffers.
    assert work == 4 * MB or buffers + 3 * sessions * work / 1.3 <= memory_bytes


@given(
    use=st.sampled_from(Use),
    cores=st.integers(1, 64),
    disk=st.sampled_from(Disk),
    known=st.sampled_from([OLD, NEW]),
)
def test_more_memory_never_makes_anything_smaller(
    use: Use, cores: int, disk: Disk, known: dict[str, Default]
) -> None:
    less, more = (
        tuned_settings(Tuning(use, memory, cores, disk), data_bytes=1 * MB, known=known)
        for memory in (3 * GB, 5 * GB)
    )

    for name in ("shared_buffers", "effective_cache_size", "maintenance_work_mem", "work_mem", "wal_buffers"):
        assert size_bytes(less[name]) <= size_bytes(more[name])


@given(st.sampled_from(Use), st.sampled_from([OLD, NEW, URING]))
def test_nothing_is_set_that_the_build_does_not_know(use: Use, known: dict[str, Default]) -> None:
    made = tuned_settings(Tuning(use, 8 * GB, 64, Disk.SSD), data_bytes=0, known=known)

    assert set(made) <= set(known)


@pytest.mark.parametrize(("memory_bytes", "cores"), [(MEMORY_BYTES_MIN - 1, 1), (4 * GB, 0)])
def test_a_host_that_is_none_is_refused(memory_bytes: int, cores: int) -> None:
    with pytest.raises(UserError):
        Tuning(Use.OLTP, memory_bytes, cores, Disk.SSD)
