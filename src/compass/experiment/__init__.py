"""The experiment loop: suggest runs, make them, tell what came out, learn from it."""
