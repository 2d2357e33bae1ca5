"""The rows that models are compared on, and how one recipe does on one part of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Space
from compass.learn.score import named, row_errors, small
from compass.model.base import Floats, Task
from compass.model.recipe import Recipe, provable
from compass.prepare.split import folds
from compass.prepare.weigh import normal, uneven
from compass.settings import Settings

Rows = NDArray[np.int64]
_SKEWED = 2.0  # largest over smallest value from which a logarithm can make a difference


@dataclass(frozen=True, eq=False)
class Course:
    """What is learnt, and from which rows."""

    X: Floats  # [n, d] training rows only
    y: Floats  # [n]
    task: Task
    weight: Floats | None
    groups: NDArray[np.generic]  # [n] rows of one group are on one side of every fold
    part: NDArray[np.int64]  # [n] the fold that a row is checked in
    seed: int
    settings: Settings
    features: Space | None = None

    @property
    def parts(self) -> int:
        """How many folds there are."""
        return int(self.part.max()) + 1 if len(self.part) else 0

    @property
    def scale(self) -> float:
        """The size below which an outcome counts as zero."""
        return small(self.y, self.weight) if self.task.classes is None else 0.0

    def weight_of(self, rows: Rows) -> Floats | None:
        """How much these rows count; None: all alike."""
        return None if self.weight is None else self.weight[rows]


@dataclass(frozen=True, eq=False)
class Leg:
    """A part of the race: rows to learn from and rows to be checked with."""

    part: int
    learn: Rows
    check: Rows


def course(
    X: Floats,
    y: Floats,
    task: Task,
    *,
    groups: NDArray[np.generic],
    weight: Floats | None,
    seed: int,
    settings: Settings,
    features: Space | None = None,
) -> Course:
    """The rows of a race; `groups` [n] are kept on one side of every fold."""
    part = folds(groups, settings.select.folds, seed)
    return Course(X, y, task, weight, groups, part, seed, settings, features)


def log_is_a_question(view: Course) -> bool:
    """Whether the logarithm of the outcome may be easier to learn than the outcome."""
    y = view.y
    return view.task.classes is None and bool(y.min() > 0) and y.max() > _SKEWED * y.min()


def scales_of(view: Course) -> tuple[bool, ...]:
    """The scales on which an outcome may be learnt, as values of `Recipe.log`."""
    wanted = view.settings.scale
    if view.task.classes is not None or wanted == "linear":
        return (False,)
    if wanted == "log":
        return (True,)
    return (False, True) if log_is_a_question(view) else (False,)


def leg_of(view: Course, part: int) -> Leg:
    """The rows of one fold to be checked, and all others to learn from."""
    return Leg(part, np.flatnonzero(view.part != part), np.flatnonzero(view.part == part))


def cross_validate(view: Course, recipe: Recipe, part: int) -> tuple[Floats, float, bool]:
    """Predictions of the rows of one fold by a model of the others, its error, and if provable."""
    return attempt(view, recipe, leg_of(view, part))


def attempt(view: Course, recipe: Recipe, leg: Leg) -> tuple[Floats, float, bool]:
    """Predictions of the rows that are checked, their error, and whether proofs are possible."""
    alone = view.settings.model_copy(update={"threads": 1})
    model = recipe.fit(
        view.X[leg.learn],
        view.y[leg.learn],
        task=view.task,
        weight=view.weight_of(leg.learn),
        seed=view.seed,
        settings=alone,
        features=view.features,
    )
    predicted = model.predict(view.X[leg.check])
    weight = view.weight_of(leg.check)
    score = named(view.y[leg.check], predicted, view.task, scale=view.scale, weight=weight)
    return predicted, score.error, provable(model)


def losses(view: Course, predicted: Floats, rows: Rows) -> Floats:
    """How wrong each row is, [n]: by its share, or 1 for a wrong class; as often as it counts."""
    if view.task.classes is None:
        wrong = row_errors(view.y[rows], predicted[:, 0], scale=view.scale)
    else:
        wrong = np.asarray(np.argmax(predicted, axis=1) != view.y[rows], dtype=np.float64)
    counts = uneven(view.weight)
    return wrong if counts is None else wrong * normal(counts)[rows]
