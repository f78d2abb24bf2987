"""What a round leaves: the totals of each arm, from the engine and from the server, and how it was placed."""

from collections.abc import Mapping, Sequence

from pgverdict.conduct.bounds import WARM_UP_US, Bounds
from pgverdict.conduct.cell import PreparedCell
from pgverdict.conduct.live import LiveArm, blaming
from pgverdict.conduct.turns import Turns
from pgverdict.conduct.warmth import check_warmth
from pgverdict.datasets.load import DATABASE
from pgverdict.engine.messages import Statement
from pgverdict.engine.process import Engine
from pgverdict.observe import processes, views
from pgverdict.observe.host import memory_available_bytes
from pgverdict.records.round import ArmRecord, RoundRecord, StatementRecord
from pgverdict.servers.handicap import HandicapCounts


def finish_arm(
    engine: Engine,
    cell: PreparedCell,
    number: int,
    arm: LiveArm,
    statements: Sequence[Statement],
    read_before: Mapping[int, int],
    handicap: HandicapCounts | None,
) -> ArmRecord:
    """Collect an arm's totals from the engine and the server, and check that it was warm."""
    read = processes.grown(read_before, processes.storage_read_bytes(arm.connected.backend_pids))
    check_warmth(
        number,
        cell.arms[number].name,
        storage_read_bytes=read,
        data_bytes=arm.data_bytes,
        memory_bytes=memory_available_bytes(),
    )
    totals = engine.totals(number)
    assert totals.latency is not None, "every slice counted transactions"
    counts: dict[str, views.StatementCounts] = {}
    with blaming(number), views.session(arm.server, DATABASE) as connection:
        if views.has_extension(connection, "pg_stat_statements"):
            counts = views.statement_counts(connection)
    records = []
    for seen in totals.statements:
        statement = statements[seen.statement]
        server = counts.get(statement.prepared_text)
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
        start_ms=arm.start_ms,
        data_bytes=arm.data_bytes,
        buffers_read=sum(count.buffers_read for count in counts.values()) if counts else None,
        storage_read_bytes=read,
        handicap_messages=handicap.messages if handicap else None,
        handicap_spun_ns=handicap.spun_ns if handicap else None,
    )


def describe_placement(
    cell: PreparedCell, bounds: Bounds, turns: Turns, engine: Engine
) -> tuple[tuple[str, str], ...]:
    """How the round was placed, for the record; `bounds_of` reads the bounds back."""
    return (
        ("placement", cell.placement.pinning.value),
        ("threads", str(cell.placement.threads)),
        ("cpus", ",".join(map(str, cell.placement.cpus))),
        *((f"bound_{name}", str(value)) for name, value in bounds.bound),
        *((f"discard_{name}", str(value)) for name, value in bounds.discard),
        ("warm_up_us", str(WARM_UP_US)),
        *turns.facts(),
        ("engine_version", engine.hello.version),
        ("engine_identity", engine.hello.identity),
        ("engine_profile", engine.hello.profile),
    )


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
