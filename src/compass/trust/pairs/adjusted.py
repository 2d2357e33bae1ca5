"""Comparisons of runs that differ in more than the move: the rest is worked out by the model.

Where no two runs agree in everything but the parameter that is moved, runs of the same context on
both sides of the move still tell of it, once what else differs between them is accounted for. The
model does that, so the runs must be such that it never saw. Of a pair (a, b) with outcomes y and
predictions f, where c is b with the parameter of a:

    claimed  = f(b) - f(c)                    what the model says that the move does
    measured = y(b) - y(a) - (f(c) - f(a))    what is left for the move once the rest is subtracted

If the model is right about the move, both are equal up to its error and the scatter of runs.

Decision 0032 (docs/decisions).
"""

from dataclasses import dataclass

import numpy as np

from compass.native import kernel
from compass.trust.distance import CATEGORY, squares
from compass.trust.rank import Floats, Rows

GATHERED = 48  # runs on each side that are paired, the nearest to the suggestion
_REACH = 0.5  # a run is at an end of a move within this share of the move
_NEAR = 1.0  # or within this distance: small moves are told by larger ones around them
_SIZED = 1.0  # how far the size of a problem may be from that of the question, in distances
_ANY = 1e6  # no difference in other columns keeps two runs apart: the model accounts for it
LEAST = 6  # pairs below which nothing is said
_SURE = 1.64  # standard errors: 95 % on one side
_FEWER = 1.5  # of few pairs the error itself is uncertain (about Student's distribution)
_ODD, _FEW = 4.0, 0.05  # a few values beyond so many standard deviations are cut off
_HALF = 0.5  # of what is claimed has to be there, and no more than twice as much

_match = kernel("match")


@dataclass(frozen=True, eq=False)
class Crossing:
    """Pairs of held-out runs on both sides of a move."""

    old: Rows  # [p] positions among the held-out runs
    new: Rows  # [p]


def crossing(
    kind: Rows,
    placed: Floats,
    among: Rows,
    old: Floats,
    new: Floats,
    column: int,
    sized: Rows,
) -> Crossing:
    """Pairs of runs that cross the move of one column from old [d] to new [d].

    `placed` [d, v] and both ends are coordinates of columns of these kinds [d]; `among` are the
    runs of the same context, and `sized` the columns of the context that are numbers. No run is
    in two pairs.
    """
    near = np.ones(len(among), dtype=np.bool_)
    for j in sized:
        if j != column:
            near &= ~(np.abs(placed[j, among] - new[j]) > _SIZED)
    among = among[near]
    values = placed[column, among]
    before, after = old[column], new[column]
    if kind[column] == CATEGORY or np.isnan(before) or np.isnan(after):
        ends = [among[_equal(values, before)], among[_equal(values, after)]]
    else:
        # Each pair is judged by what the model claims of its own, perhaps larger, move.
        reach = max(_REACH * abs(after - before), _NEAR)
        beyond = (values - (before + after) / 2) * np.sign(after - before)
        ends = [
            among[(side * beyond > 0) & (np.abs(values - end) <= reach)]
            for side, end in ((-1, before), (1, after))
        ]
    others = np.array([j for j in range(len(kind)) if j != column], dtype=np.int64)
    chosen = []
    for rows in ends:
        apart = squares(kind[others], placed[np.ix_(others, rows)], new[others])
        chosen.append(rows[np.argsort(apart, kind="stable")[:GATHERED]])
    first, second = chosen
    partner, gap = np.full(len(second), -1, dtype=np.int64), np.zeros(len(second))
    same = np.zeros(placed.shape[1], dtype=np.int64)
    if len(first) and len(second):
        _match(kind, placed, same, first, second, others, _ANY, partner, gap)
    paired = partner >= 0
    return Crossing(partner[paired], second[paired])


def _equal(values: Floats, one: float) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    return np.isnan(values) if np.isnan(one) else values == one


@dataclass(frozen=True)
class Adjusted:
    """What adjusted comparisons say about a move."""

    pairs: int
    agreeing: int  # whose outcome moved in the direction that the model claims
    agree: float  # the share of these
    median: float  # of what was measured
    supported: bool


def adjusted(
    claimed: Floats, measured: Floats, expected: float, minor: float, agreement: float
) -> Adjusted:
    """Compare what was measured in pairs [p] with what the model claims of them [p].

    Where the model `expected` no more than `minor` of the move, it must not err by more than that
    about such moves. Otherwise at least the share `agreement` of what is claimed has to have the
    sign that is claimed, and the size has to be right: the slope of measured over claimed is surely
    above 0, and from a half to two.
    """
    n = len(claimed)
    if n < LEAST:
        return Adjusted(n, 0, 0.0, float(np.median(measured)) if n else float("nan"), False)
    middle, sure = float(np.median(measured)), _SURE * (1 + _FEWER / n)
    if abs(expected) <= minor:
        missed = measured - claimed
        bias, doubt = _mean(missed)
        right = np.abs(missed) <= minor + sure * doubt * np.sqrt(n)
        fits = doubt <= minor and abs(bias) - sure * doubt <= minor
        return Adjusted(n, int(right.sum()), float(right.mean()), middle, fits)
    right = np.sign(measured) == np.sign(claimed)
    slope, doubt = _slope(claimed, measured)
    fits = slope - sure * doubt > 0 and _HALF <= slope <= 1 / _HALF
    # A pair of which hardly anything is claimed moves either way by the scatter of runs alone.
    claims = np.abs(claimed)
    agree = float(np.average(right, weights=claims)) if claims.any() else 0.0
    return Adjusted(n, int(right.sum()), agree, middle, bool(fits and agree >= agreement - 1e-9))


def _mean(values: Floats) -> tuple[float, float]:
    """The mean and its standard error."""
    cut = _cut(values)
    return float(cut.mean()), float(cut.std(ddof=1) / np.sqrt(len(cut)))


def _slope(x: Floats, y: Floats) -> tuple[float, float]:
    """The slope of y over x through the origin, and its standard error."""
    total = float((x**2).sum())
    if not total:
        return 0.0, float("inf")
    slope = float((x * y).sum()) / total
    left = _cut(y - slope * x)
    slope += float((x * left).sum()) / total
    # Errors may differ from pair to pair: each counts with its own (White's estimate).
    return slope, float(np.sqrt(((x * left) ** 2).sum())) / total


def _cut(values: Floats) -> Floats:
    """Values with single odd ones cut off; classes, which are mostly equal, stay as they are."""
    centre = np.median(values)
    spread = 1.4826 * np.median(np.abs(values - centre))
    if not spread or np.mean(np.abs(values - centre) > _ODD * spread) > _FEW:
        return values
    return np.clip(values, centre - _ODD * spread, centre + _ODD * spread)
