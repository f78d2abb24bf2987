"""The copies that rounds work on in place: no more of them on disk at once than a share of what was free.

They are made from templates, so the ones that were used longest ago may go and be made again. Where the disk is full
even without them, templates go that the cell at hand does not need, in the same order: docs/campaigns.md#disk.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pgverdict.datasets.template import forget_template, list_templates
from pgverdict.errors import WorldError
from pgverdict.run.listener import Listener
from pgverdict.run.room import Sized, ours, require_room
from pgverdict.servers.home import Home
from pgverdict.servers.marked import remove_tree
from pgverdict.servers.space import free_bytes, show_bytes

SHARE = 0.25
"""Of what was free when the run began; a single cell may take more, if it needs to."""


@dataclass
class Copies:
    """`held`: path to bytes, the one used longest ago first."""

    limit_bytes: int
    held: dict[Path, int] = field(default_factory=dict)

    @classmethod
    def beside(cls, home: Home) -> "Copies":
        """As many as its file system allows."""
        return cls(int(SHARE * free_bytes(home.cache)))

    def fit(self, needed: Mapping[Path, int]) -> bool:
        """Whether these can be there beside those that are."""
        return sum({**needed, **self.held}.values()) <= self.limit_bytes

    def make_room(self, needed: Mapping[Path, int], listener: Listener) -> None:
        """Drop copies until `needed` can be made or held; what is needed stays."""
        while not self.fit(needed) and self._drop_one(needed, listener):
            pass

    def hold(self, path: Path, size: int) -> None:
        """A copy was made, or is used again."""
        self.held.pop(path, None)
        self.held[path] = size

    def require_room(
        self,
        cell: Sized,
        needed: Mapping[Path, int],
        wal_bytes: tuple[int, ...],
        home: Home,
        listener: Listener,
    ) -> None:
        """Make room on the disk for a cell, by what nobody needs now; WorldError if it is too small for it."""
        own = {spec.name for making in cell.makings for spec in ours(making)}
        while True:
            try:
                require_room(cell, _missing(needed), wal_bytes, home)
            except WorldError:
                if not self._drop_one(needed, listener) and not _forget_one(home, own, listener):
                    raise
            else:
                return

    def _drop_one(self, needed: Collection[Path], listener: Listener) -> bool:
        oldest = next((path for path in self.held if path not in needed), None)
        if oldest is None:
            return False
        listener.step(f"removing the copy of {oldest.name}")
        remove_tree(oldest)
        del self.held[oldest]
        return True


def has_room(cell: Sized, needed: Mapping[Path, int], wal_bytes: tuple[int, ...], home: Home) -> bool:
    """Whether the disk holds what a cell still needs, as it is."""
    try:
        require_room(cell, _missing(needed), wal_bytes, home)
    except WorldError:
        return False
    return True


def _missing(copies: Mapping[Path, int]) -> dict[Path, int]:
    return {path: size for path, size in copies.items() if not path.exists()}


def _forget_one(home: Home, own: Collection[str], listener: Listener) -> bool:
    """Delete the template that was used longest ago, unless it is one of the cell's, or what such a one is made of."""
    for template in list_templates(home):
        if not any(name.startswith(template.name) or template.name.startswith(name) for name in own):
            listener.note(
                f"removing the template {template.name} to make room: {show_bytes(template.bytes)},"
                f" last used {template.used:%Y-%m-%d}"
            )
            forget_template(home, template.name)
            return True
    return False
