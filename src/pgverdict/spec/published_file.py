"""Reading files of published numbers: docs/studies/README.md.

>>> text = '''
... [source]
... author = "A. Author"
... title = "Two releases"
... date = "2019"
... address = "https://example.org/two"
... [arms]
... baseline = "11.5"
... candidate = "12.0"
... [[figure]]
... name = "UPDATE"
... workload = "tpcb-like"
... statement = "UPDATE pgbench_accounts"
... metric = "server_ms_mean"
... baseline = "0.0196"
... candidate = "0.0208"
... '''
>>> figure, = read_published("two.toml", text).figures
>>> f"{figure.ratio:.4f}", [f"{limit:.4f}" for limit in figure.rounded]
('1.0612', ['1.0560', '1.0665'])
"""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr

from pgverdict.errors import UserError
from pgverdict.spec import lines
from pgverdict.spec.file import Value
from pgverdict.spec.metrics import Subject, metric
from pgverdict.spec.published import Figure, Published, Source, Where
from pgverdict.spec.shape import Shape, read_shaped


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _SourceTable(_Table):
    author: StrictStr
    title: StrictStr
    date: StrictStr
    address: StrictStr
    about: StrictStr | None = None


class _ArmsTable(_Table):
    baseline: StrictStr
    candidate: StrictStr


class _FigureTable(_Table):
    name: StrictStr
    metric: StrictStr
    workload: Annotated[tuple[StrictStr, ...], BeforeValidator(_listed)] = ()
    data: Annotated[tuple[Where, ...], BeforeValidator(_listed)] = ()
    clients: Annotated[tuple[StrictInt, ...], BeforeValidator(_listed)] = ()
    parameters: dict[str, Annotated[tuple[Value, ...], BeforeValidator(_listed)]] = Field(
        default_factory=dict
    )
    statement: StrictStr | None = None
    kind: StrictStr | None = None
    step: StrictStr | None = None
    baseline: StrictStr | None = None
    candidate: StrictStr | None = None
    change: StrictStr | None = None
    ratio: StrictStr | None = None
    within: StrictStr | None = None
    against: StrictStr | None = None
    mean: bool = False
    remark: StrictStr | None = None


class _File(_Table):
    source: _SourceTable
    arms: _ArmsTable
    conditions: dict[str, StrictStr] = Field(default_factory=dict)
    figure: tuple[_FigureTable, ...] = ()
    claims: tuple[StrictStr, ...] = ()


_SHAPE = Shape(
    _File,
    {"source": _SourceTable, "arms": _ArmsTable, "figure": _FigureTable},
    ("figure",),
    {"metric": 'metric = "tps"', "address": 'address = "https://..."'},
    "docs/studies/README.md",
)

_SUBJECTS: Mapping[Subject, str] = {
    Subject.STATEMENT: "statement",
    Subject.KIND: "kind",
    Subject.STEP: "step",
}


def read_published(path: str, text: str) -> Published:
    """UserError, with file and line, for what is no TOML, has an unknown key or word, or a figure without a number."""
    read = read_shaped(path, text, _SHAPE)
    figures = []
    for number, table in enumerate(read.figure):
        try:
            figures.append(_figure(table, read.arms))
        except UserError as error:
            line = lines.line_of(text, ("figure", number))
            raise UserError(f"{path}:{line}: figure {table.name}: {error.message}", hint=error.hint) from None
    return Published(
        path=path,
        source=Source(**read.source.model_dump()),
        conditions=tuple(read.conditions.items()),
        figures=tuple(figures),
        claims=read.claims,
    )


def _figure(table: _FigureTable, arms: _ArmsTable) -> Figure:
    subject = metric(table.metric).subject
    given = {key: said for key in _SUBJECTS.values() if (said := getattr(table, key)) is not None}
    wanted = _SUBJECTS.get(subject)
    if set(given) != ({wanted} if wanted else set()):
        hint = f'write {wanted} = "..."' if wanted else "leave it out, or choose a metric of parts"
        about = f"a {wanted}" if wanted else "a whole cell"
        raise UserError(
            f"{table.metric} is of {about}, not of {' and '.join(given) or 'a whole cell'}", hint=hint
        )
    ratio, rounded = _ratio(table)
    return Figure(
        name=table.name,
        metric=table.metric,
        ratio=ratio,
        rounded=rounded,
        baseline=table.baseline,
        candidate=table.candidate,
        printed=table.change or table.ratio,
        arms=(arms.baseline, table.against or arms.candidate),
        workloads=table.workload,
        where=table.data,
        clients=table.clients,
        parameters=tuple(table.parameters.items()),
        subject=given.get(wanted) if wanted else None,
        over_all=table.mean,
        remark=table.remark,
    )


def _ratio(table: _FigureTable) -> tuple[float, tuple[float, float]]:
    """Of the two values where they are there: what is printed of their change may be rounded elsewhere."""
    if table.baseline is not None and table.candidate is not None:
        (b_low, b, b_high), (c_low, c, c_high) = _number(table.baseline), _number(table.candidate)
        if b_low <= 0 or c_low <= 0:
            raise UserError(
                f"a ratio of these says nothing: {table.baseline} and {table.candidate}",
                hint="both must be above 0",
            )
        return float(c / b), (float(c_low / b_high), float(c_high / b_low))
    if table.baseline is not None or table.candidate is not None:
        raise UserError("only one of baseline and candidate", hint="give both, or change, or ratio")
    if table.ratio is not None:
        low, ratio, high = _number(table.ratio)
    elif table.change is not None:
        low, ratio, high = (1 + part / 100 for part in _number(table.change.removesuffix("%").strip()))
    else:
        raise UserError(
            "no number", hint='write baseline and candidate, change = "+3.6 %", or ratio = "0.98"'
        )
    if table.within is not None:
        apart = _number(table.within.removesuffix("%").strip())[1] / 100
        low, high = ratio - apart, ratio + apart
    if low <= 0:
        raise UserError(
            f"not a ratio: {table.ratio or table.change}", hint="it must be above 0, a change above -100 %"
        )
    return float(ratio), (float(low), float(high))


def _number(text: str) -> tuple[Decimal, Decimal, Decimal]:
    """The least number that is printed so, the number itself, and the greatest."""
    try:
        number = Decimal(text.replace(" ", ""))
    except InvalidOperation:
        raise UserError(f"not a number: {text}", hint='write it as printed: "0.0196"') from None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int):
        raise UserError(f"not a number: {text}", hint='write it as printed: "0.0196"')
    half = Decimal(5).scaleb(exponent - 1)
    return number - half, number, number + half
