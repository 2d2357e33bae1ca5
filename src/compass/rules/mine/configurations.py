"""The different configurations of a table as codes, and how likely a pattern is among them."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from compass.rules.functions import FloatArray
from compass.rules.mine.observations import Observations

Codes = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]

_SOME = 10_000  # configurations that are looked at in strata
_VALUES = 64  # values of a column that are strata of their own
_RANGES = 16  # strata of a number with more values


class Configurations:
    """Each different combination of the features once, a column of codes per feature.

    A code is the place of the value among the column's distinct values; a missing one comes last.
    """

    def __init__(self, data: Observations) -> None:
        numbers = [name for name in data.numbers if not data.is_outcome(name)]
        varying = [name for name in data.categories if len(data.distinct(name)) > 1]
        self.names = (*varying, *numbers)
        self.categories = frozenset(varying)
        self.values: dict[str, FloatArray] = {name: data.distinct(name) for name in self.names}
        first = _first_of_each([data.coded(name)[1] for name in self.names], len(data.X))
        self.codes: dict[str, Codes] = {
            name: np.minimum(data.coded(name)[1][first], len(self.values[name])).astype(np.int64)
            for name in self.names
        }
        self.count = len(first)
        self._counts: dict[tuple[str, str], Counts] = {}
        self._strata: dict[str, Codes | None] = {}
        self._determines: dict[tuple[str, str], bool] = {}

    def size(self, name: str) -> int:
        """How many different values a column has."""
        return len(self.values[name])

    def counts(self, a: str, b: str) -> Counts:
        """How many configurations have each pair of values, [values of a, values of b]."""
        if (a, b) not in self._counts:
            width = self.size(b) + 1
            key = self.codes[a] * width + self.codes[b]
            found = np.bincount(key, minlength=(self.size(a) + 1) * width)
            self._counts[a, b] = found.reshape(-1, width)[: self.size(a), : self.size(b)]
        return self._counts[a, b]

    def determines(self, a: str, b: str) -> bool:
        """Whether each value of one column goes with a single value of the other."""
        if (a, b) not in self._determines:
            pairs = np.unique(self.codes[a] * (self.size(b) + 1) + self.codes[b])
            self._determines[a, b] = len(pairs) == len(np.unique(pairs // (self.size(b) + 1)))
        return self._determines[a, b]

    @cached_property
    def _some(self) -> Codes:
        """Configurations that are enough to look at strata."""
        if self.count <= _SOME:
            return np.arange(self.count)
        return np.sort(np.random.default_rng(0).choice(self.count, _SOME, replace=False))

    def some(self, name: str) -> Codes:
        """The codes of a column in some configurations."""
        return self.codes[name][self._some]

    def strata(self, name: str) -> Codes | None:
        """Some configurations by their value, or range of values, of a column.

        None where there are too many labels: those name things.
        """
        if name not in self._strata:
            codes, size = self.some(name), self.size(name)
            if size > _VALUES and name in self.categories:
                self._strata[name] = None
            elif size > _VALUES:
                present = np.sort(codes[codes < size])
                edges = np.unique(present[np.arange(1, _RANGES) * len(present) // _RANGES])
                ranges = np.searchsorted(edges, codes, side="right")
                self._strata[name] = np.where(codes < size, ranges, _RANGES)
            else:
                self._strata[name] = codes
        return self._strata[name]

    @cached_property
    def log_factorial(self) -> FloatArray:
        """log(n!) for n up to the number of configurations."""
        return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, self.count + 1)))])

    def log_chance(
        self, inside: Counts | int, outside: Counts | int, broken: Counts | int
    ) -> FloatArray:
        """log P that all that break a rule lie outside, were they spread by chance.

        `inside` and `outside` count the configurations with and without the premise, `broken` those
        of the outside that would break the conclusion: C(outside, broken) / C(all, broken).
        """
        f, total = self.log_factorial, np.add(inside, outside)
        apart = f[outside] - f[np.subtract(outside, broken)]
        return np.asarray(apart - f[total] + f[total - broken])


def _first_of_each(columns: list[npt.NDArray[np.intp]], rows: int) -> npt.NDArray[np.intp]:
    """The first row of each different combination of codes, ascending."""
    # 64 random bits per row: that two combinations share them is less likely than a broken disk.
    random, key = np.random.default_rng(0), np.zeros(rows, dtype=np.uint64)
    for codes in columns:
        weights = random.integers(0, 2**64, int(codes.max(initial=0)) + 1, dtype=np.uint64)
        key += weights[codes]
    return np.sort(np.unique(key, return_index=True)[1])
