"""How far an experiment has come: counts, the best run, the learning curve, the predictions."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from compass.domain.answer import Label
from compass.domain.experiment import (
    ExperimentRun,
    ExperimentStatus,
    LabelError,
    LearningPoint,
    RunOrigin,
    RunState,
)
from compass.experiment.front import balanced_run, front_of_runs, volume_curve
from compass.experiment.history import is_own
from compass.experiment.objective import Objective
from compass.experiment.suggest import used
from compass.language.format import format_goal

if TYPE_CHECKING:
    from compass.experiment.experiment import Experiment


def status_of(experiment: "Experiment", *, outlook: bool = True) -> ExperimentStatus:
    """The state of an experiment; `outlook`: with what the models think of going on."""
    plan, runs = experiment.plan, experiment.runs()
    counts = Counter(run.state for run in runs if run.origin is not RunOrigin.HISTORY)
    front = front_of_runs(experiment.objective, runs) if experiment.objective.traded else None
    best = best_run(experiment.objective, runs) if front is None else balanced_run(front, runs)
    made = used(runs)
    found = experiment.outlook() if outlook else None
    facts = None if found is None else found.facts
    gain = math.nan if facts is None else facts.improvement
    return ExperimentStatus(
        name=experiment.name,
        goals={name: format_goal(goal) for name, goal in plan.goals.items()},
        counts=dict(counts),
        history=sum(run.origin is RunOrigin.HISTORY for run in runs),
        used=made,
        budget=plan.budget,
        best=best,
        front=front,
        stop=None if found is None else found.stop,
        improvement=gain if math.isfinite(gain) else None,
        left=None if facts is None else facts.left,
    )


def best_run(objective: Objective, runs: Sequence[ExperimentRun]) -> ExperimentRun | None:
    """A run of the best configuration that meets the goals, history included.

    A configuration that was run several times is worth the mean of its runs, and meets the goals
    where all that gave a result do; the run is the one nearest to that mean. Where outcomes are
    traded off it is a run of the most balanced trade-off.
    """
    if objective.traded:
        front = front_of_runs(objective, runs)
        return None if front is None else balanced_run(front, runs)
    done = [r for r in runs if r.state is RunState.DONE and is_own(r, objective.plan.fixed)]
    found = objective.losses(done)
    means = _Means(positive=found.positive)
    for run, loss, meets in zip(done, found.loss, found.meets, strict=True):
        means.add(run.key, float(loss), meets=bool(meets))
    if means.key is None:
        return None
    level = means.level(means.best)
    places = [place for place, run in enumerate(done) if run.key == means.key]
    return done[min(places, key=lambda place: abs(means.level(float(found.loss[place])) - level))]


def learning_curve(
    objective: Objective, runs: Sequence[ExperimentRun]
) -> tuple[LearningPoint, ...]:
    """The best so far after each run that ended, in the order in which they ended.

    The best is that of a configuration, the mean of its runs so far: it may get worse again where
    one is run once more. Where outcomes are traded off it is the hypervolume.
    """
    if objective.traded:
        return volume_curve(objective, runs)
    made = [
        run
        for run in runs
        if run.origin is not RunOrigin.HISTORY and run.state in (RunState.DONE, RunState.FAILED)
    ]
    made.sort(key=lambda run: (run.ended_at or run.suggested_at, run.number))
    history = [r for r in runs if r.origin is RunOrigin.HISTORY and is_own(r, objective.plan.fixed)]
    # Together: what a loss is may hang on all of them.
    losses = objective.losses([*history, *made])
    means = _Means(positive=losses.positive)
    told = zip([*history, *made], losses.loss, losses.meets, strict=True)
    for run, loss, meets in islice(told, len(history)):
        means.add(run.key, float(loss), meets=bool(meets))
    single, points = objective.single, list[LearningPoint]()
    for run, loss, meets in told:
        before = means.best
        means.add(run.key, float(loss), meets=bool(meets))
        shown = best = means.best
        better = best < before
        if single is not None and math.isfinite(best):
            shown = objective.value_of(best, positive=losses.positive)
        measured = float(loss) if single is None and meets else run.outcomes.get(single or "")
        points.append(
            LearningPoint(
                runs=len(points) + 1,
                number=run.number,
                best=shown if math.isfinite(best) else None,
                measured=float(measured) if isinstance(measured, int | float) else None,
                failed=run.state is RunState.FAILED,
                better=better,
            )
        )
    return tuple(points)


class _Means:
    """What configurations are worth: the means of their losses, one run after another.

    The mean is the geometric one where losses are factors.
    """

    def __init__(self, *, positive: bool) -> None:
        self.positive = positive
        self.key: str | None = None  # the best configuration that meets every goal
        self.best = math.inf
        self._losses: dict[str, list[float]] = {}  # infinite: it misses a goal

    def level(self, loss: float) -> float:
        """A loss as it varies evenly."""
        return math.log(loss) if self.positive and loss < math.inf else loss

    def add(self, key: str, loss: float, *, meets: bool) -> None:
        """Take in a run; one without a result changes nothing."""
        if math.isnan(loss):
            return
        self._losses.setdefault(key, []).append(loss if meets else math.inf)
        mean = self._mean(key)
        if mean < self.best:
            self.key, self.best = key, mean
        elif key == self.key:  # it was better than it is now: another may be the best
            self.best, found = min((self._mean(one), one) for one in self._losses)
            self.key = found if self.best < math.inf else None

    def _mean(self, key: str) -> float:
        losses = self._losses[key]
        worst = max(losses)
        if not self.positive or worst == math.inf:
            return sum(losses) / len(losses)
        # From the worst on, so that the mean of what is all the same is just that.
        away = sum(self.level(loss) - self.level(worst) for loss in losses) / len(losses)
        return worst * math.exp(away)


def errors_by_label(runs: Sequence[ExperimentRun]) -> tuple[LabelError, ...]:
    """How far predictions were off, by the label they had when they were made.

    Of several outcomes that are traded off all count.
    """
    found = []
    for label in (*Label, None):
        made, off, inside = 0, [], []
        for run in runs:
            if run.state is not RunState.DONE or run.label is not label or not run.predicted:
                continue
            made += 1
            for one in run.predicted:
                measured, value = run.outcomes.get(one.name), one.value
                if not isinstance(measured, int | float) or not isinstance(value, int | float):
                    continue
                if measured:
                    off.append(abs(value - measured) / abs(measured))
                if one.low is not None and one.high is not None:
                    inside.append(one.low <= measured <= one.high)
        if off:
            found.append(
                LabelError(
                    label=label,
                    runs=made,
                    mean_error=float(np.mean(off)),
                    median_error=float(np.median(off)),
                    inside=float(np.mean(inside)) if inside else None,
                )
            )
    return tuple(found)
