"""pgverdict: is this PostgreSQL slower than that one, by how much, how surely?

The package is one line of data flow, a folder per stage; ARCHITECTURE.md is its map.
"""

__version__ = "0.1.0"
