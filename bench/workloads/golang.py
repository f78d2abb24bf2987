"""Programs from the Go module proxy, built once into the home's cache. Nothing of them is committed."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pgverdict.errors import WorldError
from pgverdict.servers.home import Home

BUILD_S = 900.0


@dataclass(frozen=True)
class GoProgram:
    """A command of a module, at a version; go checks what it downloads against its checksum database."""

    name: str
    module: str
    version: str
    package: str

    def ready(self) -> str:
        """Its version, when it is built."""
        self.built()
        return f"{self.name} {self.version}"

    def built(self) -> Path:
        """The program; WorldError where it cannot be built."""
        place = Home.find().cache / "bench-go" / f"{self.name}-{self.version}"
        program = place / self.name
        if program.exists():
            return program
        go = shutil.which("go")
        if go is None:
            raise WorldError(f"there is no go in PATH to build {self.name} with", hint="https://go.dev/dl")
        place.mkdir(parents=True, exist_ok=True)
        # A module of our own: `go install` would ask the proxy for all versions, which not every proxy tells.
        (place / "go.mod").write_text(f"module bench\n\ngo 1.21\n\nrequire {self.module} {self.version}\n")
        made = place / f"{self.name}.new"
        done = subprocess.run(
            [go, "build", "-mod=mod", "-o", made, self.package],
            cwd=place,
            env={**os.environ, "GOPATH": str(place / "path"), "GOFLAGS": "-modcacherw"},
            capture_output=True,
            text=True,
            timeout=BUILD_S,
            check=False,
        )
        if done.returncode:
            raise WorldError(f"cannot build {self.name} {self.version}: {done.stderr.strip()[-500:]}")
        made.rename(program)
        return program
