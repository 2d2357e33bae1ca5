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

from compass.domain.errors import EngineProblem
from compass.domain.space import Category, Space

Floats = NDArray[np.float64]
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
            elif parameter.optional:
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
        return {
            "levels": self.levels,
            "none": self.none,
            "log": self.log,
            "centre": self.centre,
            "scale": self.scale,
        }

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "Design":
        """The design whose `arrays()` these are."""
        levels = np.asarray(arrays["levels"], dtype=np.int64)
        none, centre, scale = (
            np.asarray(arrays[name], dtype=np.float64) for name in ("none", "centre", "scale")
        )
        log = np.asarray(arrays["log"], dtype=np.bool_)
        parts = (none, log, centre, scale)
        sound = levels.ndim == 1 and all(part.shape == levels.shape for part in parts)
        if not sound or (levels < 0).any() or not (scale > 0).all():
            raise EngineProblem("a saved model is damaged", hint="fit and save the engine again")
        return cls(levels, none, log, centre, scale)

    def _standard(self, column: Floats, place: int) -> Floats:
        if self.log[place]:
            # A question may go below what was seen; the logarithm must not leave the numbers.
            column = np.log(np.maximum(column, np.finfo(np.float64).tiny))
        return np.asarray((column - self.centre[place]) / self.scale[place])
