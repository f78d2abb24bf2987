"""The treatments: each is a way to start the servers or to cut a round, all else alike. Nothing on the host is changed
by one.

Two equal servers are compared, as on the lines `series-select` and `series-update`, in runs of ROUNDS rounds.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.verdicts.lines import SETTINGS, Line, Right
from pgverdict.conduct import bounds, warmth
from pgverdict.conduct.cell import PreparedCell
from pgverdict.errors import WorldError, unknown_word
from pgverdict.plan.layout import Layout, draw_layout
from pgverdict.run import site
from pgverdict.servers.layout import fixed_addresses
from pgverdict.spec.campaign import Pinning

ROUNDS = 16
"""Two blocks of orders, and no more, so that treatments take turns often."""

HUGE_BYTES = 2 * 600 * 2**20
"""Two servers with SETTINGS' 512 MB of shared buffers, and what else is in shared memory."""

PLAIN = "plain"
UPDATE = "update"
EIGHT = "eight"
FREE = "free"
HUGE = "huge-pages"
KERNEL = "layout-kernel"
SHARED = "layout-round"
RELEASES = "releases-layout-kernel"
"""What the others are held against: work that only reads, work that changes data, eight clients, eight that run where
the kernel puts them; huge pages, where addresses are fixed, too; and layouts that the kernel draws for every start, of
equal servers and of two releases, or we for every round."""

Layouts = Callable[[int], Layout]
"""What a server is started with, by its round's seed."""

_lot = random.Random()


def draw_for_start(_: int) -> Layout:
    """Another one for every arm."""
    return draw_layout(_lot.getrandbits(32))


def one_layout(_: int) -> Layout:
    """The same for ever."""
    return Layout(0, 0)


@dataclass(frozen=True)
class Treatment:
    """`line` is what is run; its name is that of the folder."""

    line: Line
    against: str
    """The name of the treatment that it is held against."""
    cut: "Cut"
    """How a round is cut: as said here, whatever is usual by now."""
    prewarmed_at_once: int = 1
    """How many servers read their data into memory side by side."""
    fixed_addresses: bool = False
    huge_pages: bool = False
    layouts: Layouts | None = None
    """None: the kernel draws them."""

    @property
    def name(self) -> str:
        return self.line.name


@dataclass(frozen=True)
class Cut:
    """How long slices are, of work that is bounded by time or by transactions, and the warm-up before them."""

    by_time: bounds.Lengths
    by_transactions: bounds.Lengths


LONG_SLICES = bounds.Lengths(
    usual_us=50_000, transactions_per_client=200, most_us=250_000, warm_up_us=300_000
)
SHORT_SLICES = bounds.Lengths(
    usual_us=20_000, transactions_per_client=80, most_us=100_000, warm_up_us=300_000
)

LONG = Cut(LONG_SLICES, LONG_SLICES)
"""As every run was cut until slices of 20 ms were seen to tell more (METHODOLOGY.md#pairs)."""

SHORT = Cut(SHORT_SLICES, SHORT_SLICES)


def _warmed_up(cut: Cut, warm_up_us: int) -> Cut:
    """Cut as `cut` says, after another warm-up of clients that have a core for themselves."""
    return Cut(*(replace(one, warm_up_us=warm_up_us) for one in (cut.by_time, cut.by_transactions)))


def _treatment(
    name: str,
    title: str,
    *,
    against: str = PLAIN,
    fixed_addresses: bool = False,
    huge_pages: bool = False,
    cut: Cut = LONG,
    pairs: int = 12,
    clients: int = 1,
    placement: Pinning = Pinning.PINNED,
    layouts: Layouts | None = None,
    prewarmed_at_once: int = 1,
    workload: str = "select-only",
    servers: tuple[str, str] = ("17", "17"),
) -> Treatment:
    # Not as shipped: with "try" servers take huge pages as soon as some are reserved for other treatments.
    settings = (*SETTINGS, f"huge_pages={'on' if huge_pages else 'off'}")
    line = Line(
        name,
        title,
        Right.SAME,
        workloads=(workload,),
        servers=servers,
        settings=settings,
        rounds=ROUNDS,
        pairs=pairs,
        clients=clients,
        placement=placement,
        cap_s=3600.0,
        keeps_slices=True,
    )
    return Treatment(line, against, cut, prewarmed_at_once, fixed_addresses, huge_pages, layouts)


