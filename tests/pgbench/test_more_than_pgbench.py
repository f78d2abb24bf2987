"""What ours tells and pgbench does not."""

import json
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from pgverdict.servers.server import Server

from .program import Program

pytestmark = pytest.mark.slow


@pytest.fixture
def ours(our_pgbench: Path, server: Server, tmp_path: Path) -> Program:
    renamed = tmp_path / "pgbench"
    renamed.symlink_to(our_pgbench)
    return Program.on(renamed, server, tmp_path)


def test_percentiles_stand_behind_pgbenchs_own_lines(ours: Program) -> None:
    plain = ours.run("-n", "-t", "20", script="select 1;\n")
    more = ours.run("-n", "-t", "20", "--percentiles", script="select 1;\n")

    assert [line.split("=")[0] for line in more.out[: len(plain.out)]] == [
        line.split("=")[0] for line in plain.out
    ]
    response, service, client = more.out[len(plain.out) :]
    assert response.startswith("response time (from when it was due) in milliseconds: p50 = ")
    assert service.startswith("service time (from its beginning) in milliseconds: p50 = ")
    assert client.startswith("busiest client thread: ")


def test_the_results_can_be_read_by_programs(ours: Program) -> None:
    said = ours.run("-n", "-t", "30", "-c", "2", "-r", "--json=results", script="select 1;\n\\sleep 1 ms\n")
    results = json.loads((ours.folder / "results").read_text())

    assert said.code == 0
    assert (results["transactions"], results["clients"], results["finished"]) == (60, 2, True)
    [script] = results["scripts"]
    assert [command["count"] for command in script["commands"]] == [60, 60]
    histogram = HdrHistogram.decode(results["service_us"]["histogram"])
    assert histogram.get_total_count() == 60
    assert histogram.get_max_value() / 1000 == pytest.approx(results["service_us"]["max"], rel=0.002)
    assert results["service_us"]["p50"] > 1000


def test_every_arrival_ends_as_done_or_as_not_begun(ours: Program) -> None:
    def run(script: str) -> "dict[str, float]":
        # Connecting anew each time, so that no time is lost before the first arrival.
        ours.run("-n", "-C", "-T", "2", "-R", "200", "--random-seed=4", "--json=results", script=script)
        results: dict[str, float] = json.loads((ours.folder / "results").read_text())
        return results

    quick, slow = run("select 1;\n"), run("\\sleep 20 ms\n")

    assert slow["transactions"] < 110
    assert slow["due_and_not_begun"] > 200
    arrived = [results["transactions"] + results["due_and_not_begun"] for results in (quick, slow)]
    assert arrived[0] == pytest.approx(arrived[1], abs=40), "the schedule is the seed's"


def test_the_names_of_our_own_options_cannot_be_shortened(ours: Program) -> None:
    assert ours.run("--js", "1").code == 1
    assert "--jobs" in ours.run("--j", "0").err[0]


def test_every_command_has_percentiles_of_its_own(ours: Program) -> None:
    script = "select 1;\n\\sleep 3 ms\n"
    said = ours.run("-n", "-t", "30", "-r", "--percentiles", "--json=results", script=script)
    [told] = json.loads((ours.folder / "results").read_text())["scripts"]

    at = next(
        i for i, line in enumerate(said.out) if line.startswith("command times in milliseconds, p50, p90")
    )
    select, sleep = (line.split(maxsplit=6) for line in said.out[at + 1 :])
    assert (select[6], sleep[6]) == ("select 1;", "\\sleep 3 ms")
    assert float(select[0]) < 3 <= float(sleep[0])
    assert [command["time_us"]["count"] for command in told["commands"]] == [30, 30]
    assert told["commands"][1]["time_us"]["p50"] >= 3000


def test_a_log_of_histograms_has_every_second_and_every_transaction(ours: Program) -> None:
    ours.run(
        "-n",
        "-c",
        "3",
        "-j",
        "2",
        "-T",
        "3",
        "--hdr-log=times.hlog",
        "--json=results",
        script="\\sleep 5 ms\n",
    )
    done = json.loads((ours.folder / "results").read_text())["transactions"]

    counts: dict[str, list[int]] = {"response": [], "service": []}
    lines = (ours.folder / "times.hlog").read_text().splitlines()
    assert lines[0] == "#[Histogram log format version 1.3]"
    for line in lines:
        if line.startswith("Tag="):
            tag, _begun, length, _max, histogram = line.removeprefix("Tag=").split(",")
            assert float(length) == 1
            counts[tag].append(HdrHistogram.decode(histogram).get_total_count())
    assert sum(counts["response"]) == sum(counts["service"]) == done
    assert 3 <= len(counts["service"]) <= 4
    log = HistogramLogReader(str(ours.folder / "times.hlog"), HdrHistogram(1, 3_600_000_000_000, 3))
    assert log.get_next_interval_histogram() is not None
    log.close()


