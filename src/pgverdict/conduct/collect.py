"""What a round leaves: the totals of each arm, from the engine and from the server, and how it was placed."""

from collections.abc import Iterable, Mapping

from pgverdict.conduct.bounds import Bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.coldness import check_coldness
from pgverdict.conduct.live import LiveArm, blaming
from pgverdict.conduct.turns import Turns
from pgverdict.conduct.warmth import check_warmth
from pgverdict.datasets.load import DATABASE
from pgverdict.engine.messages import Ready
from pgverdict.engine.process import Engine
from pgverdict.observe import processes, views
from pgverdict.observe.host import memory_available_bytes
from pgverdict.observe.statements import assign_counts
from pgverdict.records.round import ArmRecord, KindRecord, RoundRecord, StatementRecord
from pgverdict.servers.handicap import HandicapCounts
from pgverdict.servers.outside import AnyServer
from pgverdict.servers.server import Server
from pgverdict.spec.confinement import spell_cores


def finish_arm(
    engine: Engine,
    cell: PreparedCell,
    number: int,
    arm: LiveArm,
    ready: Ready,
    read: int | None,
    handicap: HandicapCounts | None,
    turnover_s: float | None,
) -> ArmRecord:
    """Collect an arm's totals from the engine and the server, and check that it was warm, or cold.

    `read`: bytes from storage while slices ran, as `read_since` says.
    """
    totals = engine.totals(number)
    assert totals.latency is not None, "every slice counted transactions"
    counts: list[tuple[str, views.StatementCounts]] = []
    with blaming(number), views.session(arm.server, DATABASE) as connection:
        if views.has_extension(connection, "pg_stat_statements"):
            counts = views.statement_counts(connection)
        block_bytes = views.setting_bytes(connection, "block_size")
    buffers_read = sum(count.buffers_read for _, count in counts) if counts else None
    name = cell.arms[number].name
    memory_bytes_max = arm.server.confines.memory_bytes_max() if arm.server.confines else None
    if read is None:
        pass  # neither can be told of a server that is not ours
    elif cell.is_cold:
        check_coldness(
            number, name, storage_read_bytes=read, buffers_read=buffers_read, block_bytes=block_bytes
        )
    elif not arm.footprint.exceeds(cell.memory_bytes):
        check_warmth(
            number,
            name,
            storage_read_bytes=read,
            data_bytes=arm.footprint.data_bytes,
            memory_bytes=cell.memory_bytes or memory_available_bytes(),
            memory_bytes_max=memory_bytes_max,
        )
    executed = [ready.statements[seen.statement].prepared_text for seen in totals.statements if seen.count]
    counted = assign_counts(executed, counts)
    records = []
    for seen in totals.statements:
        statement = ready.statements[seen.statement]
        server = counted.get(statement.prepared_text)
        if server is not None and server.calls < seen.count:
            # From 14 on only the first BEGIN and END of a connection are counted, which says nothing of them all.
            server = None
        records.append(
            StatementRecord(
                text=statement.text,
                count=seen.count,
                mean_ns=seen.mean_ns,
                sd_ns=seen.sd_ns,
                histogram=seen.histogram,
                server_calls=server.calls if server else None,
                server_ms_mean=server.ms_mean if server else None,
                server_ms_stddev=server.ms_stddev if server else None,
                server_rows=server.rows if server else None,
                server_buffers_hit=server.buffers_hit if server else None,
                server_buffers_read=server.buffers_read if server else None,
                server_wal_bytes=server.wal_bytes if server else None,
            )
        )
    return ArmRecord(
        arm=number,
        server_version=arm.connected.server_version,
        transactions=totals.transactions,
        failed=totals.failed,
        busy_ns=totals.busy_ns,
        latency=totals.latency,
        histogram=totals.histogram,
        statements=tuple(records),
        kinds=tuple(
            KindRecord(
                name=ready.kinds[seen.kind],
                count=seen.count,
                failed=seen.failed,
                rolled_back=seen.rolled_back,
                retried=seen.retried,
                latency=seen.latency,
                histogram=seen.histogram,
            )
            for seen in totals.kinds
        ),
        start_ms=arm.start_ms,
        data_bytes=arm.footprint.data_bytes,
        buffers_read=buffers_read,
        storage_read_bytes=read,
        handicap_messages=handicap.messages if handicap else None,
        handicap_spun_ns=handicap.spun_ns if handicap else None,
        memory_bytes_max=memory_bytes_max,
        turnover_s=turnover_s,
        huge_pages=huge_pages(arm.server),
    )


