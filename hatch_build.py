"""Puts the programs written in Rust into the wheel, where the package looks for them: beside `pgverdict.engine`.

cargo builds them, as `./x setup` does; without cargo there is no wheel, since a package without its engine measures
nothing. An editable install is left alone: it uses what the checkout has built.
"""

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ("pgverdict-engine", "pgverdict-pgbench", "libpgverdict_handicap.so")


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc, type-arg]
    """Found by hatchling under this name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, and add what was built to a wheel of this platform."""
        if self.target_name != "wheel" or version == "editable":
            return
        if shutil.which("cargo") is None:
            raise RuntimeError(
                "cargo is not on PATH, and the load engine is written in Rust\nhint: install Rust, for example with"
                " rustup"
            )
        root = Path(self.root)
        # All of the workspace, as `./x` builds it: of a part of it, crates would be built anew with other features.
        subprocess.run(["cargo", "build", "--release", "--locked"], cwd=root, check=True)
        built = _target(root) / "release"
        for program in PROGRAMS:
            build_data["force_include"][str(built / program)] = f"pgverdict/engine/{program}"
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"


def _target(root: Path) -> Path:
    """Where cargo builds: not always below the checkout."""
    metadata = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=root, check=True, capture_output=True
    )
    return Path(json.loads(metadata.stdout)["target_directory"])
