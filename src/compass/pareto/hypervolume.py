"""How much a set of points dominates: exact for few outcomes, sampled with its error beyond.

Everything is minimised: a point covers what is worse than it in every outcome, up to the reference
point. Points that are not better than the reference in every outcome cover nothing.

Decision 0047 (docs/decisions).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from compass.pareto.front import covers, nondominated

Floats = NDArray[np.float64]

_CELLS = 4_000_000  # of one array of the exact computation in three dimensions
_STEPS = 20_000_000  # of an exact computation; beyond it the volume is sampled
_SAMPLES = 50_000  # points of the box that are looked at then
_AT_ONCE = 20_000_000  # comparisons of one go


class Hypervolume(NamedTuple):
    """The volume that is dominated, and one standard error of it; exact: an error of 0."""

    value: float
    error: float = 0.0


def hypervolume(points: Floats, reference: Floats, *, seed: int = 0) -> Hypervolume:
    """The volume between points [n, k] and the reference [k].

    Two and three outcomes are always exact. Beyond, it is cut into slices as long as that takes no
    more than a few seconds, and sampled otherwise.
    """
    inside = points[(points < reference).all(axis=1)]
    if not len(inside):
        return Hypervolume(0.0)
    own = np.unique(inside[nondominated(inside)], axis=0)
    n, k = own.shape
    if k <= 3 or float(n) ** (k - 1) <= _STEPS:
        return Hypervolume(_exact(own, reference))
    return sampled(own, reference, _SAMPLES, np.random.default_rng(seed))


def _exact(points: Floats, reference: Floats) -> float:
    """The volume of points [n, k], n > 0, all better than the reference in everything."""
    k = len(reference)
    if k == 1:
        return float(reference[0] - points.min())
    if k == 2:
        return _area(points, reference)
    if k == 3:
        return _volume(points, reference)
    return _by_slices(points, reference)


def _area(points: Floats, reference: Floats) -> float:
    points = points[np.lexsort((points[:, 1], points[:, 0]))]
    height = reference[1] - np.minimum.accumulate(points[:, 1])
    width = np.diff(np.append(points[:, 0], reference[0]))
    return float(width @ height)


def _volume(points: Floats, reference: Floats) -> float:
    """Slices along the last outcome; the areas of many slices are worked out together."""
    points = points[np.argsort(points[:, 2], kind="stable")]
    depth = np.diff(np.append(points[:, 2], reference[2]))
    across = np.argsort(points[:, 0], kind="stable")
    width = np.diff(np.append(points[across, 0], reference[0]))
    total, n = 0.0, len(points)
    rows = max(1, _CELLS // n)
    for first in range(0, n, rows):
        slices = np.arange(first, min(first + rows, n))
        # A slice is covered by its own point and by all before it.
        there = across[None, :] <= slices[:, None]
        best = np.where(there, points[across, 1][None, :], reference[1])
        height = reference[1] - np.minimum.accumulate(best, axis=1)
        total += float(depth[slices] @ (height @ width))
    return total


def _by_slices(points: Floats, reference: Floats) -> float:
    """The volume as a sum over slices along the last outcome, each of one dimension less."""
    points = points[np.argsort(points[:, -1], kind="stable")]
    depth = np.diff(np.append(points[:, -1], reference[-1]))
    total = 0.0
    front = points[:0, :-1]
    for row, thick in enumerate(depth):
        front = np.concatenate([front, points[row : row + 1, :-1]])
        front = front[nondominated(front)]
        if thick > 0:
            total += float(thick) * _exact(front, reference[:-1])
    return total


def sampled(
    points: Floats, reference: Floats, samples: int, rng: np.random.Generator
) -> Hypervolume:
    """The volume of points [n, k] by random points of their box, with one standard error."""
    low = points.min(axis=0)
    box = float(np.prod(reference - low))
    covered, rows = 0, max(1, _AT_ONCE // points.size)
    for first in range(0, samples, rows):
        drawn = low + rng.random((min(rows, samples - first), len(low))) * (reference - low)
        covered += int(covers(points, drawn).any(axis=0).sum())
    share = covered / samples
    return Hypervolume(box * share, box * float(np.sqrt(share * (1 - share) / samples)))


def contributions(points: Floats, reference: Floats) -> Floats:
    """What each of the points [n, k] adds to the others, [n]; nothing where it is there twice."""
    every = np.arange(len(points))
    whole = hypervolume(points, reference).value
    lost = [whole - hypervolume(points[every != i], reference).value for i in every]
    return np.maximum(np.array(lost, dtype=np.float64), 0.0)