TREATMENTS = (
    _treatment(PLAIN, "12 pairs of slices of 50 ms, 5 of them not counted, after 300 ms of warm-up"),
    _treatment("fixed-addresses", "address space layout not randomised", fixed_addresses=True),
    _treatment(HUGE, "shared memory in huge pages", huge_pages=True),
    _treatment(
        "huge-pages-fixed-addresses",
        "the same, and addresses not randomised",
        against=HUGE,
        fixed_addresses=True,
        huge_pages=True,
    ),
    _treatment("pairs-30", "30 pairs of slices of 50 ms", pairs=30),
    _treatment("slices-20", "30 pairs of slices of 20 ms, 5 of them not counted", cut=SHORT, pairs=30),
    _treatment(
        "slices-20-pairs-75", "75 pairs of slices of 20 ms, 5 of them not counted", cut=SHORT, pairs=75
    ),
    _treatment("warm-up-100", "100 ms of warm-up", cut=_warmed_up(LONG, 100_000)),
    _treatment(
        "side-by-side",
        "30 pairs of slices of 20 ms, data read into memory side by side",
        cut=SHORT,
        pairs=30,
        prewarmed_at_once=2,
    ),
    _treatment(
        "side-by-side-warm-up-150",
        "the same after 150 ms of warm-up",
        cut=_warmed_up(SHORT, 150_000),
        pairs=30,
        prewarmed_at_once=2,
    ),
    *(
        _treatment(
            name,
            f"20 pairs of slices of 20 ms after 150 ms of warm-up, memory filled side by side; layouts: {title}",
            against=against,
            cut=_warmed_up(SHORT, 150_000),
            pairs=20,
            prewarmed_at_once=2,
            layouts=layouts,
            servers=servers,
        )
        for against, servers, name, title, layouts in (
            (KERNEL, ("17", "17"), KERNEL, "the kernel's, for every start", None),
            (KERNEL, ("17", "17"), "layout-start", "drawn for every start", draw_for_start),
            (KERNEL, ("17", "17"), SHARED, "drawn for every round, the same for both arms", draw_layout),
            (KERNEL, ("17", "17"), "layout-one", "always the same", one_layout),
            (RELEASES, ("17", "18"), RELEASES, "the kernel's, for every start; 17 and 18", None),
            (
                RELEASES,
                ("17", "18"),
                "releases-layout-start",
                "drawn for every start; 17 and 18",
                draw_for_start,
            ),
            (
                RELEASES,
                ("17", "18"),
                "releases-layout-round",
                "drawn for every round; 17 and 18",
                draw_layout,
            ),
        )
    ),
    _treatment(
        "layout-round-in-turn",
        "20 pairs of slices of 20 ms after 150 ms of warm-up, memory filled in turn; layouts: drawn for every round",
        against=SHARED,
        cut=_warmed_up(SHORT, 150_000),
        pairs=20,
        layouts=draw_layout,
    ),
    *(
        _treatment(
            name,
            f"8 clients, 20 pairs of slices of 20 ms, memory filled side by side, after {warm_up_ms} ms of warm-up"
            + (", shared memory in huge pages" if huge_pages else ""),
            against=EIGHT,
            cut=_warmed_up(SHORT, warm_up_ms * 1000 // 4),  # that four of them share a core makes it longer
            pairs=20,
            clients=8,
            prewarmed_at_once=2,
            huge_pages=huge_pages,
        )
        for name, warm_up_ms, huge_pages in (
            (EIGHT, 600, False),
            ("eight-warm-up-300", 300, False),
            ("eight-warm-up-150", 150, False),
            ("eight-huge-pages-warm-up-150", 150, True),
        )
    ),
    *(
        _treatment(
            name,
            f"8 clients where the kernel puts them, {pairs} pairs of slices of {slice_ms} ms, after 600 ms of warm-up",
            against=FREE,
            cut=_warmed_up(cut, 150_000),
            pairs=pairs,
            clients=8,
            placement=Pinning.FREE,
            prewarmed_at_once=2,
        )
        for name, cut, slice_ms, pairs in (
            (FREE, SHORT, 20, 20),
            ("free-pairs-60", SHORT, 20, 60),
            ("free-slices-50", LONG, 50, 24),
        )
    ),
    _treatment(
        UPDATE,
        "simple-update, 60 pairs of slices of 50 ms",
        against=UPDATE,
        pairs=60,
        workload="simple-update",
    ),
    _treatment(
        "update-slices-20",
        "simple-update, 150 pairs of slices of 20 ms",
        against=UPDATE,
        cut=SHORT,
        pairs=150,
        workload="simple-update",
    ),
)


def treatment_of(name: str) -> Treatment:
    """The treatment of that name; UserError, with the nearest one offered, if there is none."""
    for one in TREATMENTS:
        if one.name == name:
            return one
    raise unknown_word("treatment", name, [one.name for one in TREATMENTS])


@contextmanager
def applied(treatment: Treatment) -> Iterator[None]:
    """Servers started and rounds cut inside are treated so. WorldError if the host does not let us."""
    with ExitStack() as stack:
        if treatment.fixed_addresses:
            stack.enter_context(fixed_addresses())
        stack.enter_context(_cut(treatment.cut))
        stack.enter_context(_set(warmth, "AT_ONCE", treatment.prewarmed_at_once))
        if treatment.layouts is None:
            stack.enter_context(_set(PreparedCell, "has_layouts", False))
        else:
            stack.enter_context(_set(site, "draw_layout", treatment.layouts))
        yield


def obstacle(treatment: Treatment, meminfo: Path = Path("/proc/meminfo")) -> str | None:
    """Why this host cannot do it, if it cannot."""
    if treatment.huge_pages and free_huge_bytes(meminfo.read_text()) < HUGE_BYTES:
        return f"fewer than {HUGE_BYTES // 2**20} MB of huge pages are free (sysctl vm.nr_hugepages)"
    try:
        with applied(treatment):
            return None
    except WorldError as error:
        return error.message


def free_huge_bytes(meminfo: str) -> int:
    """From the text of /proc/meminfo; 0 where the kernel has no huge pages.

    >>> free_huge_bytes("HugePages_Free:      700\\nHugepagesize:       2048 kB\\n") // 2**20
    1400
    """
    fields = dict(line.split(":", 1) for line in meminfo.splitlines() if ":" in line)
    pages, size_kb = (int(fields.get(name, "0").split()[0]) for name in ("HugePages_Free", "Hugepagesize"))
    return pages * size_kb * 1024


@contextmanager
def _cut(cut: Cut) -> Iterator[None]:
    """Rounds begun inside are cut so; no user is asked for this, so there is no option for it."""
    with ExitStack() as stack:
        stack.enter_context(_set(bounds, "BY_TIME", cut.by_time))
        stack.enter_context(_set(bounds, "BY_TRANSACTIONS", cut.by_transactions))
        yield


@contextmanager
def _set(module: object, name: str, value: object) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)
