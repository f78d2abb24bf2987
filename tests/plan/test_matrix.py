"""From a campaign file to a campaign: the matrix, its sizes, what is small."""

import pytest

from pgverdict.errors import UserError
from pgverdict.plan.matrix import HostSize, campaign_of
from pgverdict.spec.arms import make_arms
from pgverdict.spec.campaign import Campaign, CellSpec, Defaults, EventLoop, Freeze, Pinning
from pgverdict.spec.document import read_document
from pgverdict.spec.regime import Regime
from pgverdict.spec.tuning import Disk, Tuning, Use

HOST = HostSize(24 << 30, 2, Disk.SSD)
TOP = 'arms = ["17", "18"]\n'
SELECT = f'{TOP}[[workload]]\nname = "select-only"\n'
NOTHING = ", so a small one takes the place of nothing"


def _campaign(
    text: str, *, small: bool = False, only: tuple[str, ...] = (), instead: tuple[str, ...] = ()
) -> Campaign:
    document = read_document("c.toml", text)
    return campaign_of(document, HOST, seed=7, small=small, only=only, instead=instead)


def _keys(text: str, *, small: bool = False, only: tuple[str, ...] = ()) -> list[str]:
    return [cell.key for cell in _campaign(text, small=small, only=only).cells]


def test_a_file_ends_in_the_values_that_options_end_in() -> None:
    made = _campaign("""
budget = "90s"
margin = "2%"
confidence = "95%"
rounds = 9
freeze = "signal"
placement = "free"
event_loop = "io_uring"
as = "aligned"
memory = "2GB"
cores = "0-1"
engine_cores = "2"
allow_debug_builds = true

[[arm]]
server = "17"
settings = { jit = true }
[[arm]]
server = "18"
name = "new"
[settings]
work_mem = "8MB"
"io_method?" = "sync"
[tune]
use = "oltp"
memory = "4GB"
cores = 4
[[workload]]
name = "simple-update"
scale = 3
clients = 2
regime = ["fresh", "steady"]
primary = "tps"
parameters = { partitions = 4 }
""")
    arms = make_arms(
        ("17", "new=18"),
        ((None, "work_mem", "8MB"), (None, "io_method?", "sync"), ("17", "jit", "on")),
    )
    cell = CellSpec("simple-update", 3, 2, (("partitions", 4),), "tps")

    assert made.arms == arms
    assert made.cells == (cell, CellSpec("simple-update", 3, 2, (("partitions", 4),), "tps", Regime.STEADY))
    assert made == Campaign(
        arms, made.cells, 90.0, 0.02, 0.95, 7, 9, Freeze.SIGNAL, Pinning.FREE, EventLoop.IO_URING,
        Defaults.ALIGNED, Tuning(Use.OLTP, 4 << 30, 4, Disk.SSD), True, 2 << 30, (0, 1), (2,), made.written,
    )  # fmt: skip


def test_axes_are_multiplied_and_cells_that_share_data_stand_together() -> None:
    assert _keys(
        f"{SELECT}scale = [1, 2]\nclients = [1, 8]\nsettings = {{ work_mem = ['1MB', '2MB'] }}\n"
    ) == [
        f"select-only scale={scale} clients={clients} work_mem={memory}"
        for memory in ("1MB", "2MB")
        for scale in (1, 2)
        for clients in (1, 8)
    ]


def test_settings_of_a_cell_take_the_place_of_those_of_all_arms_in_that_cell_only() -> None:
    made = _campaign(
        f'{SELECT}settings = {{ work_mem = "1MB" }}\n[[workload]]\nname = "tpcb-like"\n[settings]\nwork_mem = "4MB"\n'
    )

    assert [cell.settings for cell in made.cells] == [(("work_mem", "1MB"),), ()]
    assert {arm.settings for arm in made.arms} == {(("work_mem", "4MB"),)}


def test_variants_vary_together() -> None:
    assert _keys(
        f'{SELECT}variants = [{{ work_mem = "1MB", jit = true }}, {{ work_mem = "2MB", jit = false }}]\n'
    ) == [
        "select-only scale=10 clients=1 jit=on work_mem=1MB",
        "select-only scale=10 clients=1 jit=off work_mem=2MB",
    ]


