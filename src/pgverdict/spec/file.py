"""The shape of a campaign file: which tables and keys there are, and what kind of value each has.

What the values mean together is not told here, but in `plan.matrix`: which workloads there are, how large data is.
Every key is described in docs/campaigns.md, and for editors by `pgverdict schema`.

>>> CampaignFile.model_validate({"arms": ["17", "18"], "workload": [{"name": "select-only"}]}).workload[0].name
('select-only',)
"""

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    WithJsonSchema,
)

from pgverdict.spec.cache import Cache
from pgverdict.spec.campaign import Defaults, EventLoop, Freeze, Pinning
from pgverdict.spec.regime import CHOSEN_REGIMES, Regime
from pgverdict.spec.tuning import Disk, Use

_VALUE = {"type": ["string", "number", "boolean"]}


def _plain(value: Any) -> str | int | float | bool:
    if not isinstance(value, str | int | float | bool):
        raise ValueError("must be a text, a number, true or false")
    return value


Value = Annotated[Any, AfterValidator(_plain), WithJsonSchema(_VALUE)]
"""Of a setting or a parameter."""


def _choice(regime: Regime) -> Regime:
    if regime not in CHOSEN_REGIMES:
        raise ValueError("is fresh or steady, of work that changes data")
    return regime


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _axis(item: dict[str, Any]) -> tuple[Any, ...]:
    """A value, or a list of them."""
    several = {"type": "array", "items": item, "minItems": 1}
    return (Field(min_length=1), BeforeValidator(_listed), WithJsonSchema({"anyOf": [item, several]}))


Numbers = Annotated[tuple[Annotated[StrictInt, Field(ge=1)], ...], *_axis({"type": "integer", "minimum": 1})]
Texts = Annotated[tuple[StrictStr, ...], *_axis({"type": "string"})]
Regimes = Annotated[
    tuple[Annotated[Regime, AfterValidator(_choice)], ...],
    *_axis({"enum": [one.value for one in CHOSEN_REGIMES]}),
]
Caches = Annotated[tuple[Cache, ...], *_axis({"enum": [one.value for one in Cache]})]
Values = Annotated[tuple[Value, ...], *_axis(_VALUE)]


class _Table(BaseModel):
    """A key that is not known is an error, not a wish that nobody hears."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ArmTable(_Table):
    """One server under test."""

    server: StrictStr = Field(description="where it comes from: '17', '17.7', 'system:17', 'source:18.1'")
    name: StrictStr | None = Field(
        default=None, description="what it is called; else as its server is spelled"
    )
    settings: dict[str, Value] = Field(default_factory=dict, description="settings of this arm only")
    data_directory: StrictStr | None = Field(
        default=None, description="where its data is put while it is measured"
    )
    wal_directory: StrictStr | None = Field(default=None, description="where its WAL is put")


class Axes(_Table):
    """What the cells of a workload may vary in: a value, or a list of them, all of which are combined."""

    scale: Numbers | None = Field(default=None, description="size of the dataset, as the workload counts it")
    size: Texts | None = Field(
        default=None,
        description="instead of scale: '2GB', 'fits shared buffers', 'half of memory', '3x memory'",
    )
    clients: Numbers | None = Field(default=None, description="connections that work at once")
    regime: Regimes | None = Field(default=None, description="for work that changes data: fresh or steady")
    cache: Caches | None = Field(default=None, description="whether rounds begin with their data in memory")
    partitions: Annotated[
        tuple[Annotated[StrictInt, Field(ge=0)], ...] | None,
        BeforeValidator(lambda value: value if value is None else _listed(value)),
        WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
    ] = Field(default=None, description="short for the workload's parameter of this name")
    parameters: dict[str, Values] = Field(
        default_factory=dict, description="of the workload: `pgverdict list workloads` has them"
    )
    settings: dict[str, Values] = Field(
        default_factory=dict, description="settings of all arms in these cells; lists vary"
    )
    variants: tuple[dict[str, Value], ...] = Field(
        default=(), description="settings that vary together: a list of tables, one of which a cell has"
    )


class DefaultsTable(Axes):
    """What holds for every workload that does not say otherwise."""

    primary: StrictStr | None = Field(default=None, description="the metric that decides a cell")
    pairs: StrictInt | None = Field(default=None, description="pairs of slices per round")


class WorkloadTable(DefaultsTable):
    """A workload and the cells it is measured in."""

    name: Texts | None = Field(
        default=None,
        description="a workload of `pgverdict list workloads`, or several; not beside own scripts",
    )
    script: Texts | None = Field(
        default=None,
        description="instead of a name: pgbench scripts of yours, FILE or FILE@WEIGHT, a mix of all of them",
    )
    schema_file: StrictStr | None = Field(
        default=None, alias="schema", description="file with the SQL that makes the scripts' tables"
    )
    load: StrictStr | None = Field(default=None, description="file with the SQL that fills them")
    dump: StrictStr | None = Field(default=None, description="file of pg_dump with their data")
    read_only: StrictBool = Field(default=False, description="the scripts change nothing")
    long: StrictBool = Field(default=False, description="a transaction takes seconds or more")
    allow: Texts | None = Field(
        default=None,
        description="what scripts may do that is else refused: 'shell' runs commands on this host",
    )


class TuneTable(_Table):
    """Settings by pgtune's rules, for this use of a host of this size."""

    use: Use
    memory: StrictStr | None = Field(default=None, description="memory to tune for; else the host's")
    cores: Annotated[StrictInt, Field(ge=1)] | None = Field(default=None, description="else the host's")
    disk: Disk | None = Field(default=None, description="else as the host says")


