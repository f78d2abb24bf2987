"""The command that measures a cell again."""

import dataclasses

from pgverdict.report.command import compare_command
from pgverdict.spec.campaign import Arm, Campaign, Role

from .samples import CAMPAIGN, READ_ONLY, a_run


def check(campaign: Campaign, command: str) -> None:
    assert compare_command(dataclasses.replace(a_run(), campaign=campaign), READ_ONLY) == command


def test_releases_are_exact_and_settings_addressed() -> None:
    check(
        CAMPAIGN,
        "pgverdict compare 17.7 18.1 --workload select-only --scale 10 --clients 1"
        " --set shared_buffers=512MB --set candidate:io_method=sync --budget 5m --seed 20261121",
    )


def test_what_is_not_the_default_is_there() -> None:
    campaign = dataclasses.replace(CAMPAIGN, margin=0.005, confidence=0.999, rounds=40, budget_s=5430.0)
    check(
        campaign,
        "pgverdict compare 17.7 18.1 --workload select-only --scale 10 --clients 1"
        " --set shared_buffers=512MB --set candidate:io_method=sync"
        " --margin 0.5% --confidence 99.9% --rounds 40 --budget 5430s --seed 20261121",
    )


def test_settings_are_quoted_for_the_shell() -> None:
    arms = tuple(
        Arm(str(17 + n), role, str(17 + n), (("search_path", "a b'; rm"),)) for n, role in enumerate(Role)
    )
    campaign = dataclasses.replace(CAMPAIGN, arms=arms, budget_s=3600.0)
    check(
        campaign,
        "pgverdict compare 17.7 18.1 --workload select-only --scale 10 --clients 1"
        """ --set 'search_path=a b'"'"'; rm' --budget 1h --seed 20261121""",
    )