def test_defaults_hold_where_a_workload_says_nothing_and_only_for_those_that_know_them() -> None:
    text = f"""{TOP}
[defaults]
scale = 5
clients = [1, 2]
regime = "steady"
[[workload]]
name = "select-only"
[[workload]]
name = "simple-update"
clients = 4
size = "32MB"
"""

    assert _keys(text) == [
        "select-only scale=5 clients=1",
        "select-only scale=5 clients=2",
        "simple-update scale=2 clients=4 regime=steady",
    ]


def test_combinations_are_left_out() -> None:
    text = f"""{TOP}
[[workload]]
name = ["select-only", "tpcb-like"]
scale = [1, 2]
clients = [1, 8, 16]
[[exclude]]
workload = "tpcb-like"
scale = 2
clients = [8, 16]
"""

    assert [key for key in _keys(text) if key.startswith("tpcb-like scale=2")] == [
        "tpcb-like scale=2 clients=1"
    ]
    assert len(_keys(text)) == 10


@pytest.mark.parametrize(
    ("size", "more", "scale"),
    [
        ("fits shared buffers", "", 6),
        ("fits shared buffers", '[settings]\nshared_buffers = "2GB"\n', 100),
        ("fits shared buffers", '[tune]\nuse = "oltp"\n', 300),
        ("half of memory", "", 400),
        ("2GB", "", 130),
    ],
    ids=["as shipped", "set", "tuned", "a share of the host", "absolute"],
)
def test_sizes_become_scales(size: str, more: str, scale: int) -> None:
    (cell,) = _campaign(f'{SELECT}size = "{size}"\n{more}').cells

    assert cell.scale == scale


def test_sizes_follow_the_memory_that_servers_are_confined_to_and_the_settings_of_the_cell() -> None:
    text = f'memory = "4GB"\n{SELECT}size = ["3x memory", "fits shared buffers"]\n'

    assert [cell.scale for cell in _campaign(text).cells] == [800, 6]
    varied = f'{text}settings = {{ shared_buffers = ["128MB", "1GB"] }}\n'
    assert [cell.scale for cell in _campaign(varied).cells] == [800, 6, 800, 50]


def test_small_divides_everything_by_one_number_so_that_what_fitted_still_does() -> None:
    text = f"""memory = "8GB"
{TOP}
[settings]
shared_buffers = "2GB"
[[workload]]
name = "select-only"
size = ["fits shared buffers", "half of memory", "4x memory"]
clients = [1, 4, 64]
"""
    made = _campaign(text, small=True)
    scales = sorted({cell.scale for cell in made.cells})
    assert made.memory_bytes is not None

    assert sorted({cell.clients for cell in made.cells}) == [1, 4]
    assert scales[-1] * 16_000_000 <= 4.1 * made.memory_bytes <= 1_000_000_000
    assert dict(made.arms[0].settings)["shared_buffers"] == f"{(2 << 30) // 84 >> 10}kB"
    assert scales[0] * 16_000_000 < (2 << 30) // 84
    assert len(made.cells) == 6


def test_a_file_may_say_what_is_small() -> None:
    text = f"""{SELECT}scale = [100, 1000]
clients = [1, 64]
[settings]
shared_buffers = "2GB"
[small]
divide = 50
clients = [2]
budget = "1m"
rounds = 3
"""
    made = _campaign(text, small=True)

    assert [cell.key for cell in made.cells] == [
        "select-only scale=2 clients=2",
        "select-only scale=20 clients=2",
    ]
    assert (made.budget_s, made.rounds) == (60.0, 3)
    assert dict(made.arms[0].settings) == {"shared_buffers": "41943kB"}
    assert _campaign(text).budget_s == 300.0


def test_sizes_that_a_file_says_for_small_are_not_divided() -> None:
    text = f'{SELECT}scale = [100, 1000]\n[small]\nscale = [10, 90]\narms = ["17", "18"]\n'

    assert [cell.scale for cell in _campaign(text, small=True).cells] == [10, 90]


