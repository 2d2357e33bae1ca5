"""How far apart two configurations are, column by column and in all.

Numbers count by their difference in standard deviations of the training rows, a number against
`none` counts 1, different categories count 1; the distance is the root of the sum of squares.
A number that never varied in training counts 1 where it differs, as a category does.
"""

from dataclasses import dataclass

import numpy as np

from compass.domain.errors import BadInput, DataProblem
from compass.domain.space import Category, Number, Space
from compass.native import kernel
from compass.trust.rank import Floats, Rows

_NUMBER, OPTIONAL, CATEGORY = 0, 1, 2  # the kernels know them by these numbers

_squares = kernel("squares")


@dataclass(frozen=True, eq=False)
class Scale:
    """What one unit of distance means in each column that counts."""

    column: Rows  # [c] position in X
    kind: Rows  # [c]
    centre: Floats  # [c]
    spread: Floats  # [c] standard deviation over training rows
    none: Floats  # [c] what stands for `none`; NaN: it cannot be missing

    @classmethod
    def learn(cls, X: Floats, space: Space, weight: Floats | None = None) -> "Scale":
        """The scale of training rows X float64[n, d], one column per parameter of the space."""
        if X.ndim != 2 or X.shape[1] != len(space):
            raise BadInput(f"the space has {len(space)} columns, the rows have shape {X.shape}")
        if X.shape[0] == 0:
            raise DataProblem("there are no training runs to compare with")
        rows = [_scale(j, parameter, X[:, j], weight) for j, parameter in enumerate(space)]
        table = np.array(rows, dtype=np.float64).reshape(len(rows), 5)
        return cls(
            table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), *table[:, 2:].T.copy()
        )

    def place(self, X: Floats) -> Floats:
        """Coordinates float64[c, n] of rows X float64[n, d]; NaN is `none`."""
        if X.ndim != 2 or (self.column.size and X.shape[1] <= self.column.max()):
            raise BadInput(f"these rows do not have the columns of the training rows: {X.shape}")
        picked = X[:, self.column]
        if np.isnan(picked).any():
            raise BadInput("a configuration to judge lacks a value")
        missing = picked == self.none
        placed = (picked - self.centre) / self.spread
        return np.ascontiguousarray(np.where(missing, np.nan, placed).T)


def distances(kind: Rows, rows: Floats, point: Floats) -> Floats:
    """Distance float64[n] of every row [c, n] to one point [c]."""
    return np.sqrt(squares(kind, rows, point))


def squares(kind: Rows, rows: Floats, point: Floats) -> Floats:
    """The squares of these distances."""
    total = np.zeros(rows.shape[1])
    _squares(kind, np.ascontiguousarray(rows), np.ascontiguousarray(point), total)
    return total


def _scale(
    j: int, parameter: Number | Category, values: Floats, weight: Floats | None
) -> tuple[float, ...]:
    if isinstance(parameter, Category):
        return (j, CATEGORY, 0.0, 1.0, np.nan)
    none = parameter.none_code
    present = values != none
    some = values[present]
    mass = None if weight is None else weight[present]
    if some.size and (mass is None or mass.sum() > 0):
        centre = float(np.average(some, weights=mass))
        spread = float(np.sqrt(np.average((some - centre) ** 2, weights=mass)))
        if some.min() < some.max() and spread > 0:
            return (j, OPTIONAL if parameter.optional else _NUMBER, centre, spread, none)
    # It never varied: any other value is as new as a label that was never seen.
    return (j, CATEGORY, 0.0, 1.0, np.nan)
