"""Training the final model of an outcome, and measuring its error on held-out rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Space
from compass.model.base import FitArguments, Fitted, Floats, Learner, Task
from compass.model.error import Score, model_score, small
from compass.model.recipe import Recipe
from compass.settings import Settings

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The rows of one outcome, and the seed and settings of everything trained on them."""

    X: Floats  # [n, d] encoded, nothing missing in the rows that are used
    y: Floats  # [n]
    task: Task
    weight: Floats | None  # [n]; None: all rows count alike
    seed: int
    settings: Settings
    features: Space | None = None

    @property
    def weights(self) -> Floats:
        """How much each row counts, [n]."""
        return np.ones(len(self.y)) if self.weight is None else self.weight

    def weight_of(self, rows: Rows) -> Floats | None:
        """How much these rows count; None: all alike."""
        return None if self.weight is None else self.weight[rows]

    def take(self, rows: Rows) -> "TrainingData":
        """The same with these rows only."""
        return replace(self, X=self.X[rows], y=self.y[rows], weight=self.weight_of(rows))

    def scale_of(self, rows: Rows) -> float | None:
        """The size below which the outcome counts as zero, from these rows; None for classes."""
        if self.task.classes is not None:
            return None
        return small(self.y[rows], self.weight_of(rows))

    def fit(self, learner: Learner, rows: Rows, *, settings: Settings | None = None) -> Fitted:
        """The model that a family or a recipe makes of these rows."""
        options = self.options(rows, settings or self.settings)
        return learner.fit(self.X[rows], self.y[rows], task=self.task, **options)

    def options(self, rows: Rows, settings: Settings) -> FitArguments:
        """What a family needs beside these rows."""
        weight = self.weight_of(rows)
        return FitArguments(
            weight=weight, seed=self.seed, settings=settings, features=self.features
        )

    def score(self, fitted: Fitted, rows: Rows, *, scale: float | None) -> Score:
        """The error of a model on these rows; see `scale_of`."""
        weight = self.weight_of(rows)
        return model_score(fitted, self.X[rows], self.y[rows], scale=scale, weight=weight)


@dataclass(frozen=True, eq=False)
class TrainingPlan:
    """What the final model of an outcome is made by, and from which rows."""

    learner: Learner
    data: TrainingData
    train: Rows
    valid: Rows  # held out: they only measure the error

    def shares_training(self, other: "TrainingPlan") -> bool:
        """Whether both outcomes can be learnt at once: one recipe, the same rows and features."""
        return (
            isinstance(self.learner, Recipe)
            and self.learner.embedding is None  # it is learnt from one outcome
            and self.learner == other.learner
            and self.data.X is other.data.X
            and np.array_equal(self.train, other.train)
        )


@dataclass(frozen=True, eq=False)
class FinalModel:
    """The model that answers come from, and its error on rows that it was not trained on."""

    fitted: Fitted
    score: Score


def train_final(plans: Sequence[TrainingPlan]) -> list[FinalModel]:
    """Train the final models on their training rows and measure their errors on the others.

    Outcomes that one recipe learns from the same rows are trained together.
    """
    found: dict[int, FinalModel] = {}
    for place, first in enumerate(plans):
        if place in found:
            continue
        others = [n for n in range(place + 1, len(plans)) if n not in found]
        together = [place, *(n for n in others if first.shares_training(plans[n]))]
        models = _fit_together([plans[n] for n in together])
        for n, fitted in zip(together, models, strict=True):
            found[n] = with_score(fitted, plans[n].data, plans[n].train, plans[n].valid)
    return [found[place] for place in range(len(plans))]


def with_score(fitted: Fitted, data: TrainingData, train: Rows, valid: Rows) -> FinalModel:
    """A trained model with its error on the rows `valid`."""
    return FinalModel(fitted, data.score(fitted, valid, scale=data.scale_of(train)))


def _fit_together(plans: Sequence[TrainingPlan]) -> tuple[Fitted, ...]:
    first, data, rows = plans[0].learner, plans[0].data, plans[0].train
    if len(plans) == 1 or not isinstance(first, Recipe):
        return (data.fit(first, rows),)
    return first.fit_many(
        data.X[rows],
        np.column_stack([plan.data.y[rows] for plan in plans]),
        tasks=[plan.data.task for plan in plans],
        **data.options(rows, data.settings),
    )
