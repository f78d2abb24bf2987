"""Which core a client and its backend share."""

from pgverdict.conduct.placement import Placement, place


def test_there_are_never_more_threads_than_clients_or_cores() -> None:
    assert place(1).threads == 1
    assert place(1000).threads == len(place(1000).cpus)


def test_a_client_its_thread_and_its_backend_share_a_core() -> None:
    placement = Placement(threads=2, cpus=(4, 6))

    assert [placement.cpu_of(client) for client in range(4)] == [4, 6, 4, 6]
