"""Past runs laid out so that pairs of comparable ones are found at once.

A pair is two past runs with the same context (see `comparable`), one near the old value of a
parameter and one near the new, that agree in everything else: what still differs counts against
the pair, and beyond a tolerance it is none. No run is in two pairs, so that pairs can be counted.
The nearest to the suggestion are taken.

Numbers count by their difference in standard deviations (of the logarithm where the values span a
factor of 8 and more), a number against `none` and different categories count 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Number, Space
from compass.execute.arrays import damaged
from compass.native import kernel
from compass.trust.distance import CATEGORY, OPTIONAL, squares
from compass.trust.pairs.comparable import Identity
from compass.trust.rank import Floats, Rows

_FACTOR = 8.0  # highest over lowest from which a number is compared by its logarithm
_GATHERED = 32  # runs on each side that are paired, the nearest to the suggestion
_LOOKED_AT = 300  # runs whose twins are looked for
_REACH = 1.0  # how far the sizes of a pair may be from those of the question, in distances

_totals = kernel("totals")
_shift = kernel("shift")
_find = kernel("find")


@dataclass(frozen=True, eq=False)
class Paired:
    """Pairs of comparable runs for one move."""

    old: Rows  # [p] row of the run near the old value
    new: Rows  # [p]
    weight: Floats  # [p] 1: they agree in everything else


@dataclass(frozen=True, eq=False)
class Around:
    """How far runs are from a configuration."""

    first: int  # the first of them in the ledger
    apart: Floats  # [m] squares of distances; infinite: a problem of another size
    point: Floats  # [d] coordinates of the configuration


@dataclass(frozen=True, eq=False)
class PairScale:
    """What one unit of distance means in each column."""

    kind: Rows  # [d]
    least: Floats  # [d] smallest value whose logarithm is taken; 0: the value itself counts
    centre: Floats  # [d]
    spread: Floats  # [d]
    none: Floats  # [d] what stands for `none`; NaN: it cannot be missing

    @classmethod
    def learn(cls, X: Floats, features: Space) -> "PairScale":
        """The scale of rows X [n, d]."""
        scales = [_scale(X[:, j], parameter) for j, parameter in enumerate(features)]
        kind, *others = (np.array(part) for part in zip(*scales, strict=True))
        return cls(kind.astype(np.int64), *others)

    def place(self, X: Floats) -> Floats:
        """Coordinates [n, d] of rows X [n, d]; NaN is `none`."""
        log = self.least > 0
        moved = (
            np.where(log, np.log(np.maximum(np.where(log, X, 1.0), self.least)), X)
            if log.any()
            else X
        )
        placed = (moved - self.centre) / self.spread
        return np.where(self.none == X, np.nan, placed)

    def point(self, x: Floats) -> Floats:
        """Coordinates [d] of one configuration x [d]."""
        return np.asarray(self.place(x[np.newaxis])[0])


@dataclass(frozen=True, eq=False)
class Sorting:
    """How runs are sorted for finding pairs: what takes longest to work out, and is kept."""

    position: Rows  # [n] runs by their context
    order: NDArray[np.int32]  # [d, n] of these the runs by the value of each column

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What is saved of it."""
        return {"position": self.position, "order": self.order}

    def is_of(self, rows: int, columns: int) -> bool:
        """Whether it names each of so many runs once, and again for each of so many columns."""
        if self.position.shape != (rows,) or self.order.shape != (columns, rows):
            return False
        return all(_each_once(one, rows) for one in (self.position, *self.order))

    def sorts(self, family: NDArray[np.uint64], same: Rows, placed: Floats) -> bool:
        """Whether runs are sorted by it: families and contexts [n] in the order of `position`.

        Kernels rely on it: within each family the values of every column [d, n] ascend, NaN last.
        """
        together = family[1:] == family[:-1]
        ascending = (family[1:] > family[:-1]) | (together & (same[1:] >= same[:-1]))
        return bool(ascending.all()) and all(
            np.array_equal(family[one], family) and _ascends(values[one], together)
            for one, values in zip(self.order, placed, strict=True)
        )


