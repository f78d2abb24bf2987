"""Where the scatter between rounds comes from, and what takes it away.

treatments.py   what is done to the servers, and whether it can be here
table.py        what the rounds under each treatment say
__main__.py     the command: ./x bench levels

Runs, files and the split of the scatter are those of `bench.verdicts`.
"""
