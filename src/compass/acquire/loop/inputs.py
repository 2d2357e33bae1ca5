"""What models see of a configuration: numbers on a scale from 0 to 1, and a column per level.

Numbers that are never negative are seen as powers of two: a tile of 64 is as far from 32 as 4 is
from 2. The levels tell values apart that lie side by side: what suits 32 need not suit 48.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Number, Space
from compass.prepare.legal import legal_values

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]

_APART = np.sqrt(0.5)  # of a column per label, so that two labels are 1 apart
_LEVELS = 64  # of one parameter; with more of them no level is seen twice


@dataclass(frozen=True, eq=False)
class Points:
    """Configurations as models see them."""

    Z: Floats  # [n, p] numbers from 0 to 1, and labels
    S: Singles  # [n, q] 1 where a parameter has a level

    def __len__(self) -> int:
        return len(self.Z)

    def take(self, index: "Integers | NDArray[np.bool_]") -> "Points":
        """The configurations at these positions, or those that are marked."""
        found = Points(self.Z[index], self.S[index])
        if "single" in self.__dict__:
            found.__dict__["single"] = self.single[index]
        return found

    def after(self, first: "Points") -> "Points":
        """These configurations after others."""
        return Points(np.concatenate([first.Z, self.Z]), np.concatenate([first.S, self.S]))

    @cached_property
    def single(self) -> Singles:
        """The numbers in single precision."""
        return self.Z.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The columns that models see, made of d parameters."""

    space: Space
    parameter: Integers  # [p] the parameter of each number
    levels: Floats  # [q] the value of each level
    stepped: Integers  # [q] its parameter

    @classmethod
    def of(cls, space: Space) -> "Inputs":
        """The columns of a space."""
        levels = [_levels(one) for one in space]
        return cls(
            space,
            np.repeat(np.arange(len(space)), [_width(one) for one in space]),
            np.concatenate([np.empty(0), *levels]),
            np.repeat(np.arange(len(space)), [len(own) for own in levels]),
        )

    def __call__(self, X: Floats) -> Points:
        """What models see of configurations X [n, d]."""
        Z = np.column_stack([_columns(one, X[:, j]) for j, one in enumerate(self.space)])
        return Points(Z, (X[:, self.stepped] == self.levels).astype(np.float32))


def _levels(parameter: Number | Category) -> Floats:
    found = legal_values(parameter, _LEVELS)
    return np.empty(0) if found is None else found


def _width(parameter: Number | Category) -> int:
    if isinstance(parameter, Category):
        return 1 if len(parameter.values) <= 2 else len(parameter.values)
    return 2 if parameter.optional else 1


def _columns(parameter: Number | Category, codes: Floats) -> Floats:
    """The columns [n, w] of one parameter."""
    if isinstance(parameter, Category):
        if len(parameter.values) <= 2:
            return codes[:, None]
        return np.asarray(_APART * (codes[:, None] == np.arange(len(parameter.values))))
    if not parameter.optional:
        return _scaled(parameter, codes)[:, None]
    none = codes == parameter.none_code
    # Halfway, so that `none` is told apart by its own column and not by its distance.
    seen = np.where(none, 0.5, _scaled(parameter, np.where(none, parameter.low, codes)))
    return np.column_stack([seen, none])


def _scaled(parameter: Number, values: Floats) -> Floats:
    """Numbers [n] from 0 at the smallest legal value to 1 at the largest."""
    low, high = parameter.low, parameter.high
    if low < 0:
        return np.asarray((values - low) / ((high - low) or 1.0))
    least = _least_positive(parameter) if low == 0 else 0.0
    bottom = np.log2(low + least)
    span = np.log2(high + least) - bottom
    return np.asarray((np.log2(values + least) - bottom) / (span or 1.0))


def _least_positive(parameter: Number) -> float:
    """The smallest positive value, which is one doubling above 0; 1 % of a range without a grid."""
    if parameter.allowed is not None and parameter.high > 0:
        return next(value for value in parameter.allowed if value > 0)
    return parameter.step or 0.01 * parameter.high or 1.0
