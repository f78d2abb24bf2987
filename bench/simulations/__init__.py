"""How often verdicts are wrong and how long they take: thousands of campaigns whose truth is known."""
