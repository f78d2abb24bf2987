"""What the load engine costs, beside pgbench, in the same run on the same server.

cases.py      what is run, and the goal it is held against
programs.py   a program, run once: what it said and what it used
places.py     the servers: one that does nothing, and a real one
stall.py      a server that stands still for half a second, and what is said of it
figures.py    from the runs to the table
__main__.py   the command: ./x bench engine
"""
