"""The entry.

All else is imported when interruptions are already met: that takes longer than many a Ctrl-C.
"""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit."""
    try:
        from pgverdict.servers import interruption

        interruption.install()
        from pgverdict.cli.exits import leave, run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        from pgverdict.cli.exits import interrupted, leave

        code = interrupted()
    leave(code)
