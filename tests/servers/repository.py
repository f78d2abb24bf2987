"""A Maven repository to play with: a directory, and a loopback server that can misbehave."""

import hashlib
import io
import socket
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from pgverdict.servers import maven


class Repository:
    """Published packages below `root`, in Maven's layout. They hold a "PostgreSQL" that only says its version."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root.joinpath(*maven.GROUP.split("."), maven.artifact())
        self.project.mkdir(parents=True)
        self.packages: list[str] = []

    @property
    def address(self) -> str:
        return self.root.as_uri()

    def publish(self, *packages: str) -> None:
        for package in packages:
            jar = self.jar(package)
            jar.parent.mkdir()
            jar.write_bytes(make_jar(package))
            self.digest(package).write_text(hashlib.sha512(jar.read_bytes()).hexdigest())
        self.list(*self.packages, *packages)

    def list(self, *packages: str) -> None:
        """Say that there are these packages, whether they are there or not."""
        self.packages = [*packages]
        versions = "".join(f"<version>{package}</version>" for package in packages)
        (self.project / "maven-metadata.xml").write_text(
            f"<metadata><groupId>{maven.GROUP}</groupId><artifactId>{maven.artifact()}</artifactId>"
            f"<versioning><versions>{versions}</versions></versioning></metadata>"
        )

    def jar(self, package: str) -> Path:
        return self.project / package / f"{maven.artifact()}-{package}.jar"

    def digest(self, package: str) -> Path:
        jar = self.jar(package)
        return jar.with_name(jar.name + ".sha512")


def make_jar(package: str) -> bytes:
    """A package whose programs are shell scripts."""
    version = ".".join(package.split("-")[0].split(".")[: 3 if package.startswith("9.") else 2])
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:xz") as tar:
        for name in ("postgres", "initdb"):
            program = f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n".encode()
            entry = tarfile.TarInfo(f"bin/{name}")
            entry.size, entry.mode = len(program), 0o700
            tar.addfile(entry, io.BytesIO(program))
    jar = io.BytesIO()
    with zipfile.ZipFile(jar, "w") as package_file:
        package_file.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
        package_file.writestr("postgres-linux-x86_64.txz", archive.getvalue())
    return jar.getvalue()


@contextmanager
def serve(repository: Repository, *, cut_jars: bool = False) -> Iterator[str]:
    """The repository over HTTP on loopback; gives its address. `cut_jars`: the line drops in the middle of one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = repository.root / self.path.lstrip("/")
            if not path.is_file():
                self.send_error(404)
                return
            content = path.read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            cut = cut_jars and path.suffix == ".jar"
            self.wfile.write(content[: len(content) // 2] if cut else content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def nobody_listens() -> str:
    """An address on which every connection is refused."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"
