"""A plain random sample of the rows."""

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.errors import BadInput
from compass.prepare import Prepared


@registry.add("reducer", "uniform")
class Uniform:
    """Keeps a uniform random share of the rows."""

    name = "uniform"

    def reduce(
        self, prepared: Prepared, keep: float, seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """A sample without replacement; each of m rows out of n counts n/m times its weight."""
        if not 0 < keep <= 1:
            raise BadInput(
                f"the share of rows to keep must be above 0 and at most 1, not {keep:g}",
                hint="0.2 keeps every fifth row",
            )
        n = prepared.rows
        m = max(1, round(n * keep))
        chosen = np.random.default_rng(seed).choice(n, size=m, replace=False)
        rows = np.sort(chosen).astype(np.int64)
        return rows, prepared.weight[rows] * (n / m)
