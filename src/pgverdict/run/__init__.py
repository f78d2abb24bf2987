"""One execution of a campaign: arms prepared, rounds conducted, kept and judged until decided or out of budget."""
