"""How the kernel hands out memory: page sizes, swapping, promises."""

from dataclasses import dataclass

from pgverdict.host.advice import Advice, Change, fine, not_known, note, warning
from pgverdict.host.tree import Tree, chosen

_THP = "/sys/kernel/mm/transparent_hugepage/enabled"
_SWAPPINESS = "/proc/sys/vm/swappiness"
_OVERCOMMIT = "/proc/sys/vm/overcommit_memory"

SWAPPINESS_FINE = 10
"""Up to here the kernel swaps only when hardly any page cache is left to give back; its default is 60."""


@dataclass(frozen=True)
class Memory:
    """None: not shown. Sizes in bytes, huge pages counted."""

    thp: str | None
    huge_pages: int | None
    huge_pages_free: int | None
    swap_bytes: int | None
    swap_free_bytes: int | None
    swappiness: int | None
    overcommit: int | None


def read_memory(tree: Tree) -> Memory:
    info = meminfo(tree)
    return Memory(
        thp=chosen(tree.text(_THP)),
        huge_pages=info.get("HugePages_Total"),
        huge_pages_free=info.get("HugePages_Free"),
        swap_bytes=info.get("SwapTotal"),
        swap_free_bytes=info.get("SwapFree"),
        swappiness=tree.number(_SWAPPINESS),
        overcommit=tree.number(_OVERCOMMIT),
    )


def meminfo(tree: Tree) -> dict[str, int]:
    """/proc/meminfo: bytes, or pieces where it counts."""
    found = {}
    for line in (tree.text("/proc/meminfo") or "").splitlines():
        name, _, rest = line.partition(":")
        number, *unit = rest.split()
        found[name] = int(number) * (1024 if unit == ["kB"] else 1)
    return found


def check_thp(facts: Memory) -> Advice:
    """Whether the kernel decides by itself which memory gets huge pages."""
    check = "transparent huge pages"
    if facts.thp is None:
        return not_known(check, "this kernel does not say")
    if facts.thp != "always":
        return fine(check, facts.thp)
    why = (
        "the kernel puts memory of a server on huge pages where it finds some, and collects more in the background:"
        " which start has them is luck. PostgreSQL does not ask for them (madvise), so `madvise` is as good as"
        " `never`, and leaves programs alone that do"
    )
    return warning(check, "always", why, changes=[Change(_THP, "madvise")])


def check_huge_pages(facts: Memory) -> Advice:
    """Whether one arm may get the huge pages that the other misses."""
    check = "huge pages"
    if facts.huge_pages is None:
        return not_known(check, "this kernel does not count them")
    if facts.huge_pages == 0:
        return fine(check, "none reserved: no arm has any")
    why = (
        "servers take huge pages where enough are free and go without where not (huge_pages=try). If there are"
        " enough for one server and not for all, the arm that is started first has them. Its turn to be first is"
        " drawn, but rounds then come in two kinds. With huge_pages=on a server that gets none fails instead"
    )
    return warning(
        check,
        f"{facts.huge_pages} reserved, {facts.huge_pages_free} of them free",
        why,
        "pgverdict compare ... --set huge_pages=on",
    )


def check_swappiness(facts: Memory) -> Advice:
    """Whether the memory of an arm that waits for its turn may be swapped out."""
    check = "swappiness"
    if facts.swap_bytes is None or facts.swappiness is None:
        return not_known(check, "this kernel does not say")
    if facts.swap_bytes == 0:
        return fine(check, f"{facts.swappiness}, and there is no swap")
    if facts.swappiness <= SWAPPINESS_FINE:
        return fine(check, str(facts.swappiness))
    used = facts.swap_bytes - (facts.swap_free_bytes or 0)
    why = (
        "an arm that waits for its turn has the coldest memory on the host, which is what is swapped out to keep files"
        " cached. It pays when its turn comes and the other does not, so this does not cancel"
    )
    found = f"{facts.swappiness}, with {'swap in use' if used > 0 else 'swap not in use so far'}"
    return warning(check, found, why, changes=[Change(_SWAPPINESS, "1")])


def check_overcommit(facts: Memory) -> Advice:
    """Whether a server may be refused memory that there is."""
    check = "overcommit"
    if facts.overcommit is None:
        return not_known(check, "this kernel does not say")
    if facts.overcommit != 2:
        return fine(check, f"{facts.overcommit}: {('heuristic', 'always')[facts.overcommit]}")
    why = (
        "memory is refused once enough is promised, used or not. An arm that asks for more than the other (more shared"
        " memory, more workers) then fails where it would have run: a failed round, blamed on it, and no slow one"
    )
    return note(check, "2: never more than is there", why, "sudo sysctl -w vm.overcommit_memory=0")