def _each_once(places: NDArray[np.integer], rows: int) -> bool:
    inside = bool(((places >= 0) & (places < rows)).all())
    return inside and bool((np.bincount(places, minlength=rows) == 1).all())


def _ascends(values: Floats, together: NDArray[np.bool_]) -> bool:
    """Whether values [n] ascend where a run and the next are together [n - 1]; NaN is the last."""
    before, after = values[:-1], values[1:]
    fine = (before <= after) | np.isnan(after)
    return bool((fine | ~together).all())


@dataclass(frozen=True, eq=False)
class PairIndex:
    """Past runs laid out for finding pairs: sorted by what they are a run of."""

    scale: PairScale
    columns: Floats  # [d, n] coordinates
    order: NDArray[
        np.int32
    ]  # [d, n] runs by the value of each column, within those of the same labels
    ranked: Floats  # [d, n] these values
    steps: NDArray[np.bool_]  # [d, n - 1] whether a run and the next, comparable one differ
    same: Rows  # [n] runs with the same context have the same number
    whole: Identity
    family: NDArray[np.uint64]  # [n] ascending: the labels of the context
    position: Rows  # [n] row in the caller's data
    labels: Identity
    sized: Rows  # columns of the context that are numbers

    @classmethod
    def build(
        cls,
        X: Floats,
        features: Space,
        columns: Sequence[str],
        sorting: Sorting | None = None,
    ) -> "PairIndex":
        """Lay out complete rows X [n, d]; runs are comparable that agree in these columns.

        `sorting` is that of the same rows, where it is known.
        """
        scale = PairScale.learn(X, features)
        words = [name for name in columns if isinstance(features[name], Category)]
        labels = Identity.learn(X, features, words)
        family = labels.of(X)
        whole = Identity.learn(X, features, columns)
        same = whole.of(X).view(np.int64)
        if sorting is not None and not sorting.is_of(*X.shape):
            raise damaged("the saved view of the runs", "they are sorted in another way")
        order = np.lexsort((same, family)) if sorting is None else sorting.position
        same, family = same[order], family[order]
        placed = np.ascontiguousarray(scale.place(X[order]).T)
        if sorting is not None and not sorting.sorts(family, same, placed):
            raise damaged("the saved view of the runs", "they are sorted in another way")
        ranked = _ranked(placed, family) if sorting is None else sorting.order
        return cls(
            scale=scale,
            columns=placed,
            order=ranked,
            ranked=np.take_along_axis(placed, ranked, axis=1),
            steps=_steps(placed, same),
            same=same,
            whole=whole,
            family=family,
            position=order.astype(np.int64),
            labels=labels,
            sized=np.array(
                [features.names.index(n) for n in columns if n not in words], dtype=np.int64
            ),
        )

    @property
    def sorting(self) -> Sorting:
        """How the runs are sorted."""
        return Sorting(self.position, self.order)

    def varied(self, like: Floats, column: int) -> bool:
        """Whether a column differs between comparable runs with the labels of `like` [d]."""
        first, last = self._family(like)
        return bool(self.steps[column, first : max(last - 1, first)].any())

    def _family(self, like: Floats) -> tuple[int, int]:
        """Where the runs with the labels of a configuration [d] begin and end."""
        label = self.labels.of(like[np.newaxis])[0]
        return (
            int(np.searchsorted(self.family, label, side="left")),
            int(np.searchsorted(self.family, label, side="right")),
        )

    def alike(self, like: Floats, fixed: Sequence[int], tolerance: float) -> Rows:
        """The runs with the context of `like` [d] and, within the tolerance, its fixed columns."""
        first, last = self._family(like)
        own = self.whole.of(like[np.newaxis]).view(np.int64)[0]
        among = list(fixed)
        values, point = self.columns[among, first:last], self.scale.point(like)[among]
        apart = squares(self.scale.kind[among], values, point)
        near = (self.same[first:last] == own) & (apart <= tolerance**2 * (1 + 1e-9))
        return np.asarray(self.position[first:last][near])

    def around(self, x: Floats) -> "Around":
        """How far the runs with the labels of a configuration x [d] are from it."""
        first, last = self._family(x)
        point = self.scale.point(x)
        apart = np.zeros((2, last - first))
        _totals(self.scale.kind, self.columns, first, last, point, self.sized, apart)
        apart[1, apart[0] > _REACH * _REACH] = np.inf
        return Around(first, apart[1], point)

    def twins(self, seed: int, most: float) -> tuple[Rows, Rows]:
        """Pairs of runs that are nearly the same in every column, [p] each: at most so far apart.

        For ledgers of no context. Of large tables a sample is looked at.
        """
        rng = np.random.default_rng(seed)
        found = []
        for i in rng.permutation(self.columns.shape[1])[:_LOOKED_AT]:
            apart = squares(self.scale.kind, self.columns, self.columns[:, i])
            apart[i] = np.inf
            other = int(np.argmin(apart))
            if apart[other] <= most * most:
                found.append((self.position[i], self.position[other]))
        first, second = np.array(found, dtype=np.int64).reshape(-1, 2).T
        return first, second

    def shifted(
        self, around: "Around", x: Floats, moved: Sequence[int], room: Floats | None = None
    ) -> "Around":
        """The same of a configuration x [d] that differs in these columns, none a label.

        `room` [m] is written to: large new arrays cost more than what is worked out in them.
        """
        point = self.scale.point(x)
        apart = np.empty_like(around.apart) if room is None else room
        apart[:] = around.apart
        last = around.first + len(apart)
        for j in moved:
            values = self.columns[j, around.first : last]
            _shift(self.scale.kind[j], values, around.point[j], point[j], apart)
        return Around(around.first, apart, point)

    def pairs(
        self,
        old: Floats,
        new: Floats,
        moved: Sequence[int],
        tolerance: float,
        around: "Around | None" = None,
    ) -> Paired:
        """Pairs of runs for moving these columns from configuration old [d] to new [d].

        `around` the new one saves time where there are several moves.
        """
        around = around or self.around(new)
        start = around.point.copy()
        start[list(moved)] = self.scale.point(old)[list(moved)]
        columns = np.array(sorted(moved), dtype=np.int64)
        others = np.array([j for j in range(len(new)) if j not in moved], dtype=np.int64)
        partner, new_end = np.full((2, _GATHERED), -1, dtype=np.int64)
        gap = np.zeros(_GATHERED)
        _find(
            self.scale.kind,
            self.columns,
            self.order,
            self.ranked,
            self.same,
            around.first,
            around.apart,
            start,
            around.point,
            columns,
            others,
            tolerance,
            partner,
            new_end,
            gap,
        )
        taken = partner >= 0
        weight = 1.0 - gap[taken] / tolerance if tolerance > 0 else np.ones(int(taken.sum()))
        return Paired(self.position[partner[taken]], self.position[new_end[taken]], weight)