def test_what_is_turned_away_is_told_by_how_late_it_was(ours: Program) -> None:
    ours.run(
        "-n", "-T", "2", "-R", "200", "-L", "40", "--json=results", "--random-seed=1", script="\\sleep 20 ms\n"
    )  # fmt: skip
    results = json.loads((ours.folder / "results").read_text())

    assert results["skipped"] > 100
    assert results["arrivals_us"]["count"] == results["transactions"] + results["skipped"]
    assert results["response_us"]["count"] == results["transactions"]
    assert results["arrivals_us"]["p50"] >= 40_000


def test_a_warm_up_is_run_and_not_counted(ours: Program) -> None:
    script = "\\sleep 10 ms\n"
    said = ours.run("-n", "-T", "1", "--warm-up=1", "-r", "--json=results", script=script)
    results = json.loads((ours.folder / "results").read_text())

    assert said.code == 0
    assert 80 <= results["transactions"] <= 100, "a hundred fit into a second, two hundred into both"
    assert results["scripts"][0]["commands"][0]["count"] == results["transactions"]
    assert results["duration_us"] == pytest.approx(1e6, rel=0.1)


def test_a_rate_plan_gives_every_phase_its_rate(ours: Program) -> None:
    plan = "1@100,1@100-500,0.5@0,1@50"
    ours.run(
        "-n",
        "-c",
        "4",
        "-j",
        "2",
        f"--rate-plan={plan}",
        "--json=results",
        "--random-seed=3",
        script="select 1;\n",
    )
    phases = json.loads((ours.folder / "results").read_text())["phases"]

    assert [(one["seconds"], one["from_hz"], one["to_hz"]) for one in phases] == [
        (1, 100, 100), (1, 100, 500), (0.5, 0, 0), (1, 50, 50),
    ]  # fmt: skip
    done = [one["response_us"]["count"] if one["response_us"] else 0 for one in phases]
    # Poisson: within five standard deviations.
    for count, expected in zip(done, (100, 300, 0, 50), strict=True):
        assert abs(count - expected) <= 5 * expected**0.5


def test_clients_that_think_wait_between_transactions_and_not_in_them(ours: Program) -> None:
    ours.run("-n", "-c", "5", "-T", "2", "--think-time=50", "--json=results", script="select 1;\n")
    results = json.loads((ours.folder / "results").read_text())

    # Five clients, twenty times a second each: two hundred in two seconds, give or take.
    assert 120 <= results["transactions"] <= 290
    assert results["response_us"]["p50"] < 10_000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rate-plan=10@",), 'invalid rate plan: "10@"'),
        (("--rate-plan=1@5", "-R", "5"), "a rate plan (--rate-plan) has its own rates and time"),
        (("--warm-up=1",), "a warm-up (--warm-up) needs a duration (-T)"),
        (("--think-time=5", "-R", "5"), "think time (--think-time) is for clients that follow no rate"),
        (("--think-time=0",), 'invalid think time: "0"'),
        (
            ("--event-loop=kqueue",),
            'invalid event loop, expecting "auto", "epoll" or "io_uring", got: "kqueue"',
        ),
        (("--event-loop=io_uring", "-C"), "io_uring (--event-loop) cannot be used with a new connection"),
        (("--binary-parameters",), "--binary-parameters needs prepared statements (-M prepared)"),
    ],
)
def test_options_that_mean_nothing_together_are_refused(
    ours: Program, options: tuple[str, ...], said: str
) -> None:
    done = ours.run("-n", *options, script="select 1;\n")

    assert done.code == 1
    assert any(said in line for line in done.err)


