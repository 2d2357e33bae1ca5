"""How certain predictions are: models of perturbed data that disagree (Algorithm 1, step 4).

Decision 0008 (docs/decisions).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import BadInput
from compass.domain.space import Space
from compass.execute.arrays import checked, damaged, floats, under, whole
from compass.model.base import Task
from compass.model.forest import grow
from compass.model.trees import flat
from compass.model.trees.flat import FlatForest
from compass.prepare.split import configurations
from compass.settings import ForestSettings, Settings
from compass.trust.expected import CHECKED, expected, learn_errors, size_of
from compass.trust.perturb import grids, perturb, resample
from compass.trust.rank import Floats, Ranks, sample

_MEASURE = "the saved measure of certainty"
_ARRAYS = {
    "models": whole("targets", least=1, some=True),
    "scales": floats("targets", above=0),
    "sizes": floats("targets", least=0, missing=True),
    "rows": floats("rows", "width", some=True),
    "weight": floats("rows", least=0),
    "known": floats("rows", least=0),
    "usual": floats("rows", least=0),
}
_ROUNDING = 1e-12  # share of a prediction below which a difference is rounding


@dataclass(frozen=True, eq=False)
class Perturbed:
    """Models trained on perturbed versions of the training rows, apart from the surrogate."""

    forests: tuple[FlatForest, ...]  # one per target: the trees of its models, one after another
    models: NDArray[np.int64]  # [targets] P: how many models the trees of a target make
    scales: Floats  # [targets] variance of each target over the training rows
    rows: Floats  # [v, d] validation rows to compare with
    weight: Floats  # [v]
    known: Floats  # [v] variance at these rows
    errors: tuple[FlatForest, ...]  # one per target: errors of similar runs (`expected`)
    sizes: Floats  # [targets] below this an outcome counts as zero; NaN for classes
    usual: Floats  # [v] expected error at these rows

    @classmethod
    def fit(
        cls,
        X_train: Floats,
        y: Mapping[str, Floats],
        tasks: Mapping[str, Task],
        space: Space,
        settings: Settings,
        seed: int,
        *,
        X_valid: Floats,
        weight: Floats | None = None,
        valid_weight: Floats | None = None,
    ) -> "Perturbed":
        """Train on encoded rows float64[n, d] and outcomes float64[n] by name.

        Each of the P models of a target sees its own bootstrap resample of the configurations with
        every number moved a little (`perturb`). From the runs that a model has not seen a small
        forest learns how wrong such models are (`expected`). At most `validation_rows` validation
        rows are compared with, drawn by the seed.
        """
        if not y:
            raise BadInput("there is no outcome whose certainty could be measured")
        parts, unseen = _grown(X_train, y, tasks, space, settings, seed, weight)
        sizes = np.array([size_of(y[name], tasks[name], weight) for name in y])
        some = sample(X_train.shape[0], CHECKED, seed)
        errors = tuple(
            learn_errors(
                X_train[some],
                y[name][some],
                [flat.mean(part, X_train[some]) for part in parts[name]],
                unseen[:, some],
                task=tasks[name],
                least=least,
                weight=None if weight is None else weight[some],
                seed=seed,
                settings=settings,
            )
            for name, least in zip(y, sizes.tolist(), strict=True)
        )
        forests = tuple(flat.concatenate(found) for found in parts.values())
        models = np.full(len(forests), settings.trust.models, dtype=np.int64)
        scales = np.array([_variance_of(y[name], tasks[name], weight) for name in y])
        chosen = sample(X_valid.shape[0], settings.trust.validation_rows, seed)
        against = X_valid[chosen]
        mass = np.ones(chosen.size) if valid_weight is None else valid_weight[chosen]
        known = _disagreement(forests, models, scales, against)
        usual = _expected(forests, errors, sizes, against)
        return cls(forests, models, scales, against, mass, known, errors, sizes, usual)

    @classmethod
    def together(cls, parts: Sequence["Perturbed"]) -> "Perturbed":
        """One measure for several targets from those of each; their mean variance counts."""
        if not parts:
            raise BadInput("there is no outcome whose certainty could be measured")
        if len(parts) == 1:
            return parts[0]
        base = max(parts, key=lambda part: part.rows.shape[0])
        shared = all(np.array_equal(part.rows, base.rows) for part in parts)
        targets = np.array([part.scales.size for part in parts])
        known = [part.known if shared else part.variance(base.rows) for part in parts]
        usual = [part.usual if shared else part.error(base.rows) for part in parts]
        return cls(
            tuple(forest for part in parts for forest in part.forests),
            np.concatenate([part.models for part in parts]),
            np.concatenate([part.scales for part in parts]),
            base.rows,
            base.weight,
            _mean([k * n for k, n in zip(known, targets, strict=True)], int(targets.sum())),
            tuple(forest for part in parts for forest in part.errors),
            np.concatenate([part.sizes for part in parts]),
            _mean([u * n for u, n in zip(usual, targets, strict=True)], int(targets.sum())),
        )

    @cached_property
    def ranks(self) -> Ranks:
        """The variances of the validation rows, in order."""
        return Ranks.of(self.known, self.weight)

    @cached_property
    def usual_ranks(self) -> Ranks:
        """The expected errors of the validation rows, in order."""
        return Ranks.of(self.usual, self.weight)

    def variance(self, X: Floats) -> Floats:
        """Variance over the models float64[n] at X float64[n, d], in variances of the target.

        Classes: the mean over classes of the variance of the scores. Several targets: their mean.
        """
        return _disagreement(self.forests, self.models, self.scales, X)

    def uq(self, X: Floats) -> Floats:
        """Share float64[n] of validation rows whose prediction is strictly more certain."""
        return self.ranks.below(self.variance(X))

    def error(self, X: Floats) -> Floats:
        """The expected error float64[n] at X float64[n, d] as a share; several targets: the mean.

        See `expected`: from errors at similar runs, and from how far trees lie apart.
        """
        return _expected(self.forests, self.errors, self.sizes, X)

    def risk(self, X: Floats) -> Floats:
        """Share float64[n] of validation rows whose expected error is strictly smaller."""
        return self.usual_ranks.below(self.error(X))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything needed to restore it, as plain arrays."""
        found: dict[str, NDArray[np.generic]] = {name: getattr(self, name) for name in _ARRAYS}
        for prefix, forests in (("", self.forests), ("errors/", self.errors)):
            for place, forest in enumerate(forests):
                found |= {f"{prefix}{place}/{n}": array for n, array in forest.arrays().items()}
        return found

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]]) -> "Perturbed":
        """The models whose `arrays()` these are; variances are the same bit for bit."""
        found, sizes = checked(arrays, _ARRAYS, _MEASURE)
        if not found["weight"].any():
            raise damaged(_MEASURE, "none of its rows counts")
        each = range(sizes["targets"])
        forests = tuple(flat.restore(under(arrays, f"{i}/")) for i in each)
        models = found["models"].tolist()
        if any(forest.trees % n for n, forest in zip(models, forests, strict=True)):
            raise damaged(_MEASURE, "its trees cannot be shared out among its models")
        errors = tuple(flat.restore(under(arrays, f"errors/{i}/")) for i in each)
        if any(forest.width != sizes["width"] for forest in (*forests, *errors)):
            raise damaged(_MEASURE, "its trees are about other columns than its rows have")
        if any(forest.outputs != 1 or forest.value.min() < 0 for forest in errors):
            raise damaged(_MEASURE, "its expected errors are no sizes")
        return cls(forests=forests, errors=errors, **found)


