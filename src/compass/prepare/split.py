"""Seeded splits into rows to learn from and rows to check with.

Every function returns (train, valid): sorted int64 row positions that together are all rows.
"""

import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compass.domain.errors import DataProblem
from compass.native import kernel

Rows = NDArray[np.int64]
_CLOSE = 0.25  # a share of the rows that is missed by more than this part of it is not taken

_configurations = kernel("configurations")


def by_row(n: int, share: float, seed: int) -> tuple[Rows, Rows]:
    """A random share of the rows for checking."""
    _check_share(share)
    if n < 2:
        raise DataProblem(
            f"{n} row{'' if n == 1 else 's'} cannot be split into two parts", hint="add more runs"
        )
    chosen = np.random.default_rng(seed).permutation(n)[: _part(n, share)]
    return _two(n, chosen)


def by_group(groups: ArrayLike, share: float, seed: int) -> tuple[Rows, Rows]:
    """Random whole groups for checking, about a share of the rows; no group is on both sides.

    `groups` holds one label per row, [n]. Which side a group is on does not change when others
    are added, unless there are so few or so unequal ones that the share would be missed.
    """
    _check_share(share)
    names, of_row = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < 2:
        raise DataProblem(
            "all rows belong to one group, which cannot be on both sides of a split",
            hint="group by another column, or split by row",
        )
    sizes = np.bincount(of_row)
    wanted = share * len(of_row)
    luck = _luck(names, seed)
    lucky = luck < share
    if abs(float(sizes[lucky].sum()) - wanted) <= _CLOSE * wanted and not lucky.all():
        return _two(len(of_row), np.flatnonzero(lucky[of_row]))
    return _two(
        len(of_row), np.flatnonzero(np.isin(of_row, _dealt(sizes, np.argsort(luck), wanted)))
    )


def _dealt(sizes: NDArray[np.int64], order: NDArray[np.int64], wanted: float) -> list[int]:
    """Groups in this order whose sizes come close to `wanted`: at least one, never all."""
    taken: list[int] = []
    total = 0
    for group in order.tolist():
        size = int(sizes[group])
        # Take a group when that brings the share closer; the first always, never all of them.
        if taken and abs(total + size - wanted) > abs(total - wanted):
            continue
        if len(taken) == len(sizes) - 1:
            break
        taken.append(group)
        total += size
    return taken


def _luck(names: NDArray[np.generic], seed: int) -> NDArray[np.float64]:
    """A number in [0, 1) for each label, [g], that depends on the label and the seed only.

    So a group stays on its side when rows of other groups arrive.
    """
    if names.dtype.kind in "iu":
        keys = names.astype(np.uint64)
    else:
        digests = (hashlib.blake2b(str(name).encode(), digest_size=8).digest() for name in names)
        keys = np.frombuffer(b"".join(digests), dtype=np.uint64)
    salt = _mixed(np.array([seed], dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15))
    return np.asarray(_mixed(_mixed(keys) ^ salt) / 2.0**64)


def by_time(times: ArrayLike, share: float) -> tuple[Rows, Rows]:
    """The latest share of the rows for checking; rows of one moment stay together.

    `times` holds one number per row, [n]; larger is later.
    """
    _check_share(share)
    moments = np.asarray(times, dtype=np.float64)
    if np.isnan(moments).any():
        raise DataProblem(
            f"{int(np.isnan(moments).sum())} rows have no time, so they cannot be ordered",
            hint="choose another time column, or split by row",
        )
    if len(np.unique(moments)) < 2:
        raise DataProblem(
            "all rows are of one moment, so they cannot be split by time", hint="split by row"
        )
    ordered = np.sort(moments)
    cut = ordered[len(ordered) - _part(len(ordered), share)]
    late = moments >= cut
    if late.all():
        late = moments > cut
    return _two(len(moments), np.flatnonzero(late))


def by_configuration(X: NDArray[np.float64], share: float, seed: int) -> tuple[Rows, Rows]:
    """Random configurations for checking; identical rows of X [n, d] are on one side."""
    if len(X) < 2:
        return by_row(len(X), share, seed)
    groups = configurations(X)
    if (groups == groups[0]).all():
        raise DataProblem(
            "all runs have the same configuration, so there is nothing to compare",
            hint="add runs with other values, or check which columns are knobs",
        )
    return by_group(groups, share, seed)


def folds(groups: ArrayLike, count: int, seed: int) -> NDArray[np.int64]:
    """Which of `count` parts each row is checked in, [n]; no group is in two of them.

    Whole groups in random order are dealt out by size. Fewer groups than parts: fewer parts.
    """
    names, of_row = np.unique(np.asarray(groups), return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names))
    sizes = np.bincount(of_row, minlength=len(names))[order]
    parts = max(min(count, len(names)), 1)
    # The middle of a group in the line of all rows says where it belongs.
    middle = np.cumsum(sizes) - sizes / 2
    part = np.empty(len(names), dtype=np.int64)
    part[order] = np.minimum(middle * parts / sizes.sum(), parts - 1).astype(np.int64)
    return np.asarray(np.unique(part, return_inverse=True)[1][of_row], dtype=np.int64)


def configurations(X: NDArray[np.float64]) -> NDArray[np.uint64]:
    """A number per row, [n], that is the same for identical rows of X [n, d] (NaN equals NaN).

    A hash: two different rows may share a number once in 10**19 pairs, which merely keeps them
    together.
    """
    hashed = np.empty(len(X), dtype=np.uint64)
    _configurations(np.ascontiguousarray(X, dtype=np.float64), hashed)
    return hashed


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # The finaliser of splitmix64: every bit of the input changes about half of the output.
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise DataProblem(
            f"the share of rows to check with must be between 0 and 1, not {share:g}",
            hint="0.2 is usual",
        )


def _part(n: int, share: float) -> int:
    return min(max(round(n * share), 1), n - 1)


def _two(n: int, valid: NDArray[np.int64]) -> tuple[Rows, Rows]:
    inside = np.zeros(n, dtype=bool)
    inside[valid] = True
    return np.flatnonzero(~inside).astype(np.int64), np.flatnonzero(inside).astype(np.int64)
