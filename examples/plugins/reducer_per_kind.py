"""A reducer: the same share of every application, so that rare ones do not vanish."""

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.domain.space import Category, Role
from compass.prepare import Prepared


@registry.add("reducer", "per-kind")
class PerKind:
    """The same share of every combination of context labels, and at least one row of each."""

    name = "per-kind"

    def reduce(
        self, prepared: Prepared, keep: float, seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows drawn within each group; m rows of a group of n count n/m times their weight."""
        labels = [
            parameter.name
            for parameter in prepared.space
            if isinstance(parameter, Category) and parameter.role is Role.CONTEXT
        ]
        groups = np.unique(prepared.columns_of(labels), axis=0, return_inverse=True)[1].ravel()
        rng = np.random.default_rng(seed)
        weight = np.zeros(prepared.rows)
        for group in range(groups.max() + 1):
            members = np.flatnonzero(groups == group)
            m = max(1, round(len(members) * keep))
            chosen = rng.choice(members, size=m, replace=False)
            weight[chosen] = prepared.weight[chosen] * len(members) / m
        rows = np.flatnonzero(weight).astype(np.int64)
        return rows, weight[rows]
