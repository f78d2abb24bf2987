"""From cells to rounds to slices, in a seeded, balanced order; and how a budget is spent. Pure."""
