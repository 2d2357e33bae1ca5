"""One outcome seen through a set of features: its rows, its model, and how far both can err."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import ModelCard
from compass.domain.errors import DataProblem
from compass.domain.space import Category, Number
from compass.learn.features import FeatureView
from compass.learn.held_out import Carry, HeldOut
from compass.learn.reliability import Reliability, missed, reliability
from compass.learn.training import TrainingData
from compass.model.base import Fitted, Task
from compass.model.recipe import Recipe
from compass.prepare.split import configurations
from compass.prepare.weigh import median
from compass.settings import Settings
from compass.trust.chance import Errors, Hits
from compass.trust.interval import Conformal
from compass.trust.pairs.comparable import disagreement
from compass.trust.pairs.effect import Outcome
from compass.trust.spread import Perturbed

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_CHECKED = 2000  # unseen runs that tell what the model usually errs by


@dataclass(frozen=True, eq=False)
class OutcomeChecks:
    """What repeated and held-out runs tell of an outcome and its model."""

    reliability: Reliability
    usual_error: float | None  # None for classes, as what follows
    errors: Errors | None
    carry: Carry | None


@dataclass(frozen=True)
class OutcomeModel:
    """Everything learnt about one outcome from one set of features."""

    model: Fitted
    recipe: Recipe  # how it was made
    perturbed: Perturbed
    interval: Conformal | None  # None for classes
    change: Conformal | None  # of differences between two configurations; None for classes
    card: ModelCard
    scale: float  # standard deviation of the outcome
    checks: OutcomeChecks | None = None  # of a saved engine: worked out when it was saved


@dataclass(frozen=True, eq=False)
class OutcomeData:
    """One outcome of a feature view: what it is and which rows know it."""

    view: FeatureView
    y: Floats  # [n] all runs, NaN where it was not measured
    task: Task
    train: Rows
    valid: Rows

    @classmethod
    def of(cls, view: FeatureView, target: str) -> "OutcomeData":
        """The rows that an outcome is learnt from and checked with."""
        y = view.prepared.outcome(target)
        train, valid = _known_rows(view, np.isfinite(y), target)
        parameter = view.prepared.space[target]
        task = Task(len(parameter.values) if isinstance(parameter, Category) else None)
        return cls(view, y, task, train, valid)

    def training(self, settings: Settings) -> TrainingData:
        """All rows of the outcome, as training takes them."""
        features, seed = self.view.features, settings.seed
        return TrainingData(self.X, self.y, self.task, self.weight, seed, settings, features)

    @property
    def weight(self) -> Floats:
        """How much each run counts when it is learnt, [n]."""
        prepared = self.view.prepared
        return np.ones(prepared.rows) if prepared.learns_alike else prepared.weight

    @property
    def X(self) -> Floats:  # noqa: N802
        """The features of all runs, [n, d]."""
        return self.view.X


def _known_rows(view: FeatureView, known: NDArray[np.bool_], target: str) -> tuple[Rows, Rows]:
    """The training and validation rows whose outcome is known."""
    train, valid = view.train[known[view.train]], view.valid[known[view.valid]]
    if len(train) < 2 or not len(valid):
        few = f"only {int(known.sum())} past runs have a value of {target}"
        repeated = f"the runs to check {target} with repeat configurations that are learnt from"
        raise DataProblem(
            few if len(view.valid) else repeated, hint="choose another outcome, or read more runs"
        )
    return train, valid


@dataclass(frozen=True, eq=False)
class LearntOutcome:
    """What was measured of an outcome, its model, and how far runs and model scatter."""

    view: FeatureView
    name: str
    learnt: OutcomeModel
    _effects: dict[int, Outcome] = field(default_factory=dict, repr=False)
    _hits: dict[int, Hits] = field(default_factory=dict, repr=False)

    @property
    def parameter(self) -> Number | Category:
        """The column."""
        return self.view.prepared.space[self.name]

    @cached_property
    def y(self) -> Floats:
        """The outcome of every run [n]; NaN where it was not measured."""
        return self.view.prepared.outcome(self.name)

    @property
    def scores(self) -> Floats:
        """The outcome as a model gives it, [n, outputs]: a number, or 1 for the class it was."""
        if isinstance(self.parameter, Category):
            shares = (self.y[:, None] == np.arange(len(self.parameter.values))).astype(np.float64)
            return np.where(np.isfinite(self.y)[:, None], shares, np.nan)
        return np.asarray(self.y[:, None])

    @property
    def positive(self) -> bool:
        """Whether it is a time, a power or the like, whose errors grow with its size."""
        return isinstance(self.parameter, Number) and self.parameter.low > 0

    @cached_property
    def reliability(self) -> Reliability:
        """How far runs of one configuration scatter, and the model errs beyond that."""
        if self.learnt.checks is not None:
            return self.learnt.checks.reliability
        view, y = self.view, self.scores
        weight = view.prepared.weight
        held = view.valid[np.isfinite(y[view.valid, 0])]
        predicted = self.learnt.model.predict(view.X[held])
        runs = view.runs
        known = np.isfinite(y[runs.position, 0])
        _, number = np.unique(runs.key[known], return_inverse=True)
        return reliability(
            y[runs.position[known]],
            number,
            missed(y[held], predicted, relative=self.positive),
            relative=self.positive,
            weight=weight[runs.position[known]],
            miss_weight=weight[held],
        )

    @cached_property
    def held_out(self) -> HeldOut:
        """The runs that the model did not see."""
        return HeldOut.of(self.view, self.y, self.learnt.model)

    @cached_property
    def errors(self) -> Errors:
        """The signed errors of a number on runs that the model did not see."""
        assert self.learnt.interval is not None
        if self.learnt.checks is not None and self.learnt.checks.errors is not None:
            return self.learnt.checks.errors
        return self.held_out.errors(usual=self.learnt.interval.usual, log=self.learnt.interval.log)

    @cached_property
    def change_errors(self) -> Errors:
        """The errors of changes between two configurations; either sign is as likely."""
        assert self.learnt.change is not None
        return Errors.symmetric(self.learnt.change)

    @cached_property
    def carry(self) -> Carry:
        """How far the error at a measured run is expected again near it."""
        assert self.learnt.interval is not None
        if self.learnt.checks is not None and self.learnt.checks.carry is not None:
            return self.learnt.checks.carry
        return self.held_out.carry(log=self.learnt.interval.log)

    def hits(self, label: int) -> Hits:
        """How often the class of this number was right, by the score that the model gave it."""
        if label not in self._hits:
            self._hits[label] = self.held_out.hits(label)
        return self._hits[label]

    @cached_property
    def usual_error(self) -> float:
        """The median error on runs that the model did not see; of what is positive, a factor."""
        if self.learnt.checks is not None and self.learnt.checks.usual_error is not None:
            return self.learnt.checks.usual_error
        y, view = self.y, self.view
        held = view.valid[np.isfinite(y[view.valid])][:_CHECKED]
        if not len(held):
            return np.inf
        predicted, least = self.learnt.model.predict(view.X[held])[:, 0], np.nanmin(y)
        weight = view.prepared.weight[held]
        if least > 0:
            return median(np.abs(np.log(np.maximum(predicted, least)) - np.log(y[held])), weight)
        return median(np.abs(predicted - y[held]), weight)

    @cached_property
    def disagreement(self) -> float | None:
        """How far runs that agree in every feature differ in this outcome; None for classes."""
        if isinstance(self.parameter, Category):
            return None
        return disagreement(self.y[self.view.distinct], *self.view.repeated, self.view.seed)

    def checks(self) -> OutcomeChecks:
        """Everything of this that is worth keeping with the model."""
        number = not isinstance(self.parameter, Category)
        return OutcomeChecks(
            self.reliability,
            self.usual_error if number else None,
            self.errors if number else None,
            self.carry if number else None,
        )

    def effect(self, label: int = -1) -> Outcome:
        """The outcome of the distinct runs as pairs compare it; of classes: is it `label`?"""
        if label not in self._effects:
            rows = self.view.distinct
            if label >= 0:
                self._effects[label] = Outcome.of_class(self.y[rows], label)
            else:
                same = configurations(self.view.X[rows])
                self._effects[label] = Outcome.of(self.y[rows], same, self.usual_error)
        return self._effects[label]
