"""What an experiment minimises: made of the outcomes of its runs and the goals.

A single outcome is minimised as it is; one that is maximised counts as its reciprocal where it is
positive, else as its negative. Several without weights are traded off: each is a number of its own
(`trade_offs`). With weights they become one number: the product of powers where all are
positive (a weight says how many percent of one outcome are worth one percent of another), else the
sum in standard deviations. A run that misses a bound is worse than every run that meets all; models
learn the outcome and what has the bound each by itself (`plain`, `conditions`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop import Condition
from compass.domain.base import Config, Value
from compass.domain.errors import StudyProblem, shortened
from compass.domain.experiment import ExperimentPlan, ExperimentRun, RunState
from compass.domain.goal import Extreme, IsClass, Observe, Within
from compass.language.format import format_goal
from compass.pareto.acquisition import USUAL
from compass.pareto.improvement import Signs

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TOGETHER = "all goals together"  # how the number is called that several outcomes become
VOLUME = "hypervolume"  # what is told of several outcomes that are traded off
MOST_TRADED = 5  # outcomes; the volume of more says little
_HEAVIEST = 100.0  # of the weights
# Logarithms of products further from 0 are moved and cut: no loss is infinite or 0, and what is
# added for a missed bound has room.
_FURTHEST = 300.0
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Losses:
    """What the runs of an experiment are worth: arrays over runs [n]."""

    loss: Floats  # to be minimised; NaN where the run gave no result
    failed: Bools  # whether it gave none
    meets: Bools  # whether it meets every bound and class
    positive: bool  # whether a loss is a factor: its logarithm is what varies evenly
    plain: Floats  # the same of what is minimised alone, however far bounds are missed
    conditions: tuple[Condition, ...]  # the outcomes with bounds, in the order of `bounded`


@dataclass(frozen=True, eq=False)
class TradeOffs:
    """What runs are worth where several outcomes are traded off: arrays over runs [n]."""

    losses: Floats  # [n, k] turned so that smaller is better; NaN where the run gave no result
    failed: Bools
    conditions: tuple[Condition, ...]
    log_sign: Signs  # [k] what each is learnt as (`compass.pareto.improvement`)

    @property
    def meets(self) -> Bools:
        """Which runs meet every bound and class."""
        found = ~self.failed
        for condition in self.conditions:
            found = found & condition.holds
        return found


@dataclass(frozen=True)
class Objective:
    """The goals of a plan."""

    plan: ExperimentPlan

    def __post_init__(self) -> None:
        for name, goal in self.plan.goals.items():
            if not isinstance(goal, Extreme | Within | IsClass | Observe):
                raise StudyProblem(
                    f"'{name}: {format_goal(goal)}' speaks of a baseline, which there is none of",
                    hint=f"say what it should be: {name}: minimize, or {name}: '<= 10'",
                )
        for name, weight in self.plan.weights.items():
            if name not in self.extremes:
                raise StudyProblem(
                    f"{name} has a weight, but it is neither minimised nor maximised",
                    hint="weights are for what is minimised or maximised",
                )
            if not 0 < weight <= _HEAVIEST:
                raise StudyProblem(
                    f"the weight of {name} is not above 0 and at most {_HEAVIEST:g}",
                    hint="for example 2",
                )
            if self.single is not None:
                raise StudyProblem(
                    f"{name} has a weight, but nothing else is minimised or maximised",
                    hint=f"leave out the weight of {name}",
                )
        if self.traded and len(self.extremes) > MOST_TRADED:
            raise StudyProblem(
                f"{len(self.extremes)} outcomes are minimised or maximised; the most that are "
                f"traded off are {MOST_TRADED}",
                hint="say limits of some ('<= 200'), or weights that make one number of all",
            )
        if not self.traded and self.plan.acquisition != USUAL:
            raise StudyProblem(
                f"the acquisition {shortened(self.plan.acquisition)} says nothing here",
                hint="it chooses the runs where several outcomes are traded off: several that are "
                "minimised or maximised, without weights",
            )
        for name in self.plan.reference:
            if not self.traded or name not in self.extremes:
                raise StudyProblem(
                    f"the reference of {name} says nothing here",
                    hint="a reference is for outcomes that are traded off: several that are "
                    "minimised or maximised, without weights",
                )

    @cached_property
    def extremes(self) -> dict[str, float]:
        """What is minimised (1) or maximised (-1)."""
        return {
            name: 1.0 if goal.direction == "minimize" else -1.0
            for name, goal in self.plan.goals.items()
            if isinstance(goal, Extreme)
        }

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Everything that a run has to tell."""
        return tuple(self.plan.goals)

    @property
    def single(self) -> str | None:
        """The outcome that is minimised or maximised, where it is the only one."""
        return next(iter(self.extremes)) if len(self.extremes) == 1 else None

    @property
    def traded(self) -> bool:
        """Whether several outcomes are traded off: a front is looked for, not a point."""
        return len(self.extremes) > 1 and not self.plan.weights

    @property
    def bounded(self) -> tuple[str, ...]:
        """The outcomes that have to be within bounds."""
        return tuple(n for n, goal in self.plan.goals.items() if isinstance(goal, Within))

    @property
    def reference(self) -> Floats:
        """From where on each outcome counts, [k], turned: smaller is better. NaN: not given."""
        given = self.plan.reference
        return np.array([sign * given.get(name, np.nan) for name, sign in self.extremes.items()])

    @property
    def title(self) -> str:
        """What is told of the best: the single outcome, the volume, or all together."""
        if self.traded:
            return VOLUME
        return TOGETHER if self.single is None else self.single

    def missing(self, outcomes: Mapping[str, Value]) -> tuple[str, ...]:
        """The outcomes that the goals need and a run does not tell."""
        needed = (n for n, goal in self.plan.goals.items() if not isinstance(goal, Observe))
        return tuple(name for name in needed if outcomes.get(name) is None)

    def _failed(self, runs: Sequence[ExperimentRun]) -> Bools:
        failed = np.array([run.state is not RunState.DONE for run in runs], dtype=np.bool_)
        for place, run in enumerate(runs):
            failed[place] |= bool(self.missing(run.outcomes))
            failed[place] |= self.other_class(run.outcomes) is not None
        return failed

    def trade_offs(self, runs: Sequence[ExperimentRun]) -> TradeOffs:
        """What these runs are worth where several outcomes are traded off."""
        failed = self._failed(runs)

        values = np.column_stack([_column(runs, name, failed) for name in self.extremes])
        turn = np.array([int(sign) for sign in self.extremes.values()])
        positive = np.array([_positive(one) for one in values.T])
        conditions = self._conditions(runs, failed)
        return TradeOffs(turn * values, failed, conditions, np.where(positive, turn, 0))

    def _conditions(self, runs: Sequence[ExperimentRun], failed: Bools) -> tuple[Condition, ...]:
        found = []
        for name, goal in self.plan.goals.items():
            if isinstance(goal, Within):
                own = _column(runs, name, failed)
                low = -np.inf if goal.low is None else goal.low
                high = np.inf if goal.high is None else goal.high
                found.append(Condition(own, low, high, _positive(own)))
        return tuple(found)

    def losses(self, runs: Sequence[ExperimentRun]) -> Losses:
        """What these runs are worth as one number."""
        failed = self._failed(runs)
        missed = np.array([self._missed(run.outcomes) for run in runs], dtype=np.float64)
        missed[failed] = np.nan
        values = {name: _column(runs, name, failed) for name in self.extremes}
        loss, positive = self._joined(values, len(runs))
        meets, conditions = ~failed & (missed <= 0), self._conditions(runs, failed)
        if not self.extremes:
            return Losses(missed, failed, meets, False, missed, conditions)
        plain = np.where(failed, np.nan, loss)
        bad = ~failed & ~meets
        if bad.any():
            worst = np.nanmax(loss)
            scale = abs(worst) if worst else 1.0
            with np.errstate(over="ignore"):
                loss = np.where(bad, np.minimum(worst + scale * missed, _LARGEST), loss)
        return Losses(np.where(failed, np.nan, loss), failed, meets, positive, plain, conditions)

    def value_of(self, loss: float, *, positive: bool) -> float:
        """The single outcome that a loss stands for."""
        assert self.single is not None
        if self.extremes[self.single] > 0:
            return loss
        return 1 / loss if positive else -loss

    def _joined(self, values: Mapping[str, Floats], runs: int) -> tuple[Floats, bool]:
        if not values:
            return np.zeros(runs), False
        known = np.concatenate([column[np.isfinite(column)] for column in values.values()])
        positive = bool(len(known)) and bool((known > 0).all())
        if self.single is not None:
            column, smaller = values[self.single], self.extremes[self.single] > 0
            if not positive:
                return (column if smaller else -column), False
            with np.errstate(over="ignore"):
                return (column if smaller else np.minimum(1 / column, _LARGEST)), True
        total = np.zeros(runs)
        for name, column in values.items():
            counts = self.extremes[name] * self.plan.weights.get(name, 1.0)
            total += counts * (np.log(column) if positive else column / _spread(column))
        return (_factors(total), True) if positive else (total, False)

    def _missed(self, outcomes: Config) -> float:
        """How far the bounds are missed, as a share of each bound."""
        total = 0.0
        for name, goal in self.plan.goals.items():
            if not isinstance(goal, Within):
                continue
            value = _number(outcomes.get(name))
            for bound, sign in ((goal.high, 1.0), (goal.low, -1.0)):
                if bound is not None:
                    total += max(sign * (value - bound), 0.0) / (abs(bound) or 1.0)
        return total

    def other_class(self, outcomes: Mapping[str, Value]) -> str | None:
        """Which outcome is of another class than its goal says, in words; None: none is."""
        for name, goal in self.plan.goals.items():
            if isinstance(goal, IsClass) and outcomes.get(name) != goal.value:
                found = shortened(repr(outcomes.get(name)))
                return f"{name} is {found}, not {goal.value!r}"
        return None


def _column(runs: Sequence[ExperimentRun], name: str, failed: Bools) -> Floats:
    """An outcome of runs, NaN where they failed."""
    found = np.array([_number(run.outcomes.get(name)) for run in runs], dtype=np.float64)
    found[failed] = np.nan
    return found


def _number(value: Value) -> float:
    if value is None or isinstance(value, str):
        return float("nan")
    return float(value)


def _positive(column: Floats) -> bool:
    """Whether what is known of an outcome is above 0, so that a factor is what counts."""
    known = column[np.isfinite(column)]
    return bool(len(known)) and bool((known > 0).all())


def _factors(logs: Floats) -> Floats:
    """What these are the logarithms of; where some are too far from 0, as a share of the best."""
    if not (np.abs(logs) > _FURTHEST).any():
        return np.exp(logs)
    shares: Floats = np.exp(np.minimum(logs - np.nanmin(logs), _FURTHEST))
    return shares


def _spread(column: Floats) -> float:
    """One standard deviation."""
    found = float(np.nanstd(column)) if np.isfinite(column).any() else 0.0
    return found or 1.0