def _grown(
    X: Floats,
    y: Mapping[str, Floats],
    tasks: Mapping[str, Task],
    space: Space,
    settings: Settings,
    seed: int,
    weight: Floats | None,
) -> tuple[dict[str, list[FlatForest]], NDArray[np.bool_]]:
    """The models of each target, and which rows each of them has not seen, [models, n]."""
    trust, among = settings.trust, grids(X, space, weight)
    kinds = np.unique(configurations(X), return_inverse=True)[1].ravel()
    unseen = np.ones((trust.models, kinds.size), dtype=bool)
    parts: dict[str, list[FlatForest]] = {name: [] for name in y}
    for model in range(trust.models):
        rng = np.random.default_rng([seed, model])
        rows, counts = resample(kinds, rng)
        unseen[model, rows] = False
        moved = perturb(X[rows], among, trust.jitter, rng)
        mass = counts if weight is None else counts * weight[rows]
        for name, values in y.items():
            grown = grow(
                moved,
                values[rows],
                task=tasks[name],
                weight=mass,
                seed=int(rng.integers(2**31)),
                settings=_forest(settings),
                threads=settings.threads,
            )
            parts[name].append(grown)
    return parts, unseen


def _forest(settings: Settings) -> ForestSettings:
    return settings.forest.model_copy(update={"trees": settings.trust.trees})


def _disagreement(
    forests: tuple[FlatForest, ...], models: NDArray[np.int64], scales: Floats, X: Floats
) -> Floats:
    shares = [
        _variance(forest, int(many), X) / scale
        for forest, many, scale in zip(forests, models, scales, strict=True)
    ]
    return _mean(shares, len(shares))


def _expected(
    forests: tuple[FlatForest, ...], errors: tuple[FlatForest, ...], sizes: Floats, X: Floats
) -> Floats:
    shares = [
        expected(forest, error, least, X)
        for forest, error, least in zip(forests, errors, sizes.tolist(), strict=True)
    ]
    return _mean(shares, len(shares))


def _variance(forest: FlatForest, models: int, X: Floats) -> Floats:
    every = forest.parts(models).mean(X)
    predicted = [every[:, p * forest.outputs :][:, : forest.outputs] for p in range(models)]
    centre = _mean(predicted, models)
    rounding = _ROUNDING * np.abs(centre)
    apart = [np.where(np.abs(one - centre) <= rounding, 0.0, one - centre) for one in predicted]
    by_output = _mean([one * one for one in apart], models)
    return _mean(list(by_output.T), forest.outputs)


def _mean(parts: Sequence[Floats], count: int) -> Floats:
    # One array at a time: numpy's own sums may add in another order when there is a single row,
    # and the same configuration must have the same variance in every batch.
    mean: Floats = reduce(add, parts) / count
    return mean


def _variance_of(y: Floats, task: Task, weight: Floats | None) -> float:
    # Of classes: the mean variance of "is it this class", the counterpart of that of a score.
    if task.classes is None:
        columns = y[np.newaxis]
    else:
        columns = (y == np.arange(task.classes)[:, np.newaxis]).astype(np.float64)
    centre = np.average(columns, axis=1, weights=weight)[:, np.newaxis]
    variance = float(np.average((columns - centre) ** 2, axis=1, weights=weight).mean())
    return variance if variance > 0 else 1.0
