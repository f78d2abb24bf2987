"""Numbers in, verdicts out. Pure: numpy and scipy, no file, no clock, no randomness of its own."""
