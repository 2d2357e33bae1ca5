"""Members into one prediction: the median of those that earned their place, clipped.

All start with a place. A smaller set takes over where, on applications that its members had not
seen, it is better by more than chance would have it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from compass.platforms.pairs import Floats

MEAN = "mean"  # the member that the others are drawn towards
_SHARES = (0.5, 0.75, 1.0)
_SURE = 0.95  # of a difference, one-sided: many sets are tried


@dataclass(frozen=True)
class Chosen:
    """The members that count, and how they did beside all of them."""

    members: tuple[str, ...]
    share: float  # of the way from the per-machine mean to the median of the members
    error: float  # mean over applications of what was judged
    error_of_all: float


Judge = Callable[[Floats], Floats]  # log ratios [n, m] -> an error per application [a]


def combined(
    predictions: Mapping[str, Floats],
    members: tuple[str, ...],
    share: float,
    low: Floats,
    high: Floats,
) -> Floats:
    """The median of members' log ratios [k, m], drawn to the mean, within what was seen [m]."""
    middle = np.median(np.array([predictions[name] for name in members]), axis=0)
    if share < 1.0:
        middle = share * middle + (1 - share) * predictions[MEAN]
    return np.asarray(np.clip(middle, low, high))


def choose(predictions: Mapping[str, Floats], low: Floats, high: Floats, judge: Judge) -> Chosen:
    """The members whose median did best on held-out applications, if clearly better than all.

    `predictions`: held-out log ratios [n, m] of each member. Clearly: the mean difference over
    applications is below 0 by a paired t test. How far the median is drawn to the mean is one
    number, which few applications can tell: the best is taken.
    """
    names = tuple(predictions)
    shares = _SHARES if MEAN in names else (1.0,)
    start = _drawn(predictions, names, shares, low, high, judge)
    everyone = judge(combined(predictions, names, 1.0, low, high))
    reference = judge(combined(predictions, names, start.share, low, high))
    best = replace(start, error_of_all=float(everyone.mean()))
    for size in range(1, len(names)):
        for members in combinations(names, size):
            errors = judge(combined(predictions, members, start.share, low, high))
            if errors.mean() < best.error and _clearly(errors - reference):
                best = Chosen(members, start.share, float(errors.mean()), best.error_of_all)
    if best.members == names:
        return best
    drawn = _drawn(predictions, best.members, shares, low, high, judge)
    return replace(drawn, error_of_all=best.error_of_all)


def _drawn(
    predictions: Mapping[str, Floats],
    members: tuple[str, ...],
    shares: tuple[float, ...],
    low: Floats,
    high: Floats,
    judge: Judge,
) -> Chosen:
    """These members, drawn to the mean as far as did best."""
    errors = [
        float(judge(combined(predictions, members, share, low, high)).mean()) for share in shares
    ]
    best = int(np.argmin(errors))
    return Chosen(members, shares[best], errors[best], errors[-1])


def _clearly(differences: Floats) -> bool:
    from scipy.special import stdtrit

    n = len(differences)
    if n < 2:
        return False
    error = differences.std(ddof=1) / np.sqrt(n)
    return bool(differences.mean() + stdtrit(n - 1, _SURE) * error < 0)


def ratio_errors(truth: Floats, applications: NDArray[np.str_]) -> Judge:
    """Mean of |log error| and relative error of each application, over the known cells of truth.

    The relative error alone would reward ratios that are too small, the logarithm alone does not
    mind a ratio that is far too large.
    """

    def off(found: Floats) -> Floats:
        error = found - truth
        return np.asarray((np.abs(error) + np.abs(np.expm1(np.minimum(error, 20.0)))) / 2)

    return _by_application(truth, applications, off)


def _by_application(
    known: Floats, applications: NDArray[np.str_], cells: Callable[[Floats], Floats]
) -> Judge:
    names, place = np.unique(applications, return_inverse=True)
    seen = np.isfinite(known)
    count = np.bincount(place, seen.sum(axis=1), len(names))

    def judge(found: Floats) -> Floats:
        lost = np.where(seen, cells(found), 0.0).sum(axis=1)
        total = np.bincount(place, lost, len(names))
        return np.asarray((total / np.maximum(count, 1))[count > 0])

    return judge