def test_small_cuts_rounds_that_have_more_pairs_and_lengthens_none() -> None:
    text = """
arms = ["17", "18"]
[[workload]]
name = ["simple-update", "select-only", "full-scan", "tpch"]
scale = 1
[[workload]]
name = "tpcb-like"
scale = 1
regime = "steady"
[small]
pairs = 40
"""
    pairs = {cell.workload: cell.pairs for cell in _campaign(text, small=True).cells}

    assert pairs == {
        "simple-update": 40, "select-only": None, "full-scan": None, "tpch": None, "tpcb-like": None,
    }  # fmt: skip
    assert {cell.pairs for cell in _campaign(text).cells} == {None}


def test_small_leaves_out_what_it_says_by_its_own_values() -> None:
    small = "[small]\nscale = [5, 6]\nexclude = [{ scale = 6, clients = 2 }]\n"
    text = f"{SELECT}scale = [1, 2]\nclients = [1, 2]\n{small}"

    assert [(cell.scale, cell.clients) for cell in _campaign(text, small=True).cells] == [
        (5, 1),
        (5, 2),
        (6, 1),
    ]
    assert len(_campaign(text).cells) == 4


def test_cells_that_become_the_same_when_small_are_measured_once() -> None:
    assert _keys(f"{SELECT}scale = [1, 2]\n[small]\ndivide = 10\n", small=True) == [
        "select-only scale=1 clients=1"
    ]


def test_only_chooses_cells_by_words_of_their_keys() -> None:
    text = f"{SELECT}scale = [1, 2]\nclients = [1, 2]\n"

    assert _keys(text, only=("clients=2", "scale=1 clients=1")) == [
        "select-only scale=1 clients=1",
        "select-only scale=1 clients=2",
        "select-only scale=2 clients=2",
    ]


NAMED = """
[[arm]]
name = "old"
server = "source:12.22"
settings = { jit = "off" }
[[arm]]
server = "17"
[[arm]]
name = "new"
server = "source:18.1,with=liburing"
settings = { io_method = "sync" }
[[workload]]
name = "select-only"
[small]
arms = ["old", "new"]
"""


def _arms_of(campaign: Campaign) -> list[tuple[str, str, tuple[tuple[str, str], ...]]]:
    return [(arm.name, arm.server, arm.settings) for arm in campaign.arms]


def test_another_server_in_an_arms_place_has_the_arms_name_and_settings() -> None:
    made = _campaign(NAMED, small=True, instead=("old=12", "new=git:~/pg@HEAD,patch=a.patch"))

    assert _arms_of(made) == [
        ("old", "12", (("jit", "off"),)),
        ("new", "git:~/pg@HEAD,patch=a.patch", (("io_method", "sync"),)),
    ]
    assert made.written is not None
    assert made.written.options == (
        "--small", "--arm", "old=12", "--arm", "new=git:~/pg@HEAD,patch=a.patch",
    )  # fmt: skip


def test_an_arm_that_is_called_as_its_server_is_called_as_the_other_one() -> None:
    assert [arm.name for arm in _campaign(SELECT, instead=("17=17.7",)).arms] == ["17.7", "18"]
    assert [arm.name for arm in _campaign(SELECT, instead=("18=17",)).arms] == ["17", "17#2"]


