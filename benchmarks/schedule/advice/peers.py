"""What others would ask for, from what had ended before: factors, maxima, and types of predictors.

Each keeps the last 30 jobs of a user's application, else (where there are none) of the user, and
falls back on the request. Written after the published descriptions; none of it is their code.
"""

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Sequence

import numpy as np

from compass.schedule.advice.jobs import Floats, Jobs, application_of

# (need, asked) of past jobs, the latest last, and what is asked for now; None: no opinion.
Predictor = Callable[[Sequence[tuple[float, float]], float], float | None]

_LAST = 30
_CORRELATED = 0.3


def last_12(past: Sequence[tuple[float, float]], asked: float) -> float | None:
    """1.2 x the last use, the rule of jobstats."""
    del asked
    return 1.2 * past[-1][0] if past else None


def largest_5(past: Sequence[tuple[float, float]], asked: float) -> float | None:
    """The largest of the last five."""
    del asked
    return max(need for need, _ in past[-5:]) if past else None


def ponder(past: Sequence[tuple[float, float]], asked: float) -> float | None:
    """Ponder's type: a line over the size, or the mean, and the largest miss on top."""
    if len(past) < 3:
        return None
    need, size = np.array(past).T
    predicted, now = np.full(len(need), need.mean()), float(need.mean())
    sized = bool(np.isfinite(size).all() and np.isfinite(asked) and size.std() > 0)
    if sized and need.std() > 0 and abs(np.corrcoef(size, need)[0, 1]) > _CORRELATED:
        slope, height = np.polyfit(size, need, 1)
        predicted, now = slope * size + height, slope * asked + height
    over = max(float((need - predicted).max()), 0.0)
    return max(now + over, float(need.min()))


def sizey(past: Sequence[tuple[float, float]], asked: float) -> float | None:
    """Sizey's type: several models weighted by how well they did, and the offset that did best."""
    if len(past) < 3:
        return None
    need, size = np.array(past).T
    guesses: list[Callable[[Floats, Floats, float], float]] = [
        lambda n, _s, _a: float(n[-1]),
        lambda n, _s, _a: float(np.median(n)),
        lambda n, _s, _a: float(n.mean()),
        _nearest,
    ]
    steps = range(2, len(need))
    tried = np.array([[g(need[:i], size[:i], size[i]) for g in guesses] for i in steps])
    truth = need[2:]
    accuracy = 1.0 - np.minimum(np.abs(tried - truth[:, None]) / truth[:, None], 1.0).mean(axis=0)
    weights = np.exp(4.0 * accuracy)
    weights /= weights.sum()
    errors = truth - tried @ weights
    under = errors[errors > 0]
    offsets = [0.0, float(errors.std())]
    if len(under):
        offsets += [float(np.median(under)), float(under.std()), float(under.max())]

    def cost(offset: float) -> float:
        given = tried @ weights + offset
        return float(np.where(given >= truth, given - truth, given + truth).sum())

    now = np.array([g(need, size, asked) for g in guesses]) @ weights
    return float(now + min(offsets, key=cost))


def _nearest(need: Floats, size: Floats, asked: float) -> float:
    if not np.isfinite(asked) or not np.isfinite(size).all():
        return float(need[-3:].mean())
    return float(need[np.argsort(np.abs(size - asked), kind="stable")[:3]].mean())


PEERS: dict[str, Predictor] = {
    "1.2 x last": last_12,
    "max of 5": largest_5,
    "ponder": ponder,
    "sizey": sizey,
}


def replayed(jobs: Jobs, asked: Floats, known: Floats) -> dict[str, Floats]:
    """What each peer would ask for at each submission, NaN: nothing; it learns what is `known`."""
    found = {name: np.full(len(jobs), np.nan) for name in PEERS}
    past: dict[tuple[object, ...], deque[tuple[float, float]]] = defaultdict(
        lambda: deque(maxlen=_LAST)
    )
    ended: list[tuple[float, int]] = []
    keys = [
        ((user, application_of(name)), (user,))
        for user, name in zip(jobs.user, jobs.name, strict=True)
    ]
    for row in range(len(jobs)):
        while ended and ended[0][0] <= jobs.submit[row]:
            _, other = heapq.heappop(ended)
            for key in keys[other]:
                past[key].append((float(known[other]), float(asked[other])))
        seen = next((list(past[key]) for key in keys[row] if past.get(key)), [])
        for name, predictor in PEERS.items():
            value = predictor(seen, float(asked[row]))
            found[name][row] = np.nan if value is None else value
        if not np.isnan(known[row]):
            heapq.heappush(ended, (float(jobs.end[row]), row))
    return found
