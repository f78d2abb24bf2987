"""Source packages of Debian, fetched with the machine's apt; its own lists of packages stay as they are."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class NoDebianError(Exception):
    """This machine's apt knows no Debian."""


def fetch_tarball(package: str, suite: str, into: Path) -> Path:
    """The upstream tarball of a source package, checked by apt; the one that is there already, if one is."""
    into.mkdir(parents=True, exist_ok=True)
    if there := sorted(into.glob(f"{package}_*.orig.tar.*")):
        return there[-1]
    addresses = _addresses()
    if not addresses:
        raise NoDebianError("run apt-get update first")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        (folder / "sources.list").write_text(f"deb-src [signed-by={KEYRING}] {addresses[0]} {suite} main\n")
        (folder / "apt.conf").write_text(
            f'Dir::State::Lists "{folder}/lists";\nDir::Cache "{folder}/cache";\n'
            f'Dir::Etc::SourceList "{folder}/sources.list";\nDir::Etc::SourceParts "/dev/null";\n'
        )
        environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf")}
        for command in (["update", "-qq"], ["source", "-qq", "--download-only", package]):
            subprocess.run(["apt-get", *command], cwd=folder, env=environment, check=True)
        [archive] = folder.glob("*.orig.tar.*[!c]")
        kept = into / archive.name
        temporary = kept.with_name(f".{kept.name}")
        temporary.write_bytes(archive.read_bytes())
        temporary.replace(kept)
        kept.chmod(0o644)
    return kept


def _addresses() -> list[str]:
    """Where this machine's apt gets Debian's packages from."""
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)"]
    try:
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise NoDebianError("there is no apt-get that answers") from error
    return sorted(set(re.findall(r"^Debian (\S+)$", told, re.MULTILINE)), key=len)
