"""A recipe under comparison: its results so far, and what more of them would cost."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from compass.learn.training import Rows, TrainingData
from compass.model.base import Floats, family
from compass.model.recipe import Recipe
from compass.settings import Settings

_LEAST = 0.1  # seconds of work that are not worth saving


@dataclass
class ComparedRecipe:
    """A recipe under comparison, and its results so far."""

    recipe: Recipe
    required: bool = False  # somebody named it: what goes wrong is raised, not skipped
    valid: dict[int, Rows] = field(default_factory=dict)  # by fold: the rows it predicted
    predicted: dict[int, Floats] = field(default_factory=dict)  # by fold: predictions of its rows
    errors: dict[int, float] = field(default_factory=dict)  # by fold
    fold_seconds: dict[int, float] = field(default_factory=dict)  # by fold: of the processor
    times: list[float] = field(default_factory=list)  # the same of all attempts, smaller ones too
    rows: int = 0  # that it learnt from at last
    provable: bool = False
    failed: bool = False
    status: str = "tried"
    reason: str = ""

    @property
    def slow(self) -> bool:
        """Whether trying it on both scales would take too long."""
        return family(self.recipe.family).slow and not self.required

    @property
    def running(self) -> bool:
        """Whether it may still win."""
        return self.status == "tried"

    @property
    def label(self) -> str:
        """Its name, with the scale."""
        return self.recipe.family + (" (log)" if self.recipe.log else "")

    @property
    def seconds(self) -> float:
        """Processor time of all attempts."""
        return sum(self.times)

    @property
    def error(self) -> float:
        """Mean error of the folds tried."""
        # In their order, or the last bit would depend on threads.
        known = [self.errors[number] for number in sorted(self.errors)]
        return float(np.mean(known)) if known else np.inf

    def quicker(self, settings: Settings) -> Recipe:
        """The recipe that gives a first impression of it."""
        changes = family(self.recipe.family).quicker(self.recipe.settings(settings))
        return self.recipe.model_copy(update={"changes": self.recipe.changes | changes})

    def effort(self, data: TrainingData, rows: int) -> float:
        """Seconds of work that training on so many rows is, by the estimate of its family."""
        return effort(self.recipe, data, rows)

    def work(self, data: TrainingData, rows: int) -> float:
        """The same for comparing recipes: small amounts of work are alike."""
        return self.effort(data, rows) + _LEAST

    def stop(self, status: str, reason: str) -> None:
        """End its evaluation."""
        self.status, self.reason = status, reason

    def resume(self, reason: str) -> None:
        """Begin its evaluation anew."""
        self.status, self.reason = "tried", reason
        self.forget()

    def forget(self) -> None:
        """Drop the results so far: they are of fewer rows than those to come."""
        for known in (self.valid, self.predicted, self.errors, self.fold_seconds):
            known.clear()


def effort(recipe: Recipe, data: TrainingData, rows: int) -> float:
    """Seconds of work that training a recipe on so many rows is."""
    kind = family(recipe.family)
    more = kind.relative_cost(recipe.settings(data.settings), Settings())
    return kind.effort(rows, data.X.shape[1], data.task) * more


def by_error(compared: ComparedRecipe) -> float:
    """What compared recipes are ordered by."""
    return compared.error


def running(recipes: Iterable[ComparedRecipe]) -> list[ComparedRecipe]:
    """Those that may still win."""
    return [compared for compared in recipes if compared.running]


@dataclass
class Budget:
    """The work of a rung and of the folds after it, shared out among recipes one by one."""

    left: float  # seconds
    dearest: float = 0.0  # the other folds of one recipe that may turn out best

    def fits(self, first: float, others: float) -> bool:
        """Whether a recipe can take part; `others`: the work of its folds after the first."""
        return first + max(others, self.dearest) <= self.left

    def take(self, first: float, others: float, *, reserve: bool) -> None:
        """Let it take part; `reserve`: its other folds, whoever turns out best."""
        self.left -= first + (others if reserve else 0.0)
        if not reserve:
            self.dearest = max(self.dearest, others)

    def too_much(self, first: float, others: float) -> str:
        """Why a recipe is skipped."""
        return too_much(first + others, self.left)


def too_much(needed: float, left: float) -> str:
    """Why a recipe is skipped."""
    return f"would take about {needed:.1f} s of work, {max(left, 0.0):.1f} s are left"
