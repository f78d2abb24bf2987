"""How soon, and how truly, the product comes to its verdicts: measured live, with raw data to redo every figure from.

    lines       what is measured: one promise a line, its goal beside it
    recorded    a repetition as a file, and back
    taken       from a run of the product to a repetition
    injection   how much slow-down an injected share is
    measure     one repetition after the other
    figures     from repetitions to the table
    resampling  thousands of runs made of recorded rounds
    noise       what rounds scatter by
    recovery    whether an injected slow-down is found as large as it is
    page        all of it as Markdown

Only `recorded` and `measure` touch the world.
"""
