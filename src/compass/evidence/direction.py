"""Which way an outcome is usually wanted."""

from compass.domain.front import Direction

_MORE_IS_BETTER = ("flop", "throughput", "bandwidth", "speed", "efficien", "accuracy", "per_s")


def usual_direction(name: str) -> Direction:
    """Which way an outcome is usually wanted, by its name; a guess, where nobody has said it."""
    folded = name.casefold()
    return "maximize" if any(part in folded for part in _MORE_IS_BETTER) else "minimize"
