"""How far configurations are from one, and the past runs nearest to it."""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from compass.execute.kernel import f8, f8_2d, i8, kernel, to_f8
from compass.generate.base import Columns, Floats
from compass.prepare.geometry import Geometry

_flags = types.Array(types.boolean, 1, "C", readonly=True)


def nearest_rows(
    observed: Floats, x: Floats, columns: Columns, geometry: Geometry, count: int
) -> NDArray[np.int64]:
    """Positions (ascending) of the `count` rows of observed [n, d] nearest to x [d].

    The distance is the sum of the column distances of these columns, not weighted.
    """
    if len(observed) <= count:
        return np.arange(len(observed))
    apart = distances(observed, x, columns, geometry)
    return np.sort(np.argpartition(apart, count - 1)[:count])


def distances(X: Floats, x: Floats, columns: Columns, geometry: Geometry) -> Floats:
    """The sum of the column distances of these columns between X [n, d] and x [d], not weighted."""
    apart = np.empty(len(X))
    rows = np.ascontiguousarray(X, dtype=np.float64)
    x = np.ascontiguousarray(x, dtype=np.float64)
    _distances(
        rows, x, columns, geometry.scale, np.asarray(geometry.category), geometry.none, apart
    )
    return apart


@kernel(f8_2d, f8, i8, f8, _flags, f8, to_f8)
def _distances(
    rows: Any, x: Any, columns: Any, scale: Any, category: Any, none: Any, apart: Any
) -> None:
    for r in range(rows.shape[0]):
        total = 0.0
        for c in columns:
            here = rows[r, c]
            if category[c] or here == none[c] or x[c] == none[c]:
                total += 1.0 if here != x[c] else 0.0
            else:
                total += abs(here - x[c]) / scale[c]
        apart[r] = total
