"""What every proposed run has to be: legal, likely not to fail, no near copy of another.

Arrays X [n, d] are encoded configurations of one set of features.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Space
from compass.evidence.assessor import Assessor
from compass.evidence.runnable import LIKELY
from compass.prepare.geometry import Geometry, column_distances
from compass.prepare.legal import legal_mask
from compass.rules import Rule

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]


def allowed(
    space: Space, rules: Sequence[Rule], X: Floats, columns: Sequence[int] | Integers | None = None
) -> Bools:
    """Which configurations X [n, d] are legal in these columns (None: in all) and obey the rules.

    What a question does not move may be off the grid: a baseline is what it is.
    """
    fine = np.ones(len(X), dtype=np.bool_)
    for column in range(len(space)) if columns is None else columns:
        fine &= legal_mask(space.parameters[column], X[:, column])
    for rule in rules:
        fine &= rule.holds(X)
    return fine


def likely_ends_well(assessor: Assessor, X: Floats) -> Bools:
    """Which configurations X [n, d] likely do not fail, going by past runs that did."""
    failing = assessor.view.failing
    if failing is None:
        return np.ones(len(X), dtype=np.bool_)
    return np.asarray(failing(X) <= LIKELY)


def apart(X: Floats, x: Floats, geometry: Geometry, least: float) -> Bools:
    """Which configurations X [n, d] are further than `least` from x [d]; never x itself."""
    return np.asarray(column_distances(X, x, geometry).sum(axis=1) > max(least, 0.0))


def spaced(X: Floats, geometry: Geometry, least: float, beside: Floats | None = None) -> list[int]:
    """Positions in X [n, d], in order, of those apart from `beside` [k, d] and from each other."""
    open_ = np.ones(len(X), dtype=np.bool_)
    for x in () if beside is None else beside:
        open_ &= apart(X, x, geometry, least)
    kept = []
    for place in range(len(X)):
        if open_[place]:
            kept.append(place)
            open_ &= apart(X, X[place], geometry, least)
    return kept
