"""Whether synthetic rows are the measured ones again."""

from dataclasses import dataclass

import numpy as np

from compass.domain.space import Space
from compass.synth.base import Floats
from compass.synth.quality.dense import dense

_CHUNK = 256


@dataclass(frozen=True)
class Closeness:
    """Distances to the closest learnt row: of synthetic rows, and of real ones never learnt."""

    median: float
    fifth: float  # 5 % of the rows are closer
    copies: float  # share of rows that are a learnt row in every cell


def closeness(space: Space, learnt: Floats, rows: Floats) -> Closeness:
    """Euclidean distances of rows [m, d] to the closest learnt one, numbers standardised."""
    a, b = dense(space, learnt, learnt, rows)
    nearest = _nearest(a, b)
    known = {row.tobytes() for row in np.ascontiguousarray(learnt + 0.0)}
    copies = np.mean([row.tobytes() in known for row in np.ascontiguousarray(rows + 0.0)])
    return Closeness(float(np.median(nearest)), float(np.quantile(nearest, 0.05)), float(copies))


def _nearest(learnt: Floats, rows: Floats) -> Floats:
    squares = np.square(learnt).sum(axis=1)
    found = np.empty(len(rows))
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        apart = squares[None, :] - 2 * part @ learnt.T
        found[start : start + _CHUNK] = apart.min(axis=1) + np.square(part).sum(axis=1)
    return np.sqrt(np.maximum(found, 0.0))
