"""A plain random sample of the rows."""

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.prepare import Prepared
from compass.reducers.draws import check_share


@registry.add("reducer", "uniform")
class Uniform:
    """Keeps a uniform random share of the rows."""

    name = "uniform"

    def reduce(
        self, prepared: Prepared, keep: float, seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """A sample without replacement; each of m rows out of n counts n/m times its weight."""
        check_share(keep)
        n = prepared.rows
        m = max(1, round(n * keep))
        chosen = np.random.default_rng(seed).choice(n, size=m, replace=False)
        rows = np.sort(chosen).astype(np.int64)
        return rows, prepared.weight[rows] * (n / m)
