"""How the columns of a table depend on each other: pure functions of arrays.

All of it is looked for in a sample of the rows, so that a long table costs no more than a short
one, and costs at most the square of the columns times that sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LEVELS = 24  # values up to which each is a group of its own; more are cut into as many bins
BINS = 10
_BEYOND_CHANCE = 5.0  # standard deviations of what chance explains
_NOTABLE = 0.02  # a smaller share is not worth speaking of, however sure
_CLOSE = 2e-3  # largest relative error of a formula: values are written with few digits
_MOST = 0.97  # of the rows a formula has to hold in
_PRESENT = 0.8  # of its cells
_NEAR = 30  # columns before and behind a total that its parts are looked for in
_MIXTURES = 4  # of the rows, in which columns have to add up before they are compared
_CANDIDATES = 400_000  # sums of two that are looked at


def groups_of(values: Floats) -> Codes:
    """Groups of rows by the values of a column [n]: one per value, or bins; missing is a group."""
    found, codes = np.unique(values, return_inverse=True)  # NaN comes last, as one value
    if len(found) <= LEVELS:
        return codes.astype(np.int64)
    known = np.isfinite(values)
    edges = np.unique(np.quantile(values[known], np.linspace(0, 1, BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, values, side="right")
    bins[~known] = len(edges) + 1
    return bins.astype(np.int64)


def ranks_of(values: Floats) -> Floats:
    """The ranks of a column [n], standardised; equal values share one, missing cells have 0."""
    known = np.isfinite(values)
    ranks = np.zeros(len(values))
    _, codes, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    ranks[known] = middle[codes]
    spread = ranks[known].std() if known.any() else 0.0
    if spread == 0:
        return np.zeros(len(values))
    ranks[known] = (ranks[known] - ranks[known].mean()) / spread
    return ranks


def explained(
    groups: list[Codes], ranks: Floats, causes: Sequence[int]
) -> tuple[Floats, NDArray[np.bool_]]:
    """How much of each column's ranks [n, d] the groups of each of the causes explain, [d, d].

    The share is corrected for what chance explains (eta squared, adjusted); the second array says
    which shares are beyond chance.
    """
    rows = max(len(ranks), 2)
    share = np.zeros((len(groups), ranks.shape[1]))
    sure = np.zeros(share.shape, dtype=bool)
    narrow = ranks.astype(np.float32)
    for place in causes:
        codes = groups[place]
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        if len(starts) < 2 or len(starts) > rows / 3:
            continue
        sizes = np.diff(starts, append=len(codes))
        # No product of matrices: its threads would wait for each other on a busy machine.
        sums = np.add.reduceat(narrow[order], starts, axis=0).astype(np.float64)
        raw = (sums**2 / sizes[:, None]).sum(axis=0) / rows
        chance = (len(starts) - 1) / (rows - 1)
        share[place] = (raw - chance) / (1 - chance)
        limit = max(_NOTABLE, _BEYOND_CHANCE * np.sqrt(2 * (len(starts) - 1)) / rows)
        sure[place] = share[place] > limit
    return np.clip(share, 0.0, 1.0), sure


@dataclass(frozen=True)
class Formula:
    """A column that follows from others: the product or the sum of `parts`, up to a factor."""

    kind: Literal["product", "sum"]
    whole: int
    parts: tuple[int, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """All columns that it ties together."""
        return (self.whole, *self.parts)


def formulas(values: Floats) -> list[Formula]:
    """The products and sums of two columns, and sums of neighbours, among values [n, d].

    Columns in which many cells are missing, or with fewer than three values, take part in none.
    """
    known = np.isfinite(values)
    mostly = np.flatnonzero(known.sum(axis=0) >= _PRESENT * len(values))
    values = values[known[:, mostly].all(axis=1)]
    usable = [int(place) for place in mostly if len(np.unique(values[:, place])) > 2]
    positive = [place for place in usable if (values[:, place] > 0).all()]
    found = [
        Formula("product", whole, parts)
        for whole, parts in _sums_of_two(np.log(values[:, positive]), positive, scaled=False)
    ]
    alike = {tuple(sorted(one.columns)) for one in found}
    sums = [
        Formula("sum", whole, parts)
        for whole, parts in [
            *_sums_of_two(values[:, positive], positive, scaled=True),
            *_sums_of_neighbours(values, positive),
        ]
    ]
    return [*found, *(one for one in sums if tuple(sorted(one.columns)) not in alike)]


def _sums_of_two(
    values: Floats, places: list[int], *, scaled: bool
) -> list[tuple[int, tuple[int, int]]]:
    """Which column is the sum of which two others, up to a constant; exactly one if `scaled`.

    A random mixture of the rows turns every column into a number: only where the numbers of two
    columns add up to that of a third, in several mixtures, the columns themselves are compared.
    """
    rows, columns = values.shape
    if rows < 8 or columns < 3:
        return []
    shifted = values if scaled else values - values.mean(axis=0)
    size = np.sqrt(np.mean(shifted**2, axis=0)) if scaled else np.full(columns, 0.5)
    mixed = _mixtures(rows) @ shifted  # [mixtures, columns]
    order = np.argsort(mixed[0])
    first, second = np.triu_indices(columns, 1)
    slack = 4 * _CLOSE * (size[first] + size[second])
    wanted = mixed[:, first] + mixed[:, second]
    low = np.searchsorted(mixed[0, order], wanted[0] - slack)
    high = np.searchsorted(mixed[0, order], wanted[0] + slack)
    pair = np.repeat(np.arange(len(first)), high - low)[:_CANDIDATES]
    starts = np.cumsum(high - low) - (high - low)
    whole = order[low[pair] + np.arange(len(pair)) - starts[pair]]
    close = (np.abs(mixed[:, whole] - wanted[:, pair]) <= slack[pair]).all(axis=0)
    close &= (whole != first[pair]) & (whole != second[pair])
    found = []
    for target, at in zip(whole[close].tolist(), pair[close].tolist(), strict=True):
        one, other = int(first[at]), int(second[at])
        if _adds_up(shifted[:, target], shifted[:, [one, other]], scaled):
            found.append((places[target], (places[one], places[other])))
    return found


def _mixtures(rows: int) -> Floats:
    """Random weights of rows [mixtures, rows], such that a mixture is as large as a row."""
    drawn: Floats = np.random.default_rng(0).normal(size=(_MIXTURES, rows))
    return np.asarray(drawn / np.sqrt(rows))


def _adds_up(whole: Floats, parts: Floats, scaled: bool) -> bool:
    """Whether parts [n, 2] add up to the whole [n], and both matter."""
    bound = _CLOSE * np.abs(whole) if scaled else np.full(len(whole), _CLOSE)
    error = np.abs(whole - parts.sum(axis=1))
    # What hardly varies adds to anything.
    varies = parts.std(axis=0) > 3 * bound.mean()
    return bool(np.mean(error <= bound) >= _MOST and varies.all())


def _sums_of_neighbours(values: Floats, places: list[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Which column is the sum of three or more columns that stand side by side, close to it."""
    rows = len(values)
    if rows < 8:
        return []
    mixture = _mixtures(rows)[0]
    found = []
    mixed = mixture @ values
    for block in _blocks(places):
        for at, whole in enumerate(block):
            target = values[:, whole]
            slack = 4 * _CLOSE * np.sqrt(np.mean(target**2))
            for beside in (block[max(0, at - _NEAR) : at], block[at + 1 : at + 1 + _NEAR]):
                cumulated = np.concatenate([[0.0], mixed[beside].cumsum()])
                sums = cumulated[None, :] - cumulated[:, None]  # [from this column, to before that]
                near = np.triu(np.abs(sums - mixed[whole]) <= slack, 3)
                for begin, end in zip(*np.nonzero(near), strict=True):
                    parts = tuple(beside[begin:end])
                    error = np.abs(values[:, parts].sum(axis=1) - target)
                    if np.mean(error <= _CLOSE * np.abs(target)) >= _MOST:
                        found.append((whole, parts))
    return found


def _blocks(places: list[int]) -> list[list[int]]:
    """Runs of columns that stand side by side."""
    blocks = [places[:1]]
    for one, other in pairwise(places):
        if other == one + 1:
            blocks[-1].append(other)
        else:
            blocks.append([other])
    return [block for block in blocks if len(block) >= 3]
