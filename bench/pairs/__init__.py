"""How many pairs a round on fresh copies should have, from rounds that had many.

table.py        what the first n pairs of each recorded round say
__main__.py     the command: ./x bench pairs
"""
