"""Cross-validation: folds of the training rows, and the error of one recipe on one fold.

A fold is evaluated wherever there is a worker, on one thread and from one seed: the numbers are the
same on any worker of the same kind.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from compass.domain.errors import CompassError
from compass.execute import Executor, cores, opened
from compass.execute.one_thread import one_thread
from compass.learn.training import Rows, TrainingData
from compass.model.base import Floats
from compass.model.error import score, small
from compass.model.recipe import Recipe
from compass.prepare.split import folds
from compass.settings import Settings

_SKEWED = 2.0  # largest over smallest value from which a logarithm can make a difference


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to train on and rows to check with."""

    number: int
    train: Rows
    valid: Rows


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Training rows shared out among folds; rows of one group are on one side of every fold."""

    data: TrainingData
    groups: NDArray[np.generic]  # [n]
    fold_of: NDArray[np.int64]  # [n] the fold that a row is checked in

    @classmethod
    def of(cls, data: TrainingData, groups: NDArray[np.generic]) -> "CrossValidation":
        """Folds of all rows, as many as the settings say."""
        return cls(data, groups, folds(groups, data.settings.select.folds, data.seed))

    @property
    def settings(self) -> Settings:
        """The settings of everything that is trained on these rows."""
        return self.data.settings

    @property
    def count(self) -> int:
        """How many folds there are."""
        return int(self.fold_of.max()) + 1 if len(self.fold_of) else 0

    @property
    def scale(self) -> float:
        """The size below which an outcome counts as zero."""
        data = self.data
        return small(data.y, data.weight) if data.task.classes is None else 0.0

    def fold(self, number: int) -> Fold:
        """One of the folds: its rows to check with, and all others to train on."""
        return Fold(
            number, np.flatnonzero(self.fold_of != number), np.flatnonzero(self.fold_of == number)
        )

    def part(self, fold: Fold, train: int, valid: int) -> Fold:
        """At most so many of the rows of a fold; a larger part holds a smaller one."""
        chance = np.random.default_rng([self.data.seed, fold.number])
        learnt, checked = chance.permutation(fold.train), chance.permutation(fold.valid)
        return Fold(fold.number, np.sort(learnt[:train]), np.sort(checked[:valid]))


def log_may_help(data: TrainingData) -> bool:
    """Whether the logarithm of the outcome may be easier to learn than the outcome."""
    y = data.y
    return data.task.classes is None and bool(y.min() > 0) and y.max() > _SKEWED * y.min()


def scales_of(data: TrainingData) -> tuple[bool, ...]:
    """The scales on which an outcome may be learnt, as values of `Recipe.log`."""
    wanted = data.settings.scale
    if data.task.classes is not None or wanted == "linear":
        return (False,)
    if wanted == "log":
        return (True,)
    return (False, True) if log_may_help(data) else (False,)


@dataclass(frozen=True, eq=False)
class FoldResult:
    """What a recipe predicted of one fold, and how wrong that is."""

    predicted: Floats  # [rows of the fold, outputs]
    error: float
    provable: bool  # whether answers can be proved over its models
    seconds: float  # of the processor


@dataclass(frozen=True, eq=False)
class Attempt:
    """A recipe and the fold that it is evaluated on."""

    recipe: Recipe
    fold: Fold
    required: bool = True  # what goes wrong is raised; otherwise it is a result


def evaluate(cv: CrossValidation, recipe: Recipe, fold: Fold) -> FoldResult:
    """Train a recipe on the other rows of a fold, on one thread, and predict the fold's."""
    began = time.thread_time()
    data = cv.data
    model = data.fit(recipe, fold.train, settings=cv.settings.model_copy(update={"threads": 1}))
    predicted = model.predict(data.X[fold.valid])
    weight = data.weight_of(fold.valid)
    found = score(data.y[fold.valid], predicted, data.task, scale=cv.scale, weight=weight)
    provable = model.trees() is not None
    return FoldResult(predicted, found.error, provable, time.thread_time() - began)


def run_attempt(cv: CrossValidation, attempt: Attempt) -> FoldResult | str:
    """The result of an attempt, or why it failed."""
    try:
        with one_thread():
            return evaluate(cv, attempt.recipe, attempt.fold)
    except Exception as problem:  # one family that cannot learn this must not stop the others
        if attempt.required:
            raise
        return _reason(problem)


def evaluate_folds(
    cv: CrossValidation, recipe: Recipe, numbers: Sequence[int], executor: Executor
) -> list[FoldResult]:
    """The results of a recipe on some of the folds, in their order."""
    attempts = [Attempt(recipe, cv.fold(number)) for number in numbers]
    found = dict(executor.map(partial(run_attempt, cv), attempts))
    results = [found[place] for place in range(len(attempts))]
    return [result for result in results if isinstance(result, FoldResult)]


@contextmanager
def workers(executor: Executor | None, settings: Settings) -> Iterator[Executor]:
    """The executor that was given, or as many threads as the settings allow."""
    with one_thread(), opened(executor or f"threads:{settings.threads or cores()}") as place:
        yield place


def _reason(problem: Exception) -> str:
    """What went wrong, in few words."""
    text = problem.message if isinstance(problem, CompassError) else str(problem)
    return text[:200] or type(problem).__name__
