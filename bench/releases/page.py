"""From attempts to the page. Pure."""

from collections.abc import Sequence

from pgverdict.servers.release import major_of_version, spell_major

from .attempts import ROUNDS, SCALE, Attempt

HEAD = """# Releases

Which release was obtained how, and ran which workload: each against itself, scale {scale}, {rounds} rounds of every
cell, one client. Made by `./x bench releases` from what it recorded in bench/results/releases.

Measured {date}, revision {revision}.
"""


def page(attempts: Sequence[Attempt], workloads: Sequence[str], *, date: str, revision: str) -> str:
    """Markdown; a cell says how many rounds were measured."""
    lines = [HEAD.format(scale=SCALE, rounds=ROUNDS, date=date, revision=revision)]
    lines.append(f"| release | obtained | version | {' | '.join(workloads)} |")
    lines.append("|---" * (3 + len(workloads)) + "|")
    for one in sorted(attempts, key=_age):
        cells = [_cell(one.measured.get(name)) for name in workloads]
        lines.append(f"| {_major(one)} | {one.obtained} | {one.version or '-'} | {' | '.join(cells)} |")
    stories = [one for one in attempts if one.story is not None]
    if stories:
        lines.append("\nWhat did not run:\n")
        lines += [f"- {_major(one)} {one.obtained}: {' '.join((one.story or '').split())}" for one in stories]
    return "\n".join(lines) + "\n"


def _cell(rounds: int | None) -> str:
    return "failed" if not rounds else f"{rounds} rounds"


def _major(one: Attempt) -> str:
    return one.release or spell_major(major_of_version(one.version))


def _age(one: Attempt) -> tuple[list[int], str]:
    digits = [int(part) for part in _major(one).split(".") if part.isdigit()]
    return digits, one.obtained
