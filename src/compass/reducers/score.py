"""How much a row is worth keeping: what a pilot model gets wrong about it, and is unsure of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.native import kernel
from compass.reducers.columns import Binned, Bins, Cells
from compass.reducers.oblivious import Oblivious, learn
from compass.settings import ReduceSettings

Floats = NDArray[np.float64]

_SPAN = 20.0  # an outcome whose 95th percentile is this many times its 5th is learnt as a logarithm
_LEARN = 0.75  # share of the pilot rows that trees learn from; the others tell how wrong they are
_add_error = kernel("add_error")
_to_probabilities = kernel("to_probabilities")


@dataclass(frozen=True)
class PilotTarget:
    """An outcome, or one label of it, as the pilot model learns it."""

    name: str
    label: Value = None  # None: the outcome is a number
    log: bool = False

    def values(self, columns: Mapping[str, Cells]) -> Floats:
        """What was measured in a batch, float64[n]; NaN where it cannot be learnt."""
        cells = columns[self.name]
        if self.label is not None:
            codes, labels = cells.codes()
            hit = np.array([*(float(label == self.label) for label in labels), np.nan])
            found: Floats = hit[codes]
            return found
        values = cells.numbers()
        return values if values.dtype == np.float64 else values.astype(np.float64)

    def scaled(self, values: Floats) -> Floats:
        """The values on the scale that is learnt."""
        if not self.log:
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(values)


@dataclass(frozen=True)
class PilotModel:
    """A target, the trees that predict it, and the usual size of their error."""

    target: PilotTarget
    trees: Oblivious
    usual: float  # mean square of error and spread on rows that the trees have not seen
    explained: float  # R2 on those rows


@dataclass(frozen=True)
class Scorer:
    """Turns a batch into scores; 1 is the usual one."""

    features: tuple[Binned, ...]
    targets: tuple[PilotModel, ...]

    def scores(self, columns: Mapping[str, Cells], bins: Bins) -> Floats:
        """float64[n]: root of the mean square of error and spread, in their usual size."""
        found: Floats = np.sqrt(self._squares(columns, bins) / len(self.targets))
        return found

    def probabilities(self, columns: Mapping[str, Cells], bins: Bins, a: float, b: float) -> Floats:
        """float64[n]: min(1, a + b * score)."""
        squares = self._squares(columns, bins)
        _to_probabilities(squares, len(self.targets), a, b)
        return squares

    def _squares(self, columns: Mapping[str, Cells], bins: Bins) -> Floats:
        total = np.zeros(bins.shape[1])
        for one in self.targets:
            measured = one.target.values(columns)
            trees = one.trees
            _add_error(
                trees.sums(bins), trees.base, trees.step, measured, one.target.log, one.usual, total
            )
        return total


def target_of(name: str, values: Floats) -> PilotTarget:
    """A number as a target: on a logarithmic scale if it spans orders of magnitude."""
    finite = values[np.isfinite(values)]
    low, high = np.percentile(finite, [5, 95]) if len(finite) else (0.0, 0.0)
    return PilotTarget(name, log=bool(len(finite) and finite.min() > 0 and high > _SPAN * low))


def scorer_of(
    features: Sequence[Binned],
    targets: Sequence[PilotTarget],
    columns: Mapping[str, Cells],
    bins: Bins,
    seed: int,
    how: ReduceSettings,
) -> tuple[Scorer, NDArray[np.bool_]] | None:
    """A pilot model of these rows, and which of them it has not learnt from; None: too few."""
    rng = np.random.default_rng([seed, bins.shape[1]])
    apart = np.greater_equal(rng.random(bins.shape[1]), _LEARN)
    found = []
    for target in targets:
        y = target.scaled(target.values(columns))
        known = np.isfinite(y)
        train, rest = known & ~apart, known & apart
        if train.sum() < 8 or rest.sum() < 8 or np.ptp(y[train]) == 0:
            continue
        trees = learn(
            bins[:, train], y[train], seed, trees=how.trees, depth=how.depth, rate=how.rate
        )
        members = trees.members(np.ascontiguousarray(bins[:, rest]))
        error = y[rest] - members.mean(axis=0)
        usual = float((error**2 + members.var(axis=0, ddof=1)).mean())
        within = float(np.var(y[rest]))
        if usual > 0:
            explained = 1 - float((error**2).mean()) / within if within else 0.0
            found.append(PilotModel(target, trees, usual, explained))
    return (Scorer(tuple(features), tuple(found)), apart) if found else None


def pruned(scorer: Scorer) -> Scorer:
    """The same scores from the borders that some tree asks about: fewer comparisons per cell."""
    features, targets = list(scorer.features), list(scorer.targets)
    for place, feature in enumerate(features):
        if feature.borders is None:
            continue
        asked = [one.trees.borders[one.trees.features == place] for one in targets]
        used = np.unique(np.concatenate(asked))
        used = used[used < len(feature.borders)]
        new = np.full(256, 255, dtype=np.uint8)
        new[used] = np.arange(len(used))
        features[place] = Binned(feature.name, feature.borders[used])
        targets = [_renumbered(one, place, new) for one in targets]
    return Scorer(tuple(features), tuple(targets))


def _renumbered(scored: PilotModel, place: int, new: Bins) -> PilotModel:
    trees = scored.trees
    borders = np.where(trees.features == place, new[trees.borders], trees.borders)
    return replace(scored, trees=replace(trees, borders=borders.astype(np.uint8)))
