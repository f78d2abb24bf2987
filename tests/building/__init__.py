"""Real builds from Debian's source packages, which take minutes: `./x test -m building tests/building`.

CI runs them by themselves.
"""
