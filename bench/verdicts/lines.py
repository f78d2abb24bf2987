"""The lines: each is one promise, the campaign that tests it, and the goal it is held against.

All lines but the last compare one build with itself, at 99 % confidence, with the dataset in shared buffers. A goal is
the time to the right verdict: median and 90th percentile over repetitions, seconds of rounds with all their starts.
"""

from dataclasses import dataclass
from enum import Enum

from pgverdict.errors import unknown_word
from pgverdict.spec.campaign import Pinning

SETTINGS = ("shared_buffers=512MB", "synchronous_commit=off")
"""Those of `./x demo`: the whole dataset fits in shared buffers."""


class Right(Enum):
    """What a run must end with to have been right."""

    SLOWER = "SLOWER"
    SAME = "SAME"
    DECIDED = "decided"
    """Anything but UNDECIDED: the truth is not known."""


@dataclass(frozen=True)
class Line:
    """One line. `injected` is a share of the time that the primary metric speaks of (`injection.handicap_ns`).

    A series has `rounds`, the fixed number of rounds of each of its repetitions, and no goal.
    """

    name: str
    title: str
    right: Right
    injected: float = 0.0
    workloads: tuple[str, ...] = ("select-only",)
    servers: tuple[str, str] = ("17", "17")
    settings: tuple[str, ...] = SETTINGS
    scale: int = 10
    clients: int = 1
    placement: Pinning = Pinning.PINNED
    primary: str | None = None
    margin: float = 0.01
    goal_s: tuple[float, float | None] | None = None
    """Median, and 90th percentile where one was set."""
    cap_s: float = 600.0
    """The run's budget: what is not decided by then never was."""
    repetitions: int = 20
    prototype: str = "-"
    """What the prototype this product came from was measured or computed to do."""
    rounds: int | None = None
    pairs: int | None = None
    """Per round, where not as many as usual."""
    keeps_slices: bool = False

    @property
    def is_truth_known(self) -> bool:
        """Whether what is injected is what the primary should find: a high percentile grows by more than a delay of
        every transaction, which is hit more often the longer it takes."""
        return self.right is not Right.DECIDED and self.primary != "latency_us_p99"

    @property
    def is_series(self) -> bool:
        """Whether its rounds are what is wanted, and not its verdicts."""
        return self.rounds is not None


CONFIDENCE = 0.99


def _typical(name: str, percent: str, share: float, **more: object) -> Line:
    return Line(name, f"select-only, typical latency decides, {percent} slower", Right.SLOWER, share, **more)  # type: ignore[arg-type]


def _recovery(name: str, share: float) -> Line:
    return Line(
        name,
        f"select-only, {share * 100:g} % slower, 60 rounds",
        Right.SLOWER,
        share,
        rounds=20,
        repetitions=3,
        cap_s=600,
        keeps_slices=True,
    )


LINES: tuple[Line, ...] = (
    _typical("typical-1", "1 %", 0.01, margin=0.005, goal_s=(60, 120), cap_s=360,
             prototype="43 s / 63 s resampled, 43 s live"),
    _typical("typical-2", "2 %", 0.02, margin=0.005, goal_s=(30, 60), cap_s=180, prototype="23 s"),
    _typical("typical-5", "5 %", 0.05, margin=0.005, goal_s=(30, 60), cap_s=180, prototype="20 s"),
    _typical("typical-0.5", "0.5 %", 0.005, margin=0.002, goal_s=(180, 360), cap_s=1080,
             repetitions=8, prototype="120 s / 214 s resampled"),
    Line("equal", "select-only, equal servers, margin 1 %", Right.SAME, goal_s=(90, 180), cap_s=540, repetitions=30),
    Line("mean-2", "select-only, mean latency decides, 2 % slower", Right.SLOWER, 0.02, primary="latency_us_mean",
         goal_s=(180, None), cap_s=540, repetitions=8, prototype="1 % never in 86 s"),
    Line("update-2", "simple-update, fresh copies, throughput decides, 2 % slower", Right.SLOWER, 0.02,
         ("simple-update",), primary="tps", goal_s=(120, 240), cap_s=720, repetitions=8,
         prototype="about 90 s expected"),
    Line("eight-2", "select-only, 8 clients pinned, throughput decides, 2 % slower", Right.SLOWER, 0.02, clients=8,
         primary="tps", goal_s=(90, 180), cap_s=540, repetitions=8, prototype="round scatters by 1.3 %"),
    Line("free-2", "select-only, 8 clients not pinned, throughput decides, 2 % slower", Right.SLOWER, 0.02, clients=8,
         placement=Pinning.FREE, primary="tps", goal_s=(300, None), cap_s=900, repetitions=8,
         prototype="round scatters by 3.2 %"),
    Line("p99-10", "select-only, 99th percentile decides, 10 % slower", Right.SLOWER, 0.10, primary="latency_us_p99",
         goal_s=(300, None), cap_s=900, repetitions=8, prototype="+- 3 % after 16 rounds"),
    Line("demo", "`./x demo`: 17 against 18, two cells", Right.DECIDED, workloads=("select-only", "simple-update"),
         servers=("17", "18"), goal_s=(180, None), cap_s=300, repetitions=8),
    Line("series-select", "select-only, equal servers, a series of rounds", Right.SAME, rounds=50, repetitions=20,
         cap_s=1200, keeps_slices=True),
    Line("series-update", "simple-update, equal servers, a series of rounds", Right.SAME,
         workloads=("simple-update",), rounds=20, repetitions=15, cap_s=1200, keeps_slices=True),
    _recovery("recovery-0.5", 0.005),
    _recovery("recovery-1.1", 0.011),
    _recovery("recovery-2", 0.02),
    _recovery("recovery-5", 0.05),
)  # fmt: skip

PROMISES = tuple(line for line in LINES if not line.is_series)
RECOVERIES = tuple(line for line in LINES if line.is_series and line.injected)
EQUAL_SERIES = tuple(line for line in LINES if line.is_series and not line.injected)


def line(name: str) -> Line:
    """The line of that name; UserError, with the nearest one offered, if there is none."""
    for one in LINES:
        if one.name == name:
            return one
    raise unknown_word("line", name, [one.name for one in LINES])