@pytest.mark.parametrize(
    ("instead", "message"),
    [
        (("16=17",), "unknown arm in --arm: 16"),
        (("candidate=17",), "unknown arm in --arm: candidate"),
        (("17",), "no arm and no server for it: 17"),
        (("=17",), "no arm and no server for it: =17"),
        (("17=16", "17=15"), "two servers in the place of 17: 16 and 15"),
        (("17=soruce:18",), "unknown kind of server: soruce"),
    ],
)
def test_a_server_in_no_arms_place_is_an_error(instead: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        _campaign(SELECT, instead=instead)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'{TOP}[[workload]]\nname = "selct-only"\n', "c.toml:3: workload.name: unknown workload: selct-only"),
        ('arms = ["17"]\n[[workload]]\nname = "select-only"\n', "c.toml:1: arms: a comparison has 2 to 12 arms, not 1"),
        (f'{TOP}[[arm]]\nserver = "17"\n[[workload]]\nname = "select-only"\n',
         "c.toml:2: arm: the arms are said twice: as arms and as [[arm]]"),
        ('arms = ["17", "soruce:18"]\n[[workload]]\nname = "select-only"\n',
         "c.toml:1: arms: unknown kind of server: soruce"),
        (f"{SELECT}scale = [1, 1]\n",
         "c.toml:2: workload: the same cell is there twice: select-only scale=1 clients=1"),
        (f'{SELECT}scale = 1\nsize = "1GB"\n', "c.toml:2: workload: a cell has a scale or a size, not both"),
        (f'{SELECT}size = "3x memory"\n',
         "c.toml:4: workload.size: data larger than memory needs servers that are confined: 3x memory"),
        (f'{SELECT}size = "3x memry"\n', "c.toml:4: workload.size: not a size of data: 3x memry"),
        (f'{SELECT}regime = "steady"\n', "c.toml:4: workload.regime: the workload select-only changes no data"
         " and has no regime to choose: steady"),
        (f"{SELECT}parameters = {{ partition = 1 }}\n",
         "c.toml:4: workload.parameters.partition: unknown parameter of select-only: partition"),
        (f"{SELECT}partitions = 5000\n",
         "c.toml:4: workload.partitions: not a value of the parameter partitions: 5000"),
        (f'{SELECT}primary = "tsp"\n', "c.toml:2: workload: unknown primary metric: tsp"),
        (f"{SELECT}[[exclude]]\nscale = 3\n", "c.toml:4: exclude: no cell has all these values"),
        (f"{SELECT}[[exclude]]\nscael = 3\n", "c.toml:4: exclude: unknown axis: scael"),
        (f"{SELECT}[[exclude]]\nscale = 10\n", "c.toml:4: exclude: nothing is left to measure"),
        (f'{SELECT}variants = [{{ jit = "on" }}, {{ work_mem = "1MB" }}]\n', "c.toml:4: workload.variants: all"
         " variants must say the same settings; not all say jit, work_mem"),
        (f'margin = "1"\n{SELECT}', "c.toml:1: margin: not a margin in percent: 1"),
        (f'budget = "soon"\n{SELECT}', "c.toml:1: budget: not a duration: soon"),
        (f'memory = "2G"\n{SELECT}', "c.toml:1: memory: not an amount of memory: 2G"),
        (f'engine_cores = "1"\n{SELECT}', "c.toml:1: engine_cores: where the engine has cores of its own,"
         " servers must have theirs: --engine-cores 1"),
        (f'{SELECT}[defaults]\nparameters = {{ warehouses = 1 }}\n', "c.toml:5: defaults.parameters.warehouses:"
         " unknown parameter of select-only: warehouses"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_file_line_and_key(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        _campaign(text)

    assert caught.value.message == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'{SELECT}[small]\narms = ["18"]\n', "c.toml:5: small.arms: the baseline must remain: 17"),
        (f'{SELECT}[small]\narms = ["17", "19"]\n', "c.toml:5: small.arms: unknown arm: 19"),
        (f'{SELECT}[small]\nbudget = "x"\n', "c.toml:5: small.budget: not a duration: x"),
        (
            f"{SELECT}[small]\nclients = 2\n",
            "c.toml:5: small.clients: no workload has clients" + NOTHING,
        ),
        (
            f"{SELECT}[small]\nsettings = {{ work_mem = ['4MB', '8MB'] }}\n",
            "c.toml:5: small.settings.work_mem: no workload has work_mem" + NOTHING,
        ),
        (
            f"{SELECT}[small]\n[small.parameters]\nfillfactor = 80\n",
            "c.toml:6: small.parameters.fillfactor: no workload has fillfactor" + NOTHING,
        ),
        (
            f"{SELECT}[small]\nexclude = [{{ scale = 77 }}]\n",
            "c.toml:5: small.exclude: no cell has all these values",
        ),
    ],
)
def test_what_cannot_be_small_is_told_too(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        _campaign(text, small=True)

    assert caught.value.message == message


def test_an_unknown_cell_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match="unknown cell: select-only clients=2") as caught:
        _campaign(SELECT, only=("select-only clients=2",))

    assert caught.value.hint == "did you mean select-only scale=10 clients=1?"
