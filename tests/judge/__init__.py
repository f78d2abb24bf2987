"""Tests of `pgverdict.judge`, with the makers of rounds they share: made by hand, simulated, recorded."""
