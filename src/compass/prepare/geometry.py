"""How far apart two configurations are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Space

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Geometry:
    """How far apart two configurations are, column by column (all arrays are [d])."""

    scale: Floats  # what counts as a large difference of a number
    weight: Floats  # cost of changing a column
    category: Bools
    none: Floats  # the code of the level none; NaN where there is no such level

    @classmethod
    def of(cls, space: Space, scale: Floats, weight: Floats) -> "Geometry":
        """The geometry of a space, with the scale and the cost of change of each column [d]."""
        category = np.array([isinstance(parameter, Category) for parameter in space])
        none = [np.nan if isinstance(p, Category) else p.none_code for p in space]
        return cls(scale, weight, category, np.array(none))