@pytest.mark.parametrize(
    "partitions", [(), ("--partitions=3",), ("--partitions=3", "--partition-method=hash")]
)
def test_a_load_over_several_connections_makes_the_same_tables(
    ours: Program, server: Server, partitions: tuple[str, ...]
) -> None:
    query = "SELECT count(*), sum(aid::bigint * bid), min(aid), max(aid), sum(abalance) FROM pgbench_accounts"

    def load(*options: str) -> "tuple[int, ...]":
        said = ours.run("-i", "-q", "-s", "3", *partitions, *options)
        assert said.code == 0, said.err
        with server.connect() as connection:
            rows = connection.execute(query).fetchone()
            assert rows is not None
            keys = connection.execute(
                "SELECT count(*) FROM pg_constraint WHERE contype = 'p' AND conrelid::regclass::text LIKE 'pgbench%'"
            ).fetchone()
            assert keys is not None
            return (*rows, *keys)

    assert load("-j", "2") == load()


LOOPS = ("epoll", "io_uring")

LONG_PIPELINE = (
    "\\startpipeline\n"
    + "".join(f"select repeat(:a || '{n}', 20000);\n" for n in range(40))
    + "\\endpipeline\n"
)


@pytest.fixture(params=LOOPS)
def event_loop(request: pytest.FixtureRequest, ours: Program) -> str:
    """Each, where the kernel has it."""
    loop = str(request.param)
    said = ours.run("-n", "-t", "1", f"--event-loop={loop}", script="select 1;\n")
    if said.code != 0 and "could not use io_uring" in said.err[-1]:
        pytest.skip(f"NOT TESTED: io_uring: {said.err[-1]}")
    return loop


def test_the_same_seed_does_the_same_work_by_either_loop_in_any_mode(
    ours: Program, server: Server, event_loop: str
) -> None:
    sums = set()
    for mode in ("simple", "extended", "prepared"):
        assert ours.run("-i", "-q").code == 0
        options = ("-n", "-c", "7", "-j", "2", "-t", "30", "-M", mode, "--random-seed=9", "--json=results")
        said = ours.run(*options, f"--event-loop={event_loop}", "-b", "tpcb-like")
        assert said.code == 0, said.err
        results = json.loads((ours.folder / "results").read_text())
        assert (results["event_loop"], results["transactions"]) == (event_loop, 210)
        with server.connect() as connection:
            row = connection.execute(
                "SELECT (SELECT sum(abalance) FROM pgbench_accounts), sum(delta), count(*) FROM pgbench_history"
            ).fetchone()
        assert row is not None
        balance, delta, count = row
        assert (balance, count) == (delta, 210)
        sums.add(delta)
    assert len(sums) == 1


def test_pipelines_larger_than_a_socket_holds_come_through(ours: Program, event_loop: str) -> None:
    script = "\\set a random(1, 9)\n" + LONG_PIPELINE
    said = ours.run("-n", "-c", "4", "-t", "3", "-M", "prepared", f"--event-loop={event_loop}", script=script)

    assert said.code == 0, said.err
    assert any("actually processed: 12/12" in line for line in said.out)


def test_a_schedule_and_sleeping_clients_are_kept_by_both_loops(ours: Program, event_loop: str) -> None:
    script = "select 1;\n\\sleep 1 ms\nselect pg_sleep(0.001);\n"
    options = ("-n", "-c", "3", "-T", "2", "-R", "200", "--json=results", "--random-seed=3")
    said = ours.run(*options, f"--event-loop={event_loop}", script=script)

    assert said.code == 0, said.err
    results = json.loads((ours.folder / "results").read_text())
    assert results["transactions"] + results["due_and_not_begun"] == pytest.approx(400, abs=80)


NUMBERS = """\\set whole random(1, 100)
\\set part random(1, 100) / 8.0
select :whole::int2 + :whole::int4 + :whole::int8 + :part::float4 + :part::float8 + length(:whole::text) as a \\gset
select :a::float8 = 3 * :whole::float8 + 2 * :part::float8 + length(:whole::text) as same \\gset
\\if not :same
select 1 / 0;
\\endif
"""


def test_numbers_can_be_sent_as_the_server_stores_them(ours: Program) -> None:
    options = ("-n", "-t", "50", "-M", "prepared")
    plain, binary = (ours.run(*options, *more, script=NUMBERS) for more in ((), ("--binary-parameters",)))

    assert (plain.code, binary.code) == (0, 0), binary.err


def test_a_number_that_its_type_does_not_hold_ends_the_client(ours: Program) -> None:
    script = "\\set a 40000\nselect :a::int2;\n"
    said = ours.run("-n", "-t", "1", "-M", "prepared", "--binary-parameters", script=script)

    assert said.code == 2
    assert any('value "40000" is none of type smallint' in line for line in said.err)
