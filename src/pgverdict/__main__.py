"""`python -m pgverdict`."""

from pgverdict.cli import main

main()
