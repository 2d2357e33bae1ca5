"""Whose turn it is: members propose more often the more they found."""

import math
from collections.abc import Mapping, Sequence

from compass.acquire.loop.ask import Ask
from compass.acquire.loop.members import FOREST, SMOOTH, STEPPED
from compass.settings import LoopSettings

# Of the turns before anything was found: the processes find most, and the forest is another way
# out where both are sure of the wrong thing (decision 0044).
_SHARE = {SMOOTH: 0.45, STEPPED: 0.40, FOREST: 0.15}
_PRIOR = 1.0  # what every member is taken to have found, in standard deviations of the outcomes


def members_of(settings: LoopSettings) -> tuple[str, ...]:
    """The members that are switched on."""
    on = {SMOOTH: settings.smooth, STEPPED: settings.stepped, FOREST: settings.forest}
    return tuple(name for name, used in on.items() if used) or (SMOOTH,)


def credits_of(ask: Ask) -> dict[str, float]:
    """The share of the turns of every member, larger where its runs made the best better."""
    members = members_of(ask.problem.settings)
    found = dict.fromkeys(members, 0.0)
    if ask.problem.settings.credit:
        for name, gain in zip(ask.seen.member, _gained(ask), strict=True):
            if name in found:
                found[name] += gain
    worth = {name: _SHARE[name] * (_PRIOR + found[name]) for name in members}
    total = sum(worth.values())
    return {name: own / total for name, own in worth.items()}


def _gained(ask: Ask) -> list[float]:
    """By how much each run [n] made the best better, in standard deviations of the outcomes."""
    outcomes, best = ask.outcomes, math.inf
    found: list[float] = []
    for value in ask.seen.counted.tolist():
        own = math.inf if math.isnan(value) else outcomes.standardised(value)
        found.append(best - own if own < best < math.inf else 0.0)
        best = min(best, own)
    return found


def turn(shares: Mapping[str, float], made: Sequence[str]) -> str:
    """The member that is furthest behind its share of what was proposed."""
    count = sum(name in shares for name in made) + 1
    behind = {name: share * count - made.count(name) for name, share in shares.items()}
    return max(behind, key=lambda name: behind[name])
