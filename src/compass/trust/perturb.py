"""Perturbed versions of the training rows: resampled, with numbers moved a little."""

from dataclasses import dataclass

import numpy as np

from compass.domain.errors import BadInput
from compass.domain.space import Category, Number, Space
from compass.prepare.weigh import deviation, uneven
from compass.trust.rank import Floats, Rows

_DRAWS = 20_000  # rows drawn for one version: beyond this, time grows and ranks hardly move


@dataclass(frozen=True, eq=False)
class Grid:
    """The values of one number that were seen, without `none`."""

    column: int
    values: Floats  # ascending, at least two
    spread: float  # standard deviation over the rows
    none: float  # what stands for `none`; NaN: it cannot be missing

    def move(self, x: Floats, jitter: float, rng: np.random.Generator) -> Floats:
        """Values x float64[n] with noise of `jitter` standard deviations, back on the grid."""
        noisy = x + jitter * self.spread * rng.standard_normal(x.size)
        between = (self.values[1:] + self.values[:-1]) / 2
        moved: Floats = np.where(
            x == self.none, x, self.values[np.searchsorted(between, noisy, side="left")]
        )
        return moved


def grids(X: Floats, space: Space, weight: Floats | None = None) -> list[Grid]:
    """The grids of the numbers that vary among rows X float64[n, d]; weights enter the spread."""
    if X.ndim != 2 or X.shape[1] != len(space):
        raise BadInput(f"the space has {len(space)} columns, the rows have shape {X.shape}")
    weight = uneven(weight)
    found = [_grid(j, parameter, X[:, j], weight) for j, parameter in enumerate(space)]
    return [grid for grid in found if grid is not None]


def perturb(X: Floats, among: list[Grid], jitter: float, rng: np.random.Generator) -> Floats:
    """The rows X float64[n, d] with every number moved by a little noise.

    A moved number is put back on the nearest value that was seen. That keeps the levels of a
    setting apart, and training is several times faster than on numbers that are all distinct.
    """
    moved = X.copy()
    for grid in among:
        moved[:, grid.column] = grid.move(X[:, grid.column], jitter, rng)
    return moved


def resample(kinds: Rows, rng: np.random.Generator) -> tuple[Rows, Floats]:
    """A bootstrap resample: the rows that were drawn, and how often each was.

    `kinds` [n] numbers the configurations 0, 1, ... of the rows. Whole configurations are drawn:
    what a model has not seen then is no repetition of what it has.
    """
    many = int(kinds.max()) + 1
    draws = max(1, round(many * min(1.0, _DRAWS / kinds.size)))
    drawn = np.bincount(rng.integers(0, many, draws), minlength=many)[kinds]
    taken = np.flatnonzero(drawn)
    return taken, drawn[taken].astype(np.float64)


def _grid(
    column: int, parameter: Number | Category, x: Floats, weight: Floats | None
) -> Grid | None:
    if isinstance(parameter, Category):
        return None
    none = parameter.none_code
    given = x != none
    present, counts = x[given], None if weight is None else weight[given]
    values = np.unique(present)
    return Grid(column, values, deviation(present, counts), none) if values.size > 1 else None
