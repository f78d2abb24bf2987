"""A program called docker whose only container is a server that a test runs: what it is told, it notes in a file.

FAKE_DOCKER_LOG      where every command line is noted, as JSON, with the password that came by the environment
FAKE_DOCKER_PORT     the TCP port of the server, FAKE_DOCKER_SOCKETS the directory of its socket
FAKE_DOCKER_ENDS     what the container's log says, where its server is to have ended by itself
"""

import json
import os
import sys
from pathlib import Path

import psycopg
from psycopg import sql


def main(words: list[str]) -> int:
    said = {"words": words, "password": os.environ.get("POSTGRES_PASSWORD")}
    log = Path(os.environ["FAKE_DOCKER_LOG"])
    with log.open("a") as file:
        file.write(json.dumps(said) + "\n")
    told = [json.loads(line)["words"] for line in log.read_text().splitlines()]
    names = {line[line.index("--name") + 1] for line in told if line[0] == "run"}
    names -= {line[-1] for line in told if line[0] == "rm"}
    match words[0]:
        case "run":
            _take_password(os.environ["POSTGRES_PASSWORD"])
            print("0123456789ab")
        case "port":
            print(f"127.0.0.1:{os.environ['FAKE_DOCKER_PORT']}")
        case "inspect":
            print("false" if "FAKE_DOCKER_ENDS" in os.environ else "true")
        case "logs":
            print(os.environ.get("FAKE_DOCKER_ENDS", ""), file=sys.stderr)
        case "ps":
            print("\n".join([*sorted(names), "somebody-elses"]))
    return 0


def _take_password(password: str) -> None:
    """As the image does when it makes its cluster."""
    with psycopg.connect(
        host=os.environ["FAKE_DOCKER_SOCKETS"],
        port=int(os.environ["FAKE_DOCKER_PORT"]),
        user="postgres",
        dbname="postgres",
        autocommit=True,
    ) as connection:
        connection.execute(sql.SQL("ALTER ROLE postgres PASSWORD {}").format(sql.Literal(password)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
