"""Several outcomes at once: the trade-offs between them, how good they are, what to run next."""
