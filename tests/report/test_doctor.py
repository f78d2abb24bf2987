"""What the doctor found, as it is shown."""

import json

from pgverdict.host.advice import Change, fine, not_known, note, warning
from pgverdict.host.repairs import Step
from pgverdict.report.doctor import doctor_json, doctor_screen

ADVICE = (
    fine("clock source", "tsc"),
    note("turbo", "on", "cores get warm", changes=[Change("/sys/a/no_turbo", "1")]),
    not_known("smt", "this kernel does not say"),
    warning("steal", "7.0 % of all cores", "it was another machine's turn"),
    warning("swappiness", "60", "cold memory", changes=[Change("/proc/sys/vm/swappiness", "1")]),
)
STEPS = (Step("/sys/a/no_turbo", "0", "1"), Step("/proc/sys/vm/swappiness", "60", "1"))


def test_the_worst_comes_first_with_its_reason_and_its_command() -> None:
    screen = doctor_screen(ADVICE, STEPS, fixing=False)

    assert screen == (
        "warning    steal: 7.0 % of all cores\n"
        "           it was another machine's turn.\n"
        "warning    swappiness: 60\n"
        "           cold memory.\n"
        "           $ sudo sysctl -w vm.swappiness=1\n"
        "note       turbo: on\n"
        "           cores get warm.\n"
        "           $ echo 1 | sudo tee /sys/a/no_turbo\n"
        "not known  smt: this kernel does not say\n"
        "fine       clock source: tsc\n"
        "\n"
        "2 warnings, 1 note, 1 not known, 1 fine\n"
        "`sudo pgverdict doctor --fix` sets 2 knobs of the kernel until its next start, `--undo` puts them back\n"
    )


def test_what_is_set_is_shown_knob_by_knob() -> None:
    screen = doctor_screen(ADVICE, STEPS, fixing=True)

    assert screen.endswith(
        "setting /sys/a/no_turbo: 0 -> 1\n"
        "setting /proc/sys/vm/swappiness: 60 -> 1\n"
        "`pgverdict doctor --undo` puts it back\n"
    )
    assert doctor_screen(ADVICE, (), fixing=True).endswith("nothing to set\n")


def test_programs_read_the_same() -> None:
    document = json.loads(doctor_json(ADVICE, STEPS))

    assert document["schema"] == "pgverdict.doctor/1"
    assert [one["check"] for one in document["checks"]] == [
        "clock source",
        "turbo",
        "smt",
        "steal",
        "swappiness",
    ]
    assert document["checks"][4] == {
        "check": "swappiness",
        "level": "warning",
        "found": "60",
        "why": "cold memory",
        "command": "sudo sysctl -w vm.swappiness=1",
        "fixable": True,
    }
    assert document["steps"][1] == {"path": "/proc/sys/vm/swappiness", "now": "60", "value": "1"}
