"""What was measured, as frozen values: made by `conduct`, kept by `store`, read by `judge`. Pure.

Raw observations only. Effects, intervals and verdicts are derived from these by `judge`, at any time
and always with the same result.
"""
