"""The command line: a file per command. Words in, one of the other layers called, an exit code out."""

from pgverdict.cli.app import main

__all__ = ["main"]
