"""What a way to choose rows has to offer."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compass.prepare import Prepared


class Reducer(Protocol):
    """Chooses rows to learn from. Register a class: `@registry.add("reducer", "name")`."""

    name: str
    # A class may say `learns_alike = True`: models then learn all rows alike, because the weights
    # would undo the choice; everything that averages or calibrates counts by them all the same.

    def reduce(
        self, prepared: Prepared, keep: float, seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """About a share `keep` of the rows, and how much each then counts.

        Returns positions in `prepared.values`, int64[m], ascending and distinct, and weights,
        float64[m], in which the rows' own weights are included. Same data, share and seed: same
        rows.
        """
        ...
