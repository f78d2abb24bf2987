"""Which releases run which workloads: every supported one, obtained in every way this host offers, really run.

attempts.py   what is tried, and what became of it
page.py       from the attempts to the page
__main__.py   the command: ./x bench releases
"""
