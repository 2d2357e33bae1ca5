"""How far apart two configurations are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Geometry:
    """How far apart two configurations are, column by column (all arrays are [d])."""

    scale: Floats  # what counts as a large difference of a number
    weight: Floats  # cost of changing a column
    category: Bools
    none: Floats  # the code of the level none; NaN where there is no such level
