"""A round from start to finish: servers started, warmed, measured in slices, stopped."""
