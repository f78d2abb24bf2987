"""From the spelling of a server to an install that can be started, wherever it comes from."""

from collections.abc import Callable

from pgverdict.errors import UserError
from pgverdict.servers.account import Account
from pgverdict.servers.build import obtain_built
from pgverdict.servers.found import obtain_installed
from pgverdict.servers.home import Home
from pgverdict.servers.install import Install, note_use, obtain_published
from pgverdict.servers.maven import Progress
from pgverdict.spec.spelling import Image, Installed, Outside, Published, read_spelling


def obtain(
    spelling: str,
    home: Home,
    *,
    copy: int = 1,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
    account: Account | None = None,
) -> Install:
    """The install that a spelling means (`spec.spelling`): found, else fetched, copied or built.

    `copy` tells separate installs of one build apart. `say` is told of what takes minutes.
    """
    asked = read_spelling(spelling)
    match asked:
        case Published():
            found = obtain_published(asked.release, home, copy=copy, progress=progress, account=account)
        case Installed():
            found = obtain_installed(asked, home, copy=copy, account=account)
        case Outside() | Image():
            raise UserError(
                f"there is no install of a server that is only connected to: {spelling}",
                hint="only `pgverdict compare` takes one",
            )
        case _:
            found = obtain_built(asked, home, copy=copy, progress=progress, say=say, account=account)
    note_use(found, home)
    return found
