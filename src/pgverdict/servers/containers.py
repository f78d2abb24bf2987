"""Containers: the server of an image, started once for a run on a port of this host, and gone with the run.

The program that is asked is `docker`, or `podman`, whichever answers. What it starts is no child of ours, so a
supervisor removes it if we are killed, and the next run what both could not: it carries our label and the host's name.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass

from pgverdict.errors import UserError, WorldError
from pgverdict.servers.interruption import shield
from pgverdict.servers.settings import blame_settings
from pgverdict.servers.stay import Stay
from pgverdict.servers.supervisor import Supervisor

PROGRAMS = ("docker", "podman")
LABEL = "pgverdict.host"
READY_S_MAX = 120.0
"""An image makes its cluster before it listens, on whatever disk it has."""

_PORT = "5432/tcp"
_POLL_S = 0.1
_NAME = re.compile(r"pgverdict-[0-9a-f]{12}")


@dataclass(frozen=True)
class Container:
    """One that runs. Its server is reached by `stay`."""

    program: str
    name: str
    stay: Stay

    def remove(self) -> None:
        """Leave it, and have it stopped and removed with its data."""
        with shield():
            self.stay.leave()
            _ask(self.program, "rm", "--force", "--volumes", self.name)


def find_program() -> str:
    """The program whose engine answers; WorldError if none does."""
    stories = []
    for program in PROGRAMS:
        if shutil.which(program) is None:
            stories.append(f"{program} is not on PATH")
            continue
        done = _run(program, "info")
        if done.returncode == 0:
            return program
        stories.append(f"{program} info: {_last(done.stderr)}")
    raise WorldError(
        f"no container engine answers: {'; '.join(stories)}",
        hint="start one, or name a server that needs none",
    )


def run_image(image: str, settings: Mapping[str, str], host: str, supervisor: Supervisor) -> Container:
    """Start the image's server with these settings, and wait until it answers.

    UserError for a setting it refuses. The image is to behave as PostgreSQL's own: POSTGRES_PASSWORD is that of
    `postgres`, and options behind its name are the server's.
    """
    program = find_program()
    name, password = f"pgverdict-{secrets.token_hex(6)}", secrets.token_urlsafe(24)
    supervisor.revive()
    supervisor.run_at_end([shutil.which(program) or program, "rm", "--force", "--volumes", name])
    told = {"shared_preload_libraries": "pg_stat_statements", **settings}
    options = [word for setting, value in told.items() for word in ("-c", f"{setting}={value}")]
    begun = False
    try:
        _ask(
            program, "run", "--detach", "--name", name, "--label", f"{LABEL}={host}",
            # Its value comes by our environment: a command line is seen by everybody.
            "--env", "POSTGRES_PASSWORD", "--publish", "127.0.0.1::5432", image, *options,
            environment={"POSTGRES_PASSWORD": password},
        )  # fmt: skip
        begun = True
        return Container(program, name, _await(program, name, password, told))
    except BaseException:
        with shield(), contextlib.suppress(WorldError):
            if begun:
                _ask(program, "rm", "--force", "--volumes", name)
        raise


def sweep_containers(host: str) -> list[str]:
    """Remove the containers of killed runs of this host; to be called while no other run measures here."""
    program = find_program()
    listed = _ask(program, "ps", "--all", "--filter", f"label={LABEL}={host}", "--format", "{{.Names}}")
    remains = [name for name in listed.split() if _NAME.fullmatch(name)]
    for name in remains:
        _ask(program, "rm", "--force", "--volumes", name)
    return [f"found containers of killed runs: removed {', '.join(remains)}"] if remains else []


def _await(program: str, name: str, password: str, settings: Mapping[str, str]) -> Stay:
    deadline = time.monotonic() + READY_S_MAX
    while True:
        if not json.loads(_ask(program, "inspect", "--format", "{{json .State.Running}}", name)):
            said = _last(_log(program, name), 5)
            raise blame_settings(said, settings) or WorldError(
                f"the server of container {name} ended: {said}"
            )
        try:
            place = _ask(program, "port", name, _PORT).split()[0]
            return Stay(
                f"postgresql://postgres@{place}/postgres?sslmode=disable", password, started_for_us=True
            )
        except UserError:
            raise
        except (WorldError, IndexError) as error:
            if time.monotonic() > deadline:
                raise WorldError(
                    f"the server of container {name} did not answer in time: {error}; {_last(_log(program, name), 3)}"
                ) from None
        time.sleep(_POLL_S)


def _log(program: str, name: str) -> str:
    done = _run(program, "logs", "--tail", "20", name)
    return f"{done.stdout}\n{done.stderr}"


def _ask(program: str, *words: str, environment: Mapping[str, str] | None = None) -> str:
    done = _run(program, *words, environment=environment)
    if done.returncode:
        raise WorldError(f"{program} {words[0]} failed: {_last(done.stderr) or 'it said nothing'}")
    return done.stdout


def _run(
    program: str, *words: str, environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [program, *words],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
    )


def _last(text: str, lines: int = 1) -> str:
    return "; ".join([line.strip() for line in text.splitlines() if line.strip()][-lines:])
