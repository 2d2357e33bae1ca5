"""What there is to say about a set of trade-offs, as pure functions of arrays.

Everything is minimised: values [n, k] have one column per outcome, turned so that smaller is
better. They are finite.

Decision 0047 (docs/decisions).
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Positions = NDArray[np.int64]

_BEYOND = 0.1  # of the range of the front by which the reference lies behind it (as BoTorch does)
_KNEES = 3
_BEND = 0.25  # of the largest bend that a further knee needs
_LEAST = 0.05  # a front that bends less than this has no knee
_BLOCK = 64  # points that others are held against at once
_POWER = 11  # of two: points of the box that representatives are chosen by


def nondominated(values: Floats) -> Bools:
    """Which of the points [n, k] nothing dominates.

    One dominates another if it is no worse in anything and better in something. Equal points do
    not dominate each other: all of them stay.
    """
    n, k = values.shape
    if not n:
        return np.zeros(0, dtype=np.bool_)
    if k == 1:
        return np.asarray(values[:, 0] == values[:, 0].min())
    if k == 2:
        return _nondominated_of_two(values)
    unique, place = np.unique(values, axis=0, return_inverse=True)
    return np.asarray(_culled(unique)[place.ravel()])


def _nondominated_of_two(values: Floats) -> Bools:
    """Sorted by the first outcome, a point stays that is better in the second than all before."""
    order = np.lexsort((values[:, 1], values[:, 0]))
    first, second = values[order, 0], values[order, 1]
    best = np.minimum.accumulate(second)
    before = np.concatenate([[np.inf], best[:-1]])
    new = second < before
    # Equal to the point before it that stays: it stays as well.
    leader = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    stays = new | ((first == first[leader]) & (second == second[leader]))
    found = np.empty(len(order), dtype=np.bool_)
    found[order] = stays
    return found


def _culled(values: Floats) -> Bools:
    """The same for different points [n, k] in lexicographic order."""
    # Whatever dominates a point has no larger sum, also rounded, and comes before it among equals.
    left = np.argsort(values.sum(axis=1), kind="stable")
    kept = np.zeros(len(values), dtype=np.bool_)
    while len(left):
        first, left = left[:_BLOCK], left[_BLOCK:]
        among = covers(values[first], values[first])
        np.fill_diagonal(among, val=False)
        first = first[~among.any(axis=0)]
        kept[first] = True
        left = left[~covers(values[first], values[left]).any(axis=0)]
    return kept


def covers(points: Floats, places: Floats) -> Bools:
    """Which points [n, k] are no worse in any outcome than which places [m, k], as [n, m].

    Column by column: to look along a short axis takes ten times as long.
    """
    found = points[:, :1] <= places[:, 0]
    for k in range(1, points.shape[1]):
        found &= points[:, k : k + 1] <= places[:, k]
    return np.asarray(found)


def reference_of(values: Floats, all_values: Floats) -> Floats:
    """A reference point [k] for points [n, k], n > 0, that nothing dominates.

    It lies behind the worst of them in every outcome by a tenth of their range; where they are all
    alike in an outcome, by a tenth of the range of `all_values` [m, k], else of their size.
    """
    worst = values.max(axis=0)
    size = np.ptp(values, axis=0)
    size = np.where(size > 0, size, np.ptp(all_values, axis=0))
    size = np.where(size > 0, size, np.abs(worst))
    return np.asarray(worst + _BEYOND * np.where(size > 0, size, 1.0))


def unit_values(values: Floats, ideal: Floats, nadir: Floats) -> Floats:
    """The points [n, k] with 0 for the ideal and 1 for the nadir of every outcome."""
    size = nadir - ideal
    return np.asarray((values - ideal) / np.where(size > 0, size, 1.0))


def spread(values: Floats, ideal: Floats, reference: Floats) -> float:
    """How unevenly the points [n, k] are spread: 0 where all gaps are alike.

    With outcomes from 0 (the ideal point) to 1 (the reference), d is the distance of a point to
    the nearest other one; the spread is the mean of |d - mean d| divided by mean d. A smaller
    number is not better by itself: two points, or many in one corner, have none. So it is told
    beside the extent.
    """
    points = np.unique(unit_values(values, ideal, reference), axis=0)
    if len(points) < 3:
        return 0.0
    apart = np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    nearest = apart.min(axis=1)
    mean = float(nearest.mean())
    return float(np.abs(nearest - mean).mean() / mean) if mean > 0 else 0.0


def extent(values: Floats, ideal: Floats, reference: Floats) -> Floats:
    """Per outcome the share of the way from the ideal to the reference that is covered, [k].

    What lies behind the reference covers no more than the way up to it.
    """
    return np.asarray(np.ptp(np.minimum(unit_values(values, ideal, reference), 1.0), axis=0))


def knees(values: Floats) -> Positions:
    """The points of a front [n, k] from where every way on costs much and gains little.

    With outcomes from 0 (best of the front) to 1 (worst of the front), the knee is the point that
    has the smallest sum. Of two outcomes that is the one furthest below the line through the ends,
    and each side of it may have a knee of its own.
    """
    n, k = values.shape
    if n < 3 or k < 2:
        return np.empty(0, dtype=np.int64)
    unit = unit_values(values, values.min(axis=0), values.max(axis=0))
    depth = 1 - unit.sum(axis=1) / (k - 1)  # 0 where one outcome is best and all others worst
    best = int(np.argmax(depth))
    if depth[best] < _LEAST:
        return np.empty(0, dtype=np.int64)
    if k != 2:
        return np.array([best], dtype=np.int64)
    order = np.lexsort((unit[:, 1], unit[:, 0]))
    found = _bends(unit[order], _BEND * float(depth[best]))
    return np.asarray(order[found[:_KNEES]])


def _bends(unit: Floats, least: float) -> list[int]:
    """Positions of the bends of a line [n, 2], the strongest first."""
    open_, found = [(0, len(unit) - 1)], []
    while open_:
        first, last = open_.pop()
        if last - first < 2:
            continue
        depth = _below_line(unit[first : last + 1])
        place = int(np.argmax(depth))
        if depth[place] < least or place in (0, last - first):
            continue
        found.append((float(depth[place]), first + place))
        open_ += [(first, first + place), (first + place, last)]
    return [place for _, place in sorted(found, reverse=True)]


def _below_line(points: Floats) -> Floats:
    """How far points [n, 2] lie below the line from the first to the last, [n]."""
    along = points[-1] - points[0]
    size = float(np.sqrt((along**2).sum()))
    if size == 0:
        return np.zeros(len(points))
    off = points - points[0]
    # Times the square root of 2: the corner of the unit square lies 1 below its diagonal.
    return np.asarray(np.sqrt(2) * (along[1] * off[:, 0] - along[0] * off[:, 1]) / size)


def alike(low: Floats, high: Floats) -> Bools:
    """Which points [n] are not told apart, [n, n]: in every outcome their intervals overlap.

    `low` and `high` are [n, k]. An interval without an end overlaps with all.
    """
    over = (low[:, None, :] <= high[None, :, :]) & (low[None, :, :] <= high[:, None, :])
    return np.asarray(over.all(axis=2))


def representatives(
    values: Floats, reference: Floats, count: int, first: int | None = None
) -> Positions:
    """Positions of at most `count` points of a front [n, k] that stand for all of it, ascending.

    The point `first`, the best of every outcome, then one by one what adds most to the volume that
    is dominated. Points that add nothing are left out.
    """
    n = len(values)
    if n <= count:
        return np.arange(n)
    unit = unit_values(values, values.min(axis=0), np.maximum(reference, values.max(axis=0)))
    drawn = _drawn_box(values.shape[1])
    covered = covers(unit, drawn)
    chosen: list[int] = []
    open_ = np.ones(drawn.shape[0], dtype=np.bool_)
    ends = [int(np.lexsort((unit.sum(axis=1), column))[0]) for column in unit.T]
    for place in dict.fromkeys(ends if first is None else [first, *ends]):
        chosen.append(place)
        open_ &= ~covered[place]
    while len(chosen) < count:
        gains = covered[:, open_].sum(axis=1)
        gains[chosen] = -1
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        chosen.append(best)
        open_ &= ~covered[best]
    return np.sort(np.array(chosen[:count], dtype=np.int64))


def _drawn_box(k: int) -> Floats:
    """Points of the unit box that are spread evenly over it, always the same, [s, k]."""
    from scipy.stats import qmc

    return np.asarray(
        qmc.Sobol(k, scramble=True, rng=np.random.default_rng(0)).random_base2(_POWER)
    )
