"""Run as a program: keeps rounds in a run until it is killed or has kept as many as it was told.

python -m tests.store.writing URL RUN_ID ROUNDS; says the number of every round that is kept.
"""

import sys

from pgverdict.store.opening import open_store
from tests.store.made import a_round, a_run


def main(url: str, run_id: str, rounds: int) -> None:
    with open_store(url) as store:
        store.begin_run(a_run(run_id))
        for ordinal in range(rounds):
            store.keep_round(run_id, 0, a_round(ordinal % 50))
            print(ordinal, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
