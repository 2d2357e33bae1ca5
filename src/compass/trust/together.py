"""Values that past runs had together, and how likely a combination that none had cannot be run.

Nobody writes every rule down: a table of runs shows of two columns only which pairs of their values
were run. A pair that is missing where chance would have shown it is a sign of a rule. With n
different configurations, of which a share p has the one value and q the other, e = n p q are
expected to have both, and none has with probability exp(-e) where nothing forbids it. Of C pairs of
values of two columns U were not run, where U' = sum of exp(-e) are expected; so about
(U - U') / (C - U') of the pairs cannot be run (smoothed towards a prior). The others share the
runs: e / (1 - share) are expected of each, with which the share is worked out again. By Bayes a
pair that was not run cannot be with the chance

    share / (share + (1 - share) exp(-e / (1 - share))).

The same holds of three columns: there e is the least of what their pairs make expected, and only
what no pair speaks against counts. Of a single column a value that no run has speaks against a
configuration where runs repeat their values: the next run has a new value with probability f / n,
where f of the n configurations have a value that no other has (Good and Turing).
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from compass.prepare.split import configurations

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.int64]

_VALUES = 32  # columns with more different values measure something, or name things
_SPARSE = 8  # combinations of two columns per configuration, from where on nothing is to be seen
_REPEATED = 0.5  # a probability of a new value from where on one more is no surprise
_ALONE = 0.5  # at most so likely a single new value cannot be run: it may lie between others
_THREE = 12  # columns, from where on only pairs are looked at: triples would be too many
_PAIR_PRIOR = 1.0, 4.0  # one of four pairs of values cannot be run: as in tuning spaces with rules
_TRIPLE_PRIOR = 1.0, 25.0  # most rules that speak of three columns show in pairs of them
_ROUNDS = 5  # the share of impossible combinations changes how often the others are expected
_MOST = 0.9  # of the combinations at most so many are held to be impossible
_LIMIT = 0.999  # nothing is certain


@dataclass(frozen=True)
class Unseen:
    """Values that no past run had together."""

    columns: tuple[int, ...]
    expected: float  # runs that would have had them by chance
    chance: float  # that they cannot be run together


@dataclass(frozen=True, eq=False)
class SeenTogether:
    """Of the columns that are looked at, which values past runs had together."""

    configurations: int  # different ones
    columns: Codes  # [k] those that are looked at
    values: tuple[Floats, ...]  # [k] the values of each, ascending
    tuples: tuple[tuple[int, ...], ...]  # single ones, pairs, then triples, as places in `columns`
    strides: Floats  # [k, tuples] places of codes in the tables
    offsets: Floats  # [tuples] where the table of each begins
    survival: Floats  # log of the chance that a combination can be run; 0 where it was
    expected: Floats  # how many runs would have had it by chance

    @classmethod
    def of(cls, X: Floats, columns: list[int]) -> "SeenTogether":
        """What runs X [n, d] without missing values show of these columns."""
        _, first = np.unique(configurations(X[:, columns]), return_index=True)
        rows = X[np.sort(first)][:, columns]
        n = len(rows)
        values = [np.unique(rows[:, j]) for j in range(len(columns))]
        used = [j for j, own in enumerate(values) if 1 < len(own) <= min(_VALUES, n)]
        own = tuple(values[j] for j in used)
        codes = np.array([np.searchsorted(v, rows[:, j]) for v, j in zip(own, used, strict=True)])
        sizes = [len(v) for v in own]
        tables = [table for j, size in enumerate(sizes) if (table := _single(codes[j], size, j))]
        counts: dict[tuple[int, int], Floats] = {}
        for a, b in combinations(range(len(used)), 2):
            if sizes[a] * sizes[b] <= _SPARSE * n:
                counts[a, b] = _counted(codes, sizes, (a, b))
                share = counts[a, b].sum(axis=1), counts[a, b].sum(axis=0)
                expected = np.multiply.outer(*share) / n
                everything = np.ones(expected.shape, dtype=np.bool_)
                chance = _chance(counts[a, b], expected, everything, _PAIR_PRIOR)
                tables.append(((a, b), chance, expected))
        if len(used) <= _THREE:
            for abc in combinations(range(len(used)), 3):
                if all(pair in counts for pair in combinations(abc, 2)):
                    found = _counted(codes, sizes, abc)
                    expected, possible = _expected_of_three(counts, abc, n)
                    tables.append(
                        (abc, _chance(found, expected, possible, _TRIPLE_PRIOR), expected)
                    )
        return cls(n, np.array(columns, dtype=np.int64)[used], own, *_laid_out(tables, sizes))

    def chance(self, X: Floats, beside: Floats | None = None) -> Floats:
        """How likely configurations X [n, d] cannot be run, [n].

        What they combine as `beside` [d] does is not held against them.
        """
        if not len(self.tuples) or not len(X):
            return np.zeros(len(X))
        places = self._places(X)
        survival = self.survival[places]
        if beside is not None:
            survival[places == self._places(beside[None, :])] = 0.0
        return np.asarray(-np.expm1(survival.sum(axis=1)))

    def worst(self, x: Floats, beside: Floats | None = None) -> Unseen | None:
        """The values of a configuration x [d] of which it is least likely that they can be run."""
        if not len(self.tuples):
            return None
        places = self._places(x[None, :])[0]
        survival = self.survival[places]
        if beside is not None:
            survival = np.where(places == self._places(beside[None, :])[0], 0.0, survival)
        least = int(np.argmin(survival))
        if survival[least] == 0.0:
            return None
        columns = tuple(int(self.columns[j]) for j in self.tuples[least])
        return Unseen(
            columns, float(self.expected[places[least]]), float(-np.expm1(survival[least]))
        )

    def _places(self, X: Floats) -> Codes:
        """Where the combinations of configurations X [n, d] stand in the tables, [n, tuples].

        A value that no run has comes after those that runs have.
        """
        codes = np.empty((len(X), len(self.columns)))
        for place, (column, values) in enumerate(zip(self.columns, self.values, strict=True)):
            found = np.minimum(np.searchsorted(values, X[:, column]), len(values) - 1)
            codes[:, place] = np.where(values[found] == X[:, column], found, len(values))
        return (codes @ self.strides + self.offsets).astype(np.int64)


_Table = tuple[tuple[int, ...], Floats, Floats]  # columns, chances, expected counts


def _single(codes: Codes, size: int, column: int) -> _Table | None:
    """The table of one column, its last place for any value that no run has; None: all are new."""
    new = float(np.sum(np.bincount(codes, minlength=size) == 1)) / len(codes)
    if new > _REPEATED:
        return None
    chance = np.zeros(size + 1)
    chance[-1] = min(1 - new, _ALONE)
    return (column,), chance, np.zeros(size + 1)


def _counted(codes: Codes, sizes: list[int], columns: tuple[int, ...]) -> Floats:
    """How many configurations have each combination of values of these columns."""
    shape = [sizes[j] for j in columns]
    key = np.ravel_multi_index(tuple(codes[j] for j in columns), shape)
    return np.bincount(key, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


def _expected_of_three(
    counts: dict[tuple[int, int], Floats], columns: tuple[int, ...], n: int
) -> tuple[Floats, Bools]:
    """How often three values are expected together, and whether all of their pairs were run.

    The least of what one column independent of the other two, or two of them independent given
    the third, would show.
    """
    a, b, c = columns
    ab, ac, bc = (
        counts[a, b][:, :, None],
        counts[a, c][:, None, :],
        counts[b, c][None, :, :],
    )
    of_a, of_b = counts[a, b].sum(axis=1)[:, None, None], counts[a, b].sum(axis=0)[None, :, None]
    of_c = counts[a, c].sum(axis=0)[None, None, :]
    options = (
        *(ab * of_c / n, ac * of_b / n, bc * of_a / n),
        *(ab * ac / of_a, ab * bc / of_b, ac * bc / of_c),
    )
    return np.minimum.reduce(options), (ab > 0) & (ac > 0) & (bc > 0)


def _chance(
    counts: Floats, expected: Floats, possible: Bools, prior: tuple[float, float]
) -> Floats:
    """How likely each combination cannot be run; 0 where it was, and where it is not `possible`.

    `prior` is how many combinations that cannot be run were seen before, of how many.
    """
    unseen = possible & (counts == 0)
    share = 0.0
    for _ in range(_ROUNDS):
        silent = np.exp(-expected / (1 - share))
        by_chance = float(silent[possible].sum())
        missing = max(float(unseen.sum()) - by_chance, 0.0) + prior[0]
        share = min(missing / (float(possible.sum()) - by_chance + prior[1]), _MOST)
    found = share / (share + (1 - share) * silent)
    return np.where(unseen, np.minimum(found, _LIMIT), 0.0)


def _laid_out(
    tables: list[_Table], sizes: list[int]
) -> tuple[tuple[tuple[int, ...], ...], Floats, Floats, Floats, Floats]:
    """All tables as one array, so that one look-up finds every combination of a configuration."""
    strides = np.zeros((len(sizes), len(tables)))
    offsets = np.zeros(len(tables))
    survival, expected, total = [], [], 0
    for place, (columns, chance, counts) in enumerate(tables):
        padding = [(0, 1 if len(columns) > 1 else 0)] * len(columns)
        padded = np.pad(chance, padding)
        step = 1
        for axis in reversed(range(len(columns))):
            strides[columns[axis], place] = step
            step *= padded.shape[axis]
        offsets[place] = total
        total += padded.size
        survival.append(np.log1p(-padded).ravel())
        expected.append(np.pad(counts, padding).ravel())
    logs, often = (np.concatenate(one) if one else np.empty(0) for one in (survival, expected))
    return (tuple(columns for columns, _, _ in tables), strides, offsets, logs, often)
