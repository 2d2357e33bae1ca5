"""Choosing the answers: the best first, then different ones that cost little more."""

import numpy as np
from numpy.typing import NDArray

from compass.generate import loss
from compass.generate.base import Arena, Floats
from compass.generate.score import Scored, order

_POOL = 4  # times as many different candidates are looked at as answers are wanted


def preferred(arena: Arena, scored: Scored) -> Scored:
    """Candidates best first.

    Where something is minimised, all that come within the tolerance of the best value count as
    reaching it, and the smallest change among them comes first.
    """
    ranked = scored.take(order(arena, scored))
    if not arena.proximity or not any(t.direction for t in arena.targets) or not len(ranked):
        return ranked
    best = ranked.extreme[0]
    tolerance = arena.settings.search.tolerance * max(abs(float(best)), 1e-12)
    reach = (
        (ranked.violation == ranked.violation[0])
        & (ranked.valid <= ranked.valid[0])
        & (ranked.extreme <= best + tolerance)
    )
    inside = np.flatnonzero(reach)
    inside = inside[np.argsort(ranked.proximity[inside], kind="stable")]
    return ranked.take(np.concatenate([inside, np.flatnonzero(~reach)]))


def pick(arena: Arena, scored: Scored) -> NDArray[np.int64]:
    """Positions in `scored` (best first, as `preferred` gives it) of the answers to return.

    The best one comes first whatever it is. Further ones are different, cheap and, where that can
    be told, near past runs: an alternative that nobody has come close to trying helps nobody.
    """
    if arena.familiar is None or arena.count == 1 or len(scored) < 2:
        chosen = _different(arena, scored, arena.count)
        return np.concatenate([chosen[:1], np.sort(chosen[1:])])
    pool = _different(arena, scored, _POOL * arena.count)
    strange = ~arena.familiar(scored.X[pool])
    strange[0] = False
    kept = pool[np.argsort(strange, kind="stable")][: arena.count]
    return np.concatenate([pool[:1], np.sort(kept[1:])])


def _different(arena: Arena, scored: Scored, count: int) -> NDArray[np.int64]:
    """The best and then, one by one, candidates that differ from those before them.

    Each is at least `distinct` away from the others; among those that cost no more than `budget`
    the most different wins, and only when none is left a dearer one is taken.
    """
    search, weights = arena.settings.search, arena.settings.loss
    if not len(scored):
        return np.empty(0, dtype=np.int64)
    cost = _cost(arena, scored)
    chosen = [0]
    nearest = _apart(arena, scored.X, scored.X[0])
    while len(chosen) < count:
        fits = nearest >= max(search.distinct, 1e-12)
        if not fits.any():
            break
        cheap = fits & (cost <= search.budget)
        if weights.diversity > 0 and cheap.any():
            gain = np.where(cheap, weights.diversity * np.minimum(nearest, 1.0) - cost, -np.inf)
            best = int(np.argmax(gain))
        else:
            best = int(np.argmin(np.where(fits, cost, np.inf)))
        chosen.append(best)
        nearest = np.minimum(nearest, _apart(arena, scored.X, scored.X[best]))
    return np.asarray(chosen, dtype=np.int64)


def _apart(arena: Arena, X: Floats, x: Floats) -> Floats:
    """Distance over the columns that may move, [n]."""
    columns = loss.column_distance(X, x, arena.geometry)[:, arena.movable]
    return np.asarray(columns.sum(axis=1))


def _cost(arena: Arena, scored: Scored) -> Floats:
    """What a candidate costs more than the best one, in standard deviations, [n]."""
    cost = np.maximum(scored.extreme - scored.extreme[0], 0.0)
    cost = cost + np.maximum(scored.valid - scored.valid[0], 0.0)
    if arena.proximity:
        weight = arena.settings.loss.proximity
        cost = cost + weight * np.maximum(scored.proximity - scored.proximity[0], 0.0)
    return np.asarray(cost)
