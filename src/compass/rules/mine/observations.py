"""A table to mine: its columns that vary, a sample that refutes quickly, and tests of chance."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from compass.domain.space import Category, Number, Role, Space
from compass.rules.functions import BoolArray, FloatArray
from compass.rules.values import TOLERANCE, without_none

_SAMPLE = 512  # rows that refute most candidates
_DRAWS = 4096  # unrelated combinations that measure chance
_POOL = 4096  # combinations of the other columns' values looked at beside each value
_GIVEN = 256  # values that they are looked at beside
COINCIDENCE = 1e-6  # a dependency must be less likely than this between unrelated columns


class Observations:
    """The encoded table X [n, d] with `none` and missing cells as NaN."""

    def __init__(self, X: FloatArray, space: Space) -> None:
        self.space = space
        self.X = X
        self.names = space.names
        self.place = {name: i for i, name in enumerate(self.names)}
        self.random = np.random.default_rng(0)  # the same table gives the same answer
        rows = len(X)
        size = min(rows, _SAMPLE)
        self.sample = np.sort(self.random.choice(rows, size, replace=False))
        self._columns: dict[str, FloatArray] = {}
        self._codes: dict[str, tuple[FloatArray, npt.NDArray[np.intp]]] = {}

    def column(self, name: str) -> FloatArray:
        """All values of a column [n], NaN where missing or none."""
        if name not in self._columns:
            values = np.ascontiguousarray(self.X[:, self.place[name]])
            self._columns[name] = without_none(values, self.space[name])
        return self._columns[name]

    def sampled(self, name: str) -> FloatArray:
        """The values of a column on the sampled rows."""
        return self.column(name)[self.sample]

    def coded(self, name: str) -> tuple[FloatArray, npt.NDArray[np.intp]]:
        """The distinct values of a column, missing ones apart, and each row's place in them."""
        if name not in self._codes:
            values, codes = np.unique(self.column(name), return_inverse=True)
            self._codes[name] = values[~np.isnan(values)], codes
        return self._codes[name]

    def distinct(self, name: str) -> FloatArray:
        """The distinct values of a column, ascending."""
        return self.coded(name)[0]

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The number columns that vary and are not ignored."""
        found = [p.name for p in self.space if isinstance(p, Number) and p.role != Role.IGNORED]
        return tuple(name for name in found if len(self.distinct(name)) > 1)

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The feature columns that are categories."""
        roles = (Role.KNOB, Role.CONTEXT)
        return tuple(p.name for p in self.space if isinstance(p, Category) and p.role in roles)

    def is_outcome(self, name: str) -> bool:
        """Whether a column is measured, not set."""
        return self.space[name].role is Role.OUTCOME

    def whole(self, name: str) -> bool:
        """Whether every value of a column is a whole number."""
        values = self.distinct(name)
        return bool(np.all(np.floor(values) == values))

    def rows(self, names: Iterable[str]) -> int:
        """How many rows have a value in each of these columns."""
        return int(self.present(names).sum())

    def present(self, names: Iterable[str]) -> BoolArray:
        """The rows [n] with a value in each of these columns."""
        good = np.ones(len(self.X), dtype=np.bool_)
        for name in names:
            good &= ~np.isnan(self.column(name))
        return good

    def combinations(self, names: Sequence[str]) -> int:
        """How many different combinations of values these columns take."""
        return int(self._key(names, self.present(names)).max(initial=-1)) + 1

    def _key(self, names: Sequence[str], rows: BoolArray) -> npt.NDArray[np.int64]:
        """A number per row that is the same for the same combination, counted from 0."""
        key = np.zeros(int(rows.sum()), dtype=np.int64)
        for name in names:
            values, codes = self.coded(name)
            _, key = np.unique(key * (len(values) + 1) + codes[rows], return_inverse=True)
        return key

    def chance(self, names: Sequence[str], holds: Callable[..., BoolArray]) -> float:
        """The share of unrelated combinations of these columns' values for which it holds."""
        drawn = [self.random.choice(self.distinct(name), _DRAWS) for name in names]
        return max(float(np.mean(holds(*drawn))), 1.0 / _DRAWS)

    def surprise(
        self,
        name: str,
        others: Sequence[str],
        legal: Callable[..., BoolArray],
        given: Callable[..., BoolArray] | None = None,
    ) -> float:
        """The probability that unrelated columns would show no illegal combination.

        For each value of `name`, the different values of `others` seen beside it are taken as
        drawn from all that there are (from those that `given` allows): how likely is it that all
        are legal? Rows that repeat a combination, and combinations that can only be legal, add
        nothing. `legal` and `given` take a value of `name` and arrays of the others' values.
        """
        pool = self._pool(others)
        values, seen = self._seen_beside(name, others)
        total = 0.0
        for value, count in zip(values, seen, strict=True):
            open_to = pool if given is None else [p[given(value, *pool)] for p in pool]
            size = len(open_to[0])
            fits = int(np.sum(legal(value, *open_to)))
            total += _log_all_legal(size, max(fits, 1), int(count), exact=size < _POOL)
        return math.exp(total)

    def _pool(self, others: Sequence[str]) -> list[FloatArray]:
        grid = np.meshgrid(*(self.distinct(name) for name in others), indexing="ij")
        flat = [axis.reshape(-1) for axis in grid]
        if len(flat[0]) > _POOL:
            some = self.random.choice(len(flat[0]), _POOL, replace=False)
            flat = [axis[some] for axis in flat]
        return flat

    def _seen_beside(
        self, name: str, others: Sequence[str]
    ) -> tuple[FloatArray, npt.NDArray[np.intp]]:
        """Values of a column, and how many different combinations of the others each goes with."""
        good = self.present((name, *others))
        key = self._key(others, good)
        values, codes = self.coded(name)
        pairs = np.unique(codes[good].astype(np.int64) * (int(key.max(initial=0)) + 1) + key)
        seen = np.bincount(pairs // (int(key.max(initial=0)) + 1), minlength=len(values))
        some = np.linspace(0, len(values) - 1, min(len(values), _GIVEN)).astype(np.intp)
        return values[some], seen[: len(values)][some]


def _log_all_legal(size: int, legal: int, count: int, *, exact: bool) -> float:
    """The logarithm of C(legal, count) / C(size, count), or of (legal / size) ** count."""
    if legal >= size or count == 0:
        return 0.0
    if not exact or count > legal:
        return count * math.log(legal / size)
    ways = math.lgamma(legal + 1) - math.lgamma(legal - count + 1)
    return ways - math.lgamma(size + 1) + math.lgamma(size - count + 1)


def everywhere(holds: BoolArray, *columns: FloatArray) -> bool:
    """Whether it holds on every row without a missing value."""
    missing = np.zeros(np.shape(holds), dtype=np.bool_)
    for column in columns:
        missing |= np.isnan(column)
    return bool(np.all(holds | missing))


def same(a: FloatArray, b: FloatArray) -> BoolArray:
    """Where two columns are equal within the tolerance of rules."""
    return np.asarray(np.abs(a - b) <= TOLERANCE * np.maximum(np.abs(a), np.abs(b)))


def nice(value: float) -> float | None:
    """The whole number, or one over a whole number, that a factor is; None: it is neither."""
    for number, inverse in ((value, False), (1.0 / value if value else 0.0, True)):
        near = float(round(number)) if 0.5 < number < 1e5 else 0.0
        if near and abs(number - near) <= TOLERANCE * near:
            return 1.0 / near if inverse else near
    return None
