"""What reports say of how equal the arms are but for what is compared."""

import dataclasses

import pytest

from pgverdict.records.run import ArmFacts, RunRecord
from pgverdict.report.differences import changed_defaults, differences_of, known_to_some
from pgverdict.report.equality import equality_notes
from pgverdict.report.html import to_html
from pgverdict.report.machine import to_json
from pgverdict.report.markdown import to_markdown
from pgverdict.report.model import make_report
from pgverdict.spec.campaign import Defaults
from pgverdict.spec.tuning import Disk, Tuning, Use

from . import samples

OLD = (("data_checksums", "off"), ("effective_io_concurrency", "1"), ("operator_precedence_warning", "off"))
NEW = (
    ("data_checksums", "on"),
    ("effective_io_concurrency", "16"),
    ("io_method", "worker"),
    ("io_workers", "3"),
)


def a_run(**campaign: object) -> RunRecord:
    """Of arms that were built alike, whose defaults have changed."""
    run = samples.a_run()
    alike = (("compiler", "gcc"), ("optimisation", "-O2"))
    arms = tuple(
        dataclasses.replace(arm, build=alike, defaults=defaults, notes=())
        for arm, defaults in zip(run.arms, (OLD, NEW), strict=True)
    )
    return dataclasses.replace(
        run,
        arms=arms,
        campaign=dataclasses.replace(run.campaign, **campaign),  # type: ignore[arg-type]
    )


def with_builds(run: RunRecord, *builds: tuple[tuple[str, str], ...]) -> RunRecord:
    arms = tuple(
        dataclasses.replace(arm, build=build, defaults=())
        for arm, build in zip(run.arms, builds, strict=True)
    )
    return dataclasses.replace(run, arms=arms)


def aligned_run() -> RunRecord:
    run = a_run(defaults=Defaults.ALIGNED)
    baseline, candidate = run.campaign.arms
    arms = (
        baseline,
        dataclasses.replace(
            candidate,
            settings=(("data_checksums", "off"), ("effective_io_concurrency", "1"), ("io_method", "sync")),
            origins=(("data_checksums", "aligned"), ("effective_io_concurrency", "aligned")),
        ),
    )
    return dataclasses.replace(run, campaign=dataclasses.replace(run.campaign, arms=arms))


def test_what_differs_in_the_making_is_named_with_both_values() -> None:
    run = with_builds(
        a_run(),
        (
            ("compiler", "gcc 4.9"),
            ("flags", "-fwrapv -m32"),
            ("lz4", "no"),
            ("cflags", "-Wall"),
            ("version", "17.7"),
        ),
        (
            ("compiler", "gcc 13"),
            ("flags", "-flto -fwrapv"),
            ("lz4", "no"),
            ("cflags", "-Wextra"),
            ("version", "18.1"),
        ),
    )

    assert list(equality_notes(run)) == [
        "18.1 was not built as 17.7 was: compiler gcc 13 instead of gcc 4.9 and flags with -flto without -m32;"
        " an effect may come from that rather than from PostgreSQL"
    ]


def test_what_only_one_release_can_have_is_the_release_and_not_the_build() -> None:
    run = with_builds(a_run(), (("compiler", "gcc"),), (("compiler", "gcc"), ("liburing", "yes")))

    assert list(equality_notes(run)) == []


def test_as_shipped_the_changed_defaults_are_told_and_how_to_align_them() -> None:
    assert list(equality_notes(a_run())) == [
        "2 defaults differ between the arms (data_checksums off / on, effective_io_concurrency 1 / 16): each arm has"
        " its own; `--as aligned` gives all of them the baseline's"
    ]


def test_as_aligned_whose_defaults_they_are_is_told_and_what_had_no_counterpart() -> None:
    assert list(equality_notes(aligned_run())) == [
        "2 defaults differ between the arms (data_checksums off / on, effective_io_concurrency 1 / 16):"
        " arms have the default of 17.7, where nothing else was chosen",
        "3 settings that not all arms know are as shipped: operator_precedence_warning, io_method, io_workers",
    ]


def test_equal_arms_have_nothing_to_align() -> None:
    run = a_run(defaults=Defaults.ALIGNED)
    run = dataclasses.replace(run, arms=tuple(dataclasses.replace(arm, defaults=()) for arm in run.arms))

    assert list(equality_notes(run)) == ["no default differs between the arms: there was nothing to align"]


def test_only_the_first_of_many_are_named() -> None:
    run = a_run()
    many = tuple((f"setting_{number}", "1") for number in range(9))
    arms = (
        dataclasses.replace(run.arms[0], defaults=many),
        dataclasses.replace(run.arms[1], defaults=tuple((name, "") for name, _ in many)),
    )

    (note,) = equality_notes(dataclasses.replace(run, arms=arms))

    assert "9 defaults differ between the arms" in note
    assert "(setting_0 1 / empty, setting_1 1 / empty, setting_2 1 / empty and 6 more)" in note


def test_what_was_tuned_for_is_told() -> None:
    run = a_run(tuning=Tuning(Use.OLTP, 3 << 29, 2, Disk.SSD))
    arms = tuple(
        dataclasses.replace(arm, settings=(("work_mem", "4MB"),), origins=(("work_mem", "tuned"),))
        for arm in run.campaign.arms
    )
    run = dataclasses.replace(run, campaign=dataclasses.replace(run.campaign, arms=arms))

    assert "tuned for oltp with 1.5 GB of memory, 2 cores and data on ssd: 1 setting: work_mem" in list(
        equality_notes(run)
    )


def test_the_changed_defaults_and_the_directories_are_among_the_differences() -> None:
    run = a_run()
    asked = (run.campaign.arms[0], dataclasses.replace(run.campaign.arms[1], data_directory="/mnt/hdd"))

    found = [(d.area, d.name, d.values) for d in differences_of(run.arms, asked)]

    assert ("directory", "data", (None, "/mnt/hdd")) in found
    assert found[-2:] == [
        ("default", "data_checksums", ("off", "on")),
        ("default", "effective_io_concurrency", ("1", "16")),
    ]


def test_of_three_arms_a_default_has_changed_if_two_that_know_it_differ() -> None:
    def an_arm(*defaults: tuple[str, str]) -> ArmFacts:
        return dataclasses.replace(samples.ARMS[0], defaults=defaults)

    arms = (an_arm(), an_arm(("a", "1"), ("b", "1")), an_arm(("a", "2"), ("b", "1")))

    assert [d.name for d in changed_defaults(arms)] == ["a"]
    assert known_to_some(arms) == ("a", "b")


@pytest.mark.parametrize("format_", [to_html, to_markdown, to_json])
def test_every_format_has_all_of_it(format_) -> None:  # type: ignore[no-untyped-def]
    page = format_(make_report(aligned_run(), samples.VERDICTS)).replace("<wbr>", "").replace("\\", "")

    for name in ("data_checksums", "effective_io_concurrency", "io_method", "io_workers"):
        assert name in page
    assert "aligned" in page
    assert "the default of 17.7" in page


def test_where_nothing_was_tuned_or_aligned_no_table_of_choices_is_shown() -> None:
    report = make_report(a_run(), samples.VERDICTS)

    assert "settings that were chosen" not in to_html(report)
    assert "settings that were chosen" not in to_markdown(report)