def _ranked(placed: Floats, family: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The runs of each family by their values in each column of placed [d, n]."""
    ranks = [np.lexsort((column, family)).astype(np.int32) for column in placed]
    return np.array(ranks, dtype=np.int32).reshape(placed.shape)


def _steps(columns: Floats, same: Rows) -> NDArray[np.bool_]:
    """Where columns [d, n] change between two neighbours with the same context, [d, n - 1]."""
    now, then = columns[:, 1:], columns[:, :-1]
    same_none = np.isnan(now) & np.isnan(then)
    return np.asarray((now != then) & ~same_none & (same[1:] == same[:-1]))


def _scale(values: Floats, parameter: Number | Category) -> tuple[int, float, float, float, float]:
    if isinstance(parameter, Category):
        return (CATEGORY, 0.0, 0.0, 1.0, np.nan)
    none = parameter.none_code
    present = values[values != none]
    if not len(present):
        return (OPTIONAL, 0.0, 0.0, 1.0, none)
    some = present[present > 0]
    log = bool(present.min() >= 0 and len(some) and some.max() >= _FACTOR * some.min())
    # 0 has no logarithm: it stands as far below the smallest as a factor of 8.
    placed = np.log(np.maximum(present, some.min() / _FACTOR)) if log else present
    least = float(some.min() / _FACTOR) if log else 0.0
    return (OPTIONAL, least, float(placed.mean()), float(placed.std()) or 1.0, none)
