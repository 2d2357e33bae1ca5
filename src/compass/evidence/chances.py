"""How likely new runs of configurations meet the goals of a question.

Four kinds of evidence, the strongest that there is: runs of the very configuration; the model and
the error that it makes at a measured baseline; the model's error about the change from a baseline
that was not measured; the model's error alone.

Decision 0032 (docs/decisions).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category
from compass.domain.target import Target
from compass.evidence.assessor import Assessor
from compass.generate.task import SearchTask, StartingPoint
from compass.learn.intervals import own_spread
from compass.learn.reliability import Reliability
from compass.trust.chance import Errors
from compass.trust.change import spread_of_change
from compass.trust.normal import below

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]

_HOPEFUL = 0.6  # standard deviations of the model's own error that a search is too hopeful by

_ENOUGH = 1e-9
_DOUBLINGS = 12  # from the distance between goal and prediction on
_HALVINGS = 60
_CLOSE = 1e-4  # of the bound itself


@dataclass(frozen=True, eq=False)
class GoalChances:
    """The goals of a question in numbers, and how likely configurations meet them."""

    assessor: Assessor
    targets: tuple[Target, ...]  # what runs have to be
    chance: float  # with which each goal has to be met
    contexts: Floats  # [c, d] in which the configurations may run
    movable: Columns
    baseline: StartingPoint | None = None
    _known: dict[str, tuple[Errors, float]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, task: SearchTask, assessor: Assessor, chance: float) -> "GoalChances":
        """The chances of the goals of a task whose targets are not shifted yet."""
        return cls(assessor, task.targets, chance, task.contexts, task.movable, task.baseline)

    @property
    def wanted(self) -> tuple[Target, ...]:
        """The goals that have to be met with the chance."""
        return tuple(target for target in self.targets if target.by_chance)

    def each(self, X: Floats) -> dict[str, Floats]:
        """Per goal with a range or class the chance [n] at configurations X [n, d]."""
        if not len(X):
            return {t.name: np.empty(0) for t in self.targets if t.direction is None}
        full = self._in_contexts(X)
        shape = len(X), len(self.contexts)
        return {
            target.name: self._chance(target, full).reshape(shape).mean(axis=1)
            for target in self.targets
            if target.direction is None
        }

    def least(self, X: Floats) -> Floats:
        """The smallest chance [n] over the goals that have to be met with the chance."""
        return self.smallest(self.each(X), len(X))

    def smallest(self, each: Mapping[str, Floats], n: int) -> Floats:
        """The same, of chances by goal, [n] each."""
        found = np.ones(n)
        for target in self.wanted:
            found = np.minimum(found, each[target.name])
        return found

    def shifted(self, x: Floats) -> tuple[Target, ...]:
        """The targets of predictions that are as uncertain as that of x [d].

        A prediction inside means that a run is inside with the chance.
        """
        return tuple(
            self._shifted(target, x) if target.by_chance else target for target in self.targets
        )

    def reachable(self, x: Floats) -> dict[str, float]:
        """Per goal that x [d] misses the bound in its place that it meets with the chance.

        Only of goals with one bound: with two, none of them may do.
        """
        full = self._in_contexts(x[None, :])
        found = {}
        for target in self.wanted:
            if target.is_class or np.isfinite(target.low) == np.isfinite(target.high):
                continue
            side = "high" if np.isfinite(target.high) else "low"

            def met(bound: float, target: Target = target, side: str = side) -> bool:
                moved = target.model_copy(update={side: bound})
                return float(self._chance(moved, full).mean()) >= self.chance

            given = float(getattr(target, side))
            model = self.assessor.learnt(target.name).learnt.model
            predicted = float(model.predict(full)[:, 0].mean())
            sign = 1.0 if side == "high" else -1.0
            step = max(abs(predicted - given), abs(predicted), _ENOUGH)
            if not met(given) and (bound := _first(met, given, sign * step)) is not None:
                found[target.name] = bound
        return found

    def _shifted(self, target: Target, x: Floats) -> Target:
        learnt = self.assessor.learnt(target.name)
        if target.is_class:
            least = learnt.hits(self._label(target)).least(self.chance)
            return target.model_copy(update={"least": min(least, 1.0)})
        errors, offset = self._errors(target)
        full = self._in_contexts(x[None, :])
        spread = float(self._spread(target, full, errors).mean())
        low, high = errors.shifted(target.low, target.high, spread, self.chance)
        if low > high or (low == np.inf or high == -np.inf):
            return target  # too few runs tell of it: nothing can be promised wherever it is
        offset += self._allowance(target, errors)
        low, high = (_without(end, offset, log=errors.log) for end in (low, high))
        return target.model_copy(update={"low": low, "high": high})

    def _chance(self, target: Target, full: Floats) -> Floats:
        """The chance [n] of one goal at complete configurations [n, d]."""
        learnt = self.assessor.learnt(target.name)
        scores = learnt.learnt.model.predict(full)
        if target.is_class:
            found = learnt.hits(self._label(target)).chance(scores[:, self._label(target)])
        else:
            errors, offset = self._errors(target)
            offset += self._allowance(target, errors)
            predicted = scores[:, 0]
            centre = predicted * np.exp(offset) if errors.log else predicted + offset
            spread = self._spread(target, full, errors)
            found = errors.chance(centre, spread, target.low, target.high)
        return self._measured(target, full, scores[:, 0], found)

    def _errors(self, target: Target) -> tuple[Errors, float]:
        """The errors that count for a goal, and what is expected of them beforehand."""
        if target.name not in self._known:
            self._known[target.name] = self._errors_of(target)
        return self._known[target.name]

    def _errors_of(self, target: Target) -> tuple[Errors, float]:
        learnt, start = self.assessor.learnt(target.name), self.baseline
        if start is None:
            return learnt.errors, 0.0
        measured, errors = start.measured.get(target.name), learnt.errors
        if not isinstance(measured, float | int):
            relative = target.against is not None
            return (learnt.change_errors if relative else errors), 0.0
        predicted = float(learnt.learnt.model.predict(start.x[None, :])[0, 0])
        if errors.log and (measured <= 0 or predicted <= 0):
            return errors, 0.0
        missed = np.log(measured / predicted) if errors.log else measured - predicted
        carry = learnt.carry
        share = carry.seen if self._learnt_from(start.x) else carry.unseen
        spread = own_spread(learnt.learnt.model, start.x[None, :], errors.log)
        return errors, errors.carried(float(missed), float(spread[0]), share)

    def _allowance(self, target: Target, errors: Errors) -> float:
        """How much worse a configuration that was searched for is than predicted, as an offset.

        A search finds what the model is too hopeful of. Counted is the part of its error that is
        surely its own: what repeated runs differ by is not.
        """
        learnt = self.assessor.learnt(target.name)
        if math.isfinite(target.low) and math.isfinite(target.high):
            return 0.0  # a range is missed on either side
        own = learnt.reliability.own_error
        if learnt.positive and not errors.log:
            own *= abs(target.high if math.isfinite(target.high) else target.low)
        elif errors.log and not learnt.positive:
            return 0.0
        return (1 if math.isfinite(target.high) else -1) * _HOPEFUL * own

    def _learnt_from(self, x: Floats) -> bool:
        view = self.assessor.view
        return bool((view.X[view.train] == x).all(axis=1).any())

    def _spread(self, target: Target, full: Floats, errors: Errors) -> Floats:
        """How uncertain the predictions [n] are, as these errors are scaled."""
        learnt = self.assessor.learnt(target.name)
        model, log = learnt.learnt.model, errors.log
        own = own_spread(model, full, log)
        if self.baseline is None or errors is not learnt.change_errors:
            return own
        start = self.baseline.x[None, :]
        trees = learnt.learnt.perturbed.forests[0]
        return spread_of_change(trees, start, full, (own_spread(model, start, log), own), log=log)

    def _measured(self, target: Target, full: Floats, predicted: Floats, chance: Floats) -> Floats:
        """The chances [n] with those of configurations that were run taken from their runs."""
        learnt = self.assessor.learnt(target.name)
        sums, counts = self._runs(target, full, learnt.scores)
        tried = np.flatnonzero(counts)
        if not len(tried):
            return chance
        found, n = chance.copy(), counts[tried]
        if target.is_class:
            # The model's chance counts as one further run.
            found[tried] = (sums[tried, self._label(target)] + chance[tried]) / (n + 1)
        else:
            found[tried] = _of_runs(
                n,
                sums[tried, 0] / n,
                predicted[tried],
                learnt.reliability,
                learnt.positive,
                target,
            )
        return found

    def _runs(self, target: Target, full: Floats, scores: Floats) -> tuple[Floats, Columns]:
        """Sums [n, outputs] of what was measured of configurations [n, d], and of how many runs.

        The baseline may be measured without being a row.
        """
        sums, counts = self.assessor.view.runs.summed(full, scores)
        start = self.baseline
        measured = None if start is None else start.measured.get(target.name)
        if start is not None and isinstance(measured, float | int) and not target.is_class:
            own = (counts == 0) & (full == start.x).all(axis=1)
            sums[own, 0], counts[own] = float(measured), 1
        return sums, counts

    def _label(self, target: Target) -> int:
        parameter = self.assessor.store.prepared.space[target.name]
        assert isinstance(parameter, Category)
        return parameter.values.index(target.label)

    def _in_contexts(self, X: Floats) -> Floats:
        """Every configuration X [n, d] in every context, [n * c, d]."""
        full = np.tile(self.contexts, (len(X), 1))
        full[:, self.movable] = np.repeat(X[:, self.movable], len(self.contexts), axis=0)
        return full


def _of_runs(
    n: Columns,
    mean: Floats,
    predicted: Floats,
    known: Reliability,
    relative: bool,
    target: Target,
) -> Floats:
    """The chances [m] that one more run of configurations that were run meets a goal.

    Of each: how many runs, their mean, the prediction. Single runs are lucky now and then, and
    a search finds these: their mean is drawn towards the prediction as far as runs scatter.
    """
    scatter, error = known.scatter, known.model_error
    total = n * error + scatter
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, n * error / total, 1.0)
        variance = scatter + np.where(total > 0, error * scatter / total, 0.0)
        centre = predicted + share * (mean - predicted)
        deviation = np.sqrt(variance) * (np.abs(centre) if relative else 1.0)
        high, low = ((end - centre) / deviation for end in (target.high, target.low))
        likely = below(high) - below(low)
    surely = (target.low <= centre) & (centre <= target.high)
    return np.where(deviation > 0, likely, surely)


def _first(met: Callable[[float], bool], missed: float, step: float) -> float | None:
    """The first bound beyond one that is missed from which on all are met; None: there is none."""
    for _ in range(_DOUBLINGS):
        if met(missed + step):
            break
        step *= 2
    else:
        return None
    near, far = missed, missed + step
    for _ in range(_HALVINGS):
        if abs(far - near) <= _CLOSE * abs(far):
            break
        middle = (near + far) / 2
        near, far = (near, middle) if met(middle) else (middle, far)
    return far


def _without(end: float, offset: float, *, log: bool) -> float:
    return end / float(np.exp(offset)) if log else end - offset