def huge_pages(server: AnyServer) -> bool | None:
    """Whether its shared memory is in huge pages; None where it is not ours to look at."""
    return processes.has_huge_pages(server.pid) if isinstance(server, Server) else None


def storage_read_bytes(cell: PreparedCell, arm: LiveArm) -> Mapping[int, int] | None:
    """What an arm's processes had fetched from storage so far, by process; None where they are not ours to look at.

    Of a warm arm its backends; the others read a page now and then that has nothing to do with the workload. Where
    reading is what is measured, all of them: servers from 18 on read through workers of their own.
    """
    if not isinstance(arm.server, Server):
        return None
    reads = cell.is_cold or arm.footprint.exceeds(cell.memory_bytes)
    return processes.storage_read_bytes(arm.server.pids() if reads else arm.connected.backend_pids)


def read_since(cell: PreparedCell, arm: LiveArm, before: Mapping[int, int] | None) -> int | None:
    """How many bytes an arm had fetched from storage since `storage_read_bytes` said this of it."""
    now = storage_read_bytes(cell, arm)
    return None if before is None or now is None else processes.grown(before, now)


def describe_placement(
    cell: PreparedCell,
    bounds: Bounds,
    turns: Turns,
    engine: Engine,
    *,
    event_loop: str,
    warm_up_us: int | None = None,
    locked: Iterable[bool | None] = (),
) -> tuple[tuple[str, str], ...]:
    """How the round was placed, for the record; `bounds_of` reads the bounds back.

    `event_loop`: by which the engine's threads waited, as it said itself.
    `warm_up_us`: where every arm was warmed up for the same time. `locked`: of each arm, what `warmth.locking` said.
    """
    is_locked = [one for one in locked if one is not None]
    return (
        *cell.placement.facts(),
        ("event_loop", event_loop),
        ("layout", "the round's" if cell.has_layouts else "the kernel's"),
        *_confined(cell),
        ("cache", cell.spec.cache.value),
        *((("data_locked", "yes" if all(is_locked) else "no"),) if is_locked else ()),
        *((f"bound_{name}", str(value)) for name, value in bounds.bound),
        *((f"discard_{name}", str(value)) for name, value in bounds.discard),
        *(() if warm_up_us is None else (("warm_up_us", str(warm_up_us)),)),
        *turns.facts(),
        ("engine_version", engine.hello.version),
        ("engine_identity", engine.hello.identity),
        ("engine_profile", engine.hello.profile),
    )


def _confined(cell: PreparedCell) -> tuple[tuple[str, str], ...]:
    if cell.confiner is None:
        return ()
    limits = cell.confiner.limits
    memory = (("memory_bytes", str(limits.memory_bytes)),) if limits.memory_bytes is not None else ()
    cores = (("cores", spell_cores(limits.cores)),) if limits.cores is not None else ()
    versions = sorted({home.version for _, home in cell.confiner.homes})
    return (*memory, *cores, ("confined_by", ", ".join(f"cgroup-v{version}" for version in versions)))


def bounds_of(record: RoundRecord) -> Bounds:
    """The bounds a measured round was run with, so that all rounds of a cell use the same."""
    return Bounds(
        *(
            tuple(
                (name.removeprefix(prefix), int(value))
                for name, value in record.placement
                if name.startswith(prefix)
            )
            for prefix in ("bound_", "discard_")
        )
    )
