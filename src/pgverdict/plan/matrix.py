"""From a campaign file to a campaign: axes multiplied into cells, sizes into scales, words into values.

The same values come out as `pgverdict compare` makes of its options. What a file may say is in `spec.file`, how it is
made small in `plan.smaller`, how one workload's table becomes points in `plan.points`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pgverdict.errors import UserError, unknown_word
from pgverdict.plan.point import Point, spelled_value
from pgverdict.plan.points import known_parameters, points_of
from pgverdict.plan.smaller import Smaller, smaller
from pgverdict.spec.arms import Arm, make_arms, read_replacements, replace_servers
from pgverdict.spec.campaign import Campaign, CellSpec, Written, settings_in
from pgverdict.spec.confinement import core_numbers, memory_limit_bytes
from pgverdict.spec.document import Document
from pgverdict.spec.own import OwnWork
from pgverdict.spec.parameters import Chosen, choose
from pgverdict.spec.quantities import duration_s, is_size, percentage, size_bytes
from pgverdict.spec.sizes import Whole, data_size, scale_for
from pgverdict.spec.tuning import Disk, Tuning, Use
from pgverdict.workloads.own import workload_of
from pgverdict.workloads.regimes import regimes_of

SHARED_BUFFERS_DEFAULT_BYTES = 128 << 20
"""As every release from 9.3 on is shipped, where the system allows it."""


@dataclass(frozen=True)
class HostSize:
    """What relative sizes and tuning need to know of the host."""

    memory_bytes: int
    cores: int
    disk: Disk | None = None
    """None: not known."""


def campaign_of(
    document: Document,
    host: HostSize,
    own: Mapping[int, OwnWork] = MappingProxyType({}),
    *,
    seed: int,
    small: bool = False,
    only: Sequence[str] = (),
    instead: Sequence[str] = (),
) -> Campaign:
    """The campaign that a file asks for on this host; `seed` where the file names none.

    `instead`: other servers than the file's, `NAME=SERVER` each, after what is small has been left out.

    `own`: the user's own work, as it was read, by the number of the [[workload]] that names its files.

    UserError, with file, line and key, for what cannot be.
    """
    tables = document.tables
    made = smaller(tables.small, host.cores) if small else None
    arms = replace_servers(_arms(document, made), read_replacements(instead))
    with document.at("margin"):
        margin = percentage(tables.margin, what="margin")
    with document.at("confidence"):
        confidence = percentage(tables.confidence, what="confidence")
    budget_s, memory_bytes = _budget_s(document, made), _memory_bytes(document, made)
    with document.at("rounds"):
        base = Campaign(
            arms=arms,
            cells=(CellSpec("-", 1, 1),),  # until it is known what memory is
            budget_s=budget_s,
            margin=margin,
            confidence=confidence,
            seed=tables.seed if tables.seed is not None else seed,
            rounds=made.rounds if made and made.rounds is not None else tables.rounds,
            freeze=tables.freeze,
            placement=tables.placement,
            event_loop=tables.event_loop,
            defaults=tables.defaults_of_releases,
            debug_builds=tables.allow_debug_builds,
            memory_bytes=memory_bytes,
            written=Written(
                document.path,
                document.text,
                (
                    *(("--small",) if small else ()),
                    *(word for one in only for word in ("--only", one)),
                    *(word for one in instead for word in ("--arm", one)),
                ),
            ),
        )
    base = _with_cores(document, base)
    base = replace(base, tuning=_tuning(document, base, host))
    points = points_of(document, own, made)
    if made is not None:
        base, points = _divided(document, base, points, made, host)
    found = [_cell(document, point, base, host) for point in points]
    cells = tuple(dict.fromkeys(found if made is None else map(made.cell, found)))
    if made is None:
        _refuse_twice(document, points, base, host)
    with document.at("workload"):
        return replace(base, cells=_only(cells, only))


def _arms(document: Document, made: Smaller | None) -> tuple[Arm, ...]:
    tables = document.tables
    if tables.arms and tables.arm:
        with document.at("arm"):
            raise UserError("the arms are said twice: as arms and as [[arm]]", hint="use one of them")
    key = "arm" if tables.arm else "arms"
    spelled = tables.arms or tuple(
        one.server if one.name is None else f"{one.name}={one.server}" for one in tables.arm
    )
    general = {**tables.settings, **(made.settings if made else {})}
    with document.at(key):
        arms = make_arms(
            spelled, tuple((None, name.lower(), spelled_value(v)) for name, v in general.items())
        )
    if tables.arm:
        arms = tuple(
            replace(
                _with_own(arm, table.settings),
                data_directory=table.data_directory,
                wal_directory=table.wal_directory,
            )
            for arm, table in zip(arms, tables.arm, strict=True)
        )
    if made is not None and made.arms is not None:
        with document.at("small", "arms"):
            arms = _some(arms, made.arms)
    with document.at(key):
        Campaign(arms=arms, cells=(CellSpec("-", 1, 1),))  # as many as there may be
    return arms


def _with_own(arm: Arm, settings: Mapping[str, object]) -> Arm:
    """What is said of one arm goes before what is said of all."""
    chosen = {name: (value, name in arm.optional) for name, value in arm.settings}
    chosen |= {
        name.lower().removesuffix("?"): (spelled_value(value), name.endswith("?"))
        for name, value in settings.items()
    }
    return replace(
        arm,
        settings=tuple((name, value) for name, (value, _) in sorted(chosen.items())),
        optional=tuple(name for name, (_, optional) in sorted(chosen.items()) if optional),
    )


def _some(arms: tuple[Arm, ...], names: Sequence[str]) -> tuple[Arm, ...]:
    known = [arm.name for arm in arms]
    for name in names:
        if name not in known:
            raise unknown_word("arm", name, known)
    if known[0] not in names:
        raise UserError(f"the baseline must remain: {known[0]}", hint=f"name {known[0]} among the arms")
    return tuple(arm for arm in arms if arm.name in names)


def _budget_s(document: Document, made: Smaller | None) -> float:
    place = ("small", "budget") if made and made.budget else ("budget",)
    with document.at(*place):
        return duration_s(made.budget if made and made.budget else document.tables.budget)


def _memory_bytes(document: Document, made: Smaller | None) -> int | None:
    said = made.memory if made and made.memory else document.tables.memory
    with document.at(*(("small", "memory") if made and made.memory else ("memory",))):
        return None if said is None else memory_limit_bytes(said)


def _with_cores(document: Document, base: Campaign) -> Campaign:
    said = {"cores": document.tables.cores, "engine_cores": document.tables.engine_cores}
    found: dict[str, tuple[int, ...]] = {}
    for key, text in said.items():
        with document.at(key):
            found |= {key: core_numbers(text)} if text is not None else {}
    with document.at("engine_cores"):
        return replace(base, cores=found.get("cores"), engine_cores=found.get("engine_cores"))


def _tuning(document: Document, base: Campaign, host: HostSize) -> Tuning | None:
    """What servers are confined to is what they are tuned for, unless something else was said."""
    table = document.tables.tune
    if table is None:
        return None
    with document.at("tune"):
        disk = table.disk or host.disk
        if disk is None:
            raise UserError("cannot tell what kind of disk the data lies on", hint='write disk = "ssd"')
        return Tuning(
            table.use,
            size_bytes(table.memory) if table.memory else base.memory_bytes or host.memory_bytes,
            table.cores or (len(base.cores) if base.cores else host.cores),
            disk,
        )


def _cell(document: Document, point: Point, base: Campaign, host: HostSize) -> CellSpec:
    settings = tuple(sorted(point.settings))
    table = document.tables.workload[point.table]
    with document.at(*point.place, "parameters" if table.partitions is None else "partitions"):
        parameters = _parameters(point)
        workload = workload_of(
            CellSpec(point.workload, point.scale, point.clients, parameters, own=point.own)
        )
    with document.at(*point.place, "regime"):
        regime = regimes_of(workload, [point.regime] if point.regime else [])[0]
    with document.at(*point.place, "size"):
        if point.size is not None and point.own is not None and point.own.has_data:
            raise UserError(
                f"how large your own data is at a scale nobody knows: {point.size}", hint="use scale"
            )
        scale = _scale(point, workload.dataset.bytes_per_scale, settings, base, host)
    with document.at(*point.place):
        return CellSpec(
            point.workload,
            scale,
            point.clients,
            parameters=parameters,
            primary=point.primary,
            regime=regime,
            pairs=point.pairs,
            cache=point.cache,
            own=point.own,
            settings=settings,
        )


def _parameters(point: Point) -> Chosen:
    known = known_parameters((point.workload, point.own))
    return choose(dict(point.parameters), known, of=point.workload)


def _scale(
    point: Point,
    bytes_per_scale: int,
    settings: tuple[tuple[str, str], ...],
    base: Campaign,
    host: HostSize,
) -> int:
    if point.size is None:
        return point.scale
    wanted = data_size(point.size)
    if wanted.of is Whole.MEMORY and base.memory_bytes is None and wanted.number >= 1:
        raise UserError(
            f"data larger than memory needs servers that are confined: {point.size}",
            hint='write memory = "2GB" at the top of the file, as docs/confinement.md says',
        )
    return scale_for(
        wanted.bytes(
            memory_bytes=memory_of(base, host), shared_buffers_bytes=shared_buffers_of(base, settings)
        ),
        bytes_per_scale,
    )


def memory_of(campaign: Campaign, host: HostSize) -> int:
    """What a server has: what it is confined to, or its share of the host's, as all arms of a round are up at once."""
    return campaign.memory_bytes or host.memory_bytes // len(campaign.arms)


