"""What our workloads cost the client, beside the programs that others use for them, in the same run on the same server.

case.py       what a case is: two sides, figures, goals
tpcc.py       cases of workloads beside their rival; so ycsb.py, sysbench.py, inserting.py (pgbench), copying.py (COPY)
ours.py       our side: the engine, driven as rounds drive it
golang.py     rivals from the Go module proxy, built into a cache
recorded.py   what is kept of a case, and what may be added to it
figures.py    from the runs to the table
page.py       from what is kept to docs/workloads/README.md
__main__.py   the command: ./x bench workloads
"""