class SmallTable(Axes):
    """What `--small` makes of the campaign. Axes take the place of those of the same name, wherever they are."""

    divide: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None, description="by what scales, sizes, memory and shared_buffers are divided"
    )
    arms: tuple[StrictStr, ...] | None = Field(default=None, description="names of the arms that remain")
    memory: StrictStr | None = None
    budget: StrictStr | None = None
    rounds: StrictInt | None = None
    pairs: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None,
        description="the most pairs of slices that a round has; where it has fewer, it keeps them",
    )
    exclude: tuple[dict[str, Values], ...] = Field(
        default=(),
        description="combinations that are left out beyond those of the campaign, by the small values",
    )


class CampaignFile(_Table):
    """A campaign of pgverdict: docs/campaigns.md."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="pgverdict campaign")

    name: StrictStr | None = Field(default=None, description="what the campaign is called")
    about: StrictStr | None = Field(default=None, description="what it is for")
    arms: tuple[StrictStr, ...] = Field(default=(), description="[NAME=]SERVER each, the baseline first")
    arm: tuple[ArmTable, ...] = Field(
        default=(), description="the same, a table each, where an arm has more to say"
    )
    settings: dict[str, Value] = Field(default_factory=dict, description="settings of all arms")
    defaults: DefaultsTable = Field(default=DefaultsTable())
    workload: tuple[WorkloadTable, ...] = Field(description="the workloads and their cells")
    exclude: tuple[dict[str, Values], ...] = Field(
        default=(), description="combinations that are left out: a cell is, if it has all these values"
    )
    small: SmallTable | None = Field(default=None, description="what --small makes of it")
    budget: StrictStr = Field(default="5m", description="time for all rounds, set-up apart")
    margin: StrictStr = Field(default="1%", description="the smallest effect that matters")
    confidence: StrictStr = Field(default="99%", description="how sure verdicts are to be")
    seed: Annotated[StrictInt, Field(ge=0, lt=2**63)] | None = Field(
        default=None, description="of orders and keys; else drawn"
    )
    rounds: StrictInt | None = Field(default=None, description="exactly so many rounds per cell")
    freeze: Freeze = Field(default=Freeze.OFF, description="what keeps the idle arm from working")
    placement: Pinning = Field(default=Pinning.PINNED, description="whether clients are pinned")
    event_loop: EventLoop = Field(
        default=EventLoop.EPOLL, description="how the load engine waits for its sockets"
    )
    defaults_of_releases: Defaults = Field(
        default=Defaults.SHIPPED,
        alias="as",
        description="each release's own defaults, or the baseline's for all",
    )
    tune: TuneTable | None = None
    memory: StrictStr | None = Field(default=None, description="what every server is confined to")
    cores: StrictStr | None = Field(default=None, description="cores of every server: '0-3,6'")
    engine_cores: StrictStr | None = Field(default=None, description="the load engine's own cores")
    allow_debug_builds: StrictBool = Field(default=False, description="measure debug builds, too")