def shared_buffers_of(campaign: Campaign, settings: tuple[tuple[str, str], ...]) -> int:
    """The smallest of any arm in a cell with these settings."""
    cell = CellSpec("-", 1, 1, settings=settings)
    return min(_buffers_bytes(campaign, dict(settings_in(arm, cell))) for arm in campaign.arms)


def _buffers_bytes(campaign: Campaign, settings: dict[str, str]) -> int:
    said = settings.get("shared_buffers")
    if said is not None and is_size(said):
        return size_bytes(said)
    if said is not None and said.isdecimal():
        return int(said) * 8192
    if campaign.tuning is not None:
        return campaign.tuning.memory_bytes // (16 if campaign.tuning.use is Use.DESKTOP else 4)
    return SHARED_BUFFERS_DEFAULT_BYTES


def _divided(
    document: Document, base: Campaign, points: Sequence[Point], made: Smaller, host: HostSize
) -> tuple[Campaign, list[Point]]:
    """Scales, sizes, memory and shared buffers divided by one number, so that what fitted into what still does."""
    sizes = [_bytes(document, point, base, host) for point in points]
    by = made.divisor(max(sizes))
    if by == 1:
        return base, list(points)
    return made.campaign(base, by), [made.point(point, by) for point in points]


def _bytes(document: Document, point: Point, base: Campaign, host: HostSize) -> int:
    cell = _cell(document, point, base, host)
    return cell.scale * workload_of(cell).dataset.bytes_per_scale


def _refuse_twice(document: Document, points: Sequence[Point], base: Campaign, host: HostSize) -> None:
    seen: set[str] = set()
    for point in points:
        key = _cell(document, point, base, host).key
        with document.at(*point.place):
            if key in seen:
                raise UserError(f"the same cell is there twice: {key}", hint="leave it out of one table")
        seen.add(key)


def _only(cells: tuple[CellSpec, ...], only: Sequence[str]) -> tuple[CellSpec, ...]:
    """The cells whose keys have all words of one of `only`."""
    if not only:
        return cells
    kept = []
    for wanted in only:
        words = set(wanted.split())
        found = [cell for cell in cells if words <= set(cell.key.split())]
        if not found:
            raise unknown_word("cell", wanted, [cell.key for cell in cells])
        kept += found
    return tuple(cell for cell in cells if cell in kept)
