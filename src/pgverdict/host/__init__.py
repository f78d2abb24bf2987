"""Is this host fit to measure? What its kernel shows, what that means for a comparison, and what may be changed.

    advice = examine(read_facts(Tree(), home.cache), layout_obstacle)

A module for each subject holds its facts, how they are read below a root directory, and its checks, which are
functions of the facts and of nothing else. What the host does not show is None in the
facts, and "not known" in what is said.
"""
