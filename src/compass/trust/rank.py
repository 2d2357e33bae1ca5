"""Where a number stands among those of the validation runs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput, DataProblem

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# Numbers that differ by less than this share of themselves are ties: on a grid of configurations
# many distances are equal but for rounding, and rounding must not rank them.
TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Ranks:
    """The values of the validation runs, ascending, and the share of runs before each."""

    values: Floats  # [n]
    before: Floats  # [n + 1] share of the weight of the first 0 .. n values

    @classmethod
    def of(cls, values: Floats, weight: Floats | None = None) -> "Ranks":
        """Rank these values float64[n]; a run of weight w counts as w runs."""
        if values.size == 0:
            raise DataProblem(
                "there are no validation runs to compare with",
                hint="give more rows, or a larger validation share",
            )
        if weight is not None and (weight.shape != values.shape or not weight.sum() > 0):
            raise BadInput("weights must be one number >= 0 for each row, and not all 0")
        order = np.argsort(values, kind="stable")
        mass = np.ones(values.size) if weight is None else weight[order]
        sums = np.concatenate([[0.0], np.cumsum(mass)])
        return cls(values[order], sums / sums[-1])

    def below(self, x: Floats) -> Floats:
        """Share of the runs whose value is strictly below x float64[n]; ties do not count."""
        found: Floats = self.before[np.searchsorted(self.values, x - TIE * np.abs(x), side="left")]
        return found

    def percentile(self, percent: float) -> float:
        """The smallest value that at least this percentage of the runs does not exceed."""
        reached = np.searchsorted(self.before[1:], percent / 100 * (1 - TIE), side="left")
        return float(self.values[min(int(reached), self.values.size - 1)])


def sample(rows: int, limit: int, seed: int) -> Rows:
    """At most `limit` of the rows, drawn without repetition by the seed; positions ascending."""
    if rows <= limit:
        return np.arange(rows)
    drawn: Rows = np.random.default_rng(seed).choice(rows, limit, replace=False)
    return np.sort(drawn)
