"""The arms of a campaign: which servers they are, what they are called, and what each is given.

They are made of what the user wrote: `[NAME=]SERVER`, and settings that are for all arms or for some.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from pgverdict.errors import UserError, unknown_word
from pgverdict.spec.spelling import Outside, read_spelling, split_name


class Role(Enum):
    """The first arm is what the others are held against."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"


@dataclass(frozen=True)
class Arm:
    """One server under test. `server` is the spelling that says where it comes from (`spec.spelling`)."""

    name: str
    role: Role
    server: str
    settings: tuple[tuple[str, str], ...] = ()
    handicap_ns: int = 0
    """A known slow-down: the server spins so long for every message it receives from a client."""
    optional: tuple[str, ...] = ()
    """The settings that are left out where the server does not know them. None, once its build was inspected."""
    origins: tuple[tuple[str, str], ...] = ()
    """Where settings come from that the user did not give: (name, value of an `Origin`)."""
    data_directory: str | None = None
    """A directory of the user's, below which the arm's data is put while it is measured; None: the cache."""
    wal_directory: str | None = None
    """The same for its WAL; None: in its data directory."""

    @property
    def given(self) -> tuple[tuple[str, str], ...]:
        """The settings that the user gave."""
        made = dict(self.origins)
        return tuple((name, value) for name, value in self.settings if name not in made)


class Origin(Enum):
    """Where a setting comes from."""

    GIVEN = "given"
    TUNED = "tuned"
    ALIGNED = "aligned"


def name_arms(servers: tuple[str, ...]) -> tuple[str, ...]:
    """Arm names: those that were given, else from server spellings; a repeated one is numbered.

    >>> name_arms(("17", "17", "new=17"))
    ('17', '17#2', 'new')
    >>> name_arms(("dsn:postgresql://me@db.example/app", "dsn:postgresql://me@db.example/other"))
    ('db.example', 'db.example#2')
    """
    names: list[str] = []
    unnamed: list[str] = []
    for text in servers:
        given, server = split_name(text)
        asked = read_spelling(server)
        called = asked.place if isinstance(asked, Outside) else server
        count = unnamed.count(called)
        name = given or (called if count == 0 else f"{called}#{count + 1}")
        unnamed += [] if given else [called]
        if name in names or name in (role.value for role in Role):
            raise UserError(
                f"not a name of its own for an arm: {name}", hint="write NAME=SERVER, each name once"
            )
        names.append(name)
    return tuple(names)


def make_arms(
    servers: tuple[str, ...], settings: tuple[tuple[str | None, str, str], ...] = ()
) -> tuple[Arm, ...]:
    """The arms of a comparison, from `[NAME=]SERVER` each.

    A setting addresses all arms, a role (`candidate` is all candidates), or an arm's name; what is said of one arm
    goes before what is said of all, in whatever order. The same setting twice for the same arm is an error. A name
    that ends in a question mark is optional: `spec.quantities.setting`.
    """
    spelled = [split_name(text)[1] for text in servers]
    for server in spelled:
        read_spelling(
            server
        )  # what means nothing is found before anything is done, and a secret before it is repeated
    names = name_arms(servers)
    roles = (Role.BASELINE,) + (Role.CANDIDATE,) * (len(servers) - 1)
    addresses = {role.value for role in roles} | set(names)
    for address, _, _ in settings:
        if address is not None and address not in addresses:
            raise unknown_word("arm in --set", address, addresses)
    general = _once([(name, value) for address, name, value in settings if address is None], "all arms")
    arms = []
    for arm_name, role, server in zip(names, roles, spelled, strict=True):
        own = [(name, value) for address, name, value in settings if address in (role.value, arm_name)]
        chosen = general | _once(own, arm_name)
        arms.append(
            Arm(
                arm_name,
                role,
                server,
                tuple((name, value) for name, (value, _) in sorted(chosen.items())),
                optional=tuple(name for name, (_, optional) in sorted(chosen.items()) if optional),
            )
        )
    return tuple(arms)


def read_replacements(texts: Sequence[str]) -> dict[str, str]:
    """Servers by the arms in whose places they are measured, from `NAME=SERVER` each.

    >>> read_replacements(["15.4=15.7", "v12=source:12.22"])
    {'15.4': '15.7', 'v12': 'source:12.22'}
    """
    servers: dict[str, str] = {}
    for text in texts:
        name, sign, server = text.partition("=")
        if not (name and sign and server):
            raise UserError(f"no arm and no server for it: {text}", hint="write NAME=SERVER")
        if name in servers:
            raise UserError(
                f"two servers in the place of {name}: {servers[name]} and {server}", hint="leave one out"
            )
        read_spelling(server)
        servers[name] = server
    return servers


def replace_servers(arms: tuple[Arm, ...], servers: Mapping[str, str]) -> tuple[Arm, ...]:
    """The arms with other servers in the places of these, by name. An arm that was given a name keeps it, and all keep
    their settings; one that is called as its server is, is called as the other one is. UserError if there is no such
    arm."""
    for name in servers:
        if name not in [arm.name for arm in arms]:
            raise unknown_word("arm in --arm", name, [arm.name for arm in arms])
    others = [servers.get(arm.name, arm.server) for arm in arms]
    names = name_arms(spell_arms([(arm.name, arm.server) for arm in arms], others))
    return tuple(
        replace(arm, name=name, server=server) for arm, name, server in zip(arms, names, others, strict=True)
    )


def spell_arms(arms: Sequence[tuple[str, str]], servers: Sequence[str]) -> tuple[str, ...]:
    """`[NAME=]SERVER` of arms, of which name and server are given, with these servers in place of theirs: with the
    names that arms were given, and without those that they have from their servers.

    >>> spell_arms([("17", "17"), ("mine", "18")], ["17.11", "18.6"])
    ('17.11', 'mine=18.6')
    """
    were_called = name_arms(tuple(server for _, server in arms))
    return tuple(
        other if name == called else f"{name}={other}"
        for (name, _), called, other in zip(arms, were_called, servers, strict=True)
    )


def find_arms(arms: tuple[Arm, ...], address: str | None, *, where: str) -> tuple[int, ...]:
    """The numbers of the arms with that name or role; all candidates if none is said."""
    wanted = address or Role.CANDIDATE.value
    found = tuple(number for number, arm in enumerate(arms) if wanted in (arm.name, arm.role.value))
    if not found:
        raise unknown_word(
            f"arm in {where}", wanted, {arm.name for arm in arms} | {role.value for role in Role}
        )
    return found


def _once(settings: list[tuple[str, str]], whom: str) -> dict[str, tuple[str, bool]]:
    """Name to value, and whether it may be left out."""
    chosen: dict[str, tuple[str, bool]] = {}
    for given, value in settings:
        name = given.removesuffix("?")
        if name in chosen:
            raise UserError(
                f"the setting {name} is given twice for {whom}: {chosen[name][0]} and {value}",
                hint="leave one out",
            )
        chosen[name] = (value, given.endswith("?"))
    return chosen
