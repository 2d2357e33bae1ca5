"""Encoded rows as numbers that can be compared: what every model without trees is fed.

A category becomes one column for each of its labels, a number is standardised with the statistics
of the rows that were learnt from, and the level `none` of an optional number gets a column of its
own. A number that is always positive and spans more than a factor of ten (nodes, sizes, bytes)
counts by its logarithm: its effects are products far more often than sums.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput
from compass.domain.space import Category, Space
from compass.execute.arrays import checked, damaged, flags, floats, whole

Floats = NDArray[np.float64]
ARRAYS = {
    "levels": whole("columns", least=0, below=2**31, some=True),  # the sum must be a number, too
    "none": floats("columns", missing=True),
    "log": flags("columns"),
    "centre": floats("columns"),
    "scale": floats("columns", above=0),
}
_SPAN = 10.0  # largest over smallest value from which a positive number counts by its logarithm


@dataclass(frozen=True, eq=False)
class Design:
    """How encoded rows [n, d] become a dense matrix [n, width]; each row on its own."""

    levels: NDArray[np.int64]  # [d] labels of a category, 0 for a number
    none: Floats  # [d] the code of the level none, NaN where there is no such level
    log: NDArray[np.bool_]  # [d]
    centre: Floats  # [d]
    scale: Floats  # [d]

    @classmethod
    def of(cls, X: Floats, features: Space | None = None) -> "Design":
        """Learnt from X float64[n, d]; without `features` every column is a number."""
        columns = X.shape[1]
        levels, none = np.zeros(columns, dtype=np.int64), np.full(columns, np.nan)
        for place, parameter in enumerate(features or ()):
            if isinstance(parameter, Category):
                levels[place] = len(parameter.values)
            else:
                none[place] = parameter.none_code
        log, centre, scale = np.zeros(columns, dtype=bool), np.zeros(columns), np.ones(columns)
        for place in np.flatnonzero(levels == 0).tolist():
            known = X[X[:, place] != none[place], place]
            if not len(known):
                continue
            low, high = float(known.min()), float(known.max())
            log[place] = low > 0 and high > _SPAN * low
            values = np.log(known) if log[place] else known
            centre[place] = values.mean()
            scale[place] = values.std() or 1.0
        return cls(levels, none, log, centre, scale)

    @property
    def width(self) -> int:
        """Columns of the dense matrix."""
        return int(np.sum(np.maximum(self.levels, 1)) + np.sum(~np.isnan(self.none)))

    def apply(self, X: Floats) -> Floats:
        """The dense matrix float64[n, width] of X float64[n, d]."""
        if X.ndim != 2 or X.shape[1] != len(self.levels):
            raise BadInput(
                f"rows of shape {X.shape} given to a model of {len(self.levels)} features",
                hint="give one column for each feature that it was trained with",
            )
        found = np.zeros((len(X), self.width))
        at = 0
        for place, column in enumerate(X.T):
            if self.levels[place]:
                labels = column.astype(np.int64)
                known = (labels >= 0) & (labels < self.levels[place])
                found[np.flatnonzero(known), at + labels[known]] = 1.0
                at += int(self.levels[place])
                continue
            optional = not np.isnan(self.none[place])
            absent = column == self.none[place]
            found[:, at] = np.where(absent, 0.0, self._standard(column, place))
            at += 1
            if optional:
                found[:, at] = absent
                at += 1
        return found

    def slopes(self, X: Floats, dense: Floats) -> Floats:
        """Slopes by the columns of X float64[n, d] from those by dense columns [n, width].

        Categories and the level none have no slope: 0.
        """
        found = np.zeros(X.shape)
        at = 0
        for place, column in enumerate(X.T):
            if self.levels[place]:
                at += int(self.levels[place])
                continue
            steep = dense[:, at] / self.scale[place]
            if self.log[place]:
                steep = steep / np.maximum(column, np.finfo(np.float64).tiny)
            found[:, place] = np.where(column == self.none[place], 0.0, steep)
            at += 1 if np.isnan(self.none[place]) else 2
        return found

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        return {name: getattr(self, name) for name in ARRAYS}

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "Design":
        """The design whose `arrays()` these are; damaged arrays are refused."""
        found, _ = checked(arrays, ARRAYS, "a saved model")
        if not np.isnan(found["none"][found["levels"] > 0]).all():
            raise damaged("a saved model", "a column of labels has a number for none")
        return cls(**found)

    def _standard(self, column: Floats, place: int) -> Floats:
        if self.log[place]:
            # A question may go below what was seen; the logarithm must not leave the numbers.
            column = np.log(np.maximum(column, np.finfo(np.float64).tiny))
        return np.asarray((column - self.centre[place]) / self.scale[place])
