"""Which runs an experiment makes next: the bridge between its store and the loop's models."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop import next_runs
from compass.acquire.loop.next_runs import LEVEL
from compass.acquire.loop.problem import (
    History,
    LoopProblem,
    LoopProposal,
    NextRuns,
    Reason,
    Seen,
    StopFacts,
    Verdict,
)
from compass.domain.answer import Label, Prediction
from compass.domain.base import Config
from compass.domain.errors import StudyProblem
from compass.domain.experiment import ExperimentRun, NewRun, RunOrigin, RunState
from compass.experiment.history import is_own
from compass.experiment.labels import Labels
from compass.prepare.encode import Encoder
from compass.settings import LoopSettings, Settings

if TYPE_CHECKING:
    from compass.experiment.experiment import Experiment

Floats = NDArray[np.float64]

_LEAST_STARTS = 5  # of a small budget: the rest is for what models choose


@dataclass(frozen=True)
class Suggested:
    """What was suggested, and whether more is worth it."""

    new: tuple[ExperimentRun, ...]
    stop: str | None  # why there are no (more) runs to make; None: go on
    facts: StopFacts | None = None


@dataclass(frozen=True, eq=False)
class _Now:
    """The runs of an experiment at one moment."""

    runs: Sequence[ExperimentRun]
    own: Seen
    others: History | None  # of another machine, size or version
    pending: Floats
    positive: bool
    met: bool  # whether a run meets every bound
    missed: bool  # whether an own run misses one: models learn how far, not the outcome


class Chooser:
    """Asks the loop for runs; what does not change from ask to ask is kept."""

    def __init__(self, experiment: "Experiment") -> None:
        self._experiment = experiment
        plan = experiment.plan
        usual = min(LoopSettings().starts, max(plan.budget // 4, _LEAST_STARTS))
        starts = usual if plan.starts is None else plan.starts
        settings = LoopSettings(worthwhile=plan.stop_below, starts=starts)
        self._problem = LoopProblem(experiment.space, experiment.rules, plan.seed, settings)
        self._encoder = Encoder(experiment.space)

    def at_once(self) -> int:
        """How many runs are worth making at a time."""
        budget, settings = self._experiment.plan.budget, self._problem.settings
        starts = settings.starts
        if self._problem.pool.complete and len(self._problem.pool.X) <= settings.sweep:
            return budget  # everything is tried, in whichever order
        made = len(self._experiment.runs(RunState.DONE, RunState.FAILED))
        return max(starts - made, math.ceil(budget / 10), 1)

    def example(self) -> Config:
        """Some legal configuration."""
        drawn = self._problem.pool.draws(1, np.random.default_rng(self._problem.seed))
        if not len(drawn):
            raise StudyProblem(
                "no configuration was found that obeys the rules",
                hint="rules between numbers that hardly ever hold are the likely cause",
            )
        return self._encoder.decode(drawn[0])

    def suggest(self, count: int) -> Suggested:
        """Add so many runs to the store, or a few more: all repeats of a configuration."""
        plan, now = self._experiment.plan, self._now()
        left = plan.budget - used(now.runs)
        stop = self._settled(now)
        if stop is not None:
            return Suggested((), stop)
        found = self._asked(now, math.ceil(min(count, left) / plan.repeats))
        stop = stop_text(found.stop, plan.stop_below)
        if stop is not None:
            return Suggested((), stop, found.stop)
        labels = self._labels(now)
        new = [
            self._new_run(one, labels, now, repeat)
            for one in found.proposals
            for repeat in range(plan.repeats)
        ][:left]
        added = self._experiment.store.suggest(self._experiment.name, new, budget=plan.budget)
        return Suggested(added, None, found.stop)

    def outlook(self) -> Suggested:
        """Whether more runs are worth it, without adding one."""
        now = self._now()
        stop = self._settled(now)
        if stop is not None or not len(now.own):
            return Suggested((), stop)
        facts = self._asked(now, 1).stop
        return Suggested((), stop_text(facts, self._experiment.plan.stop_below), facts)

    def _now(self) -> "_Now":
        """The runs as they are, in numbers."""
        runs = self._experiment.runs()
        # What cannot be tried is not tried again either.
        tried = (RunState.DONE, RunState.FAILED, RunState.INFEASIBLE)
        ended = [run for run in runs if run.state in tried]
        ended.sort(key=lambda run: (run.ended_at or run.suggested_at, run.number))
        losses = self._experiment.objective.losses(ended)
        same = [is_own(run, self._experiment.plan.fixed) for run in ended]
        keep = np.array(same, dtype=np.bool_)
        X = self._encoded(ended)
        member = tuple(run.member for run, kept in zip(ended, same, strict=True) if kept)
        own = Seen(X[keep], losses.loss[keep], losses.failed[keep], member)
        others = History(X[~keep], losses.loss[~keep]) if (~keep).any() else None
        # Nor what somebody cancelled: they would get it straight back.
        waiting = [r for r in runs if r.state.pending or r.state is RunState.CANCELLED]
        pending = self._encoded(waiting)
        met = bool(losses.meets[keep].any())
        missed = bool((~losses.failed & ~losses.meets)[keep].any())
        return _Now(runs, own, others, pending, losses.positive, met, missed)

    def _settled(self, now: "_Now") -> str | None:
        """Why there is nothing to ask, whatever the models say; None: there is."""
        plan = self._experiment.plan
        if not self._experiment.objective.extremes and now.met:
            return "a run meets the goals"
        if used(now.runs) >= plan.budget:
            return f"the budget of {plan.budget} runs is spent"
        return None

    def _asked(self, now: "_Now", count: int) -> NextRuns:
        return next_runs(
            self._problem,
            now.own,
            pending=now.pending,
            count=count,
            history=now.others,
            positive=now.positive,
        )

    def _encoded(self, runs: Sequence[ExperimentRun]) -> Floats:
        width = len(self._experiment.space)
        # Runs of another kind are seen as if they had the fixed values.
        fixed = self._experiment.plan.fixed
        rows = [self._encoder.encode({**run.config, **fixed}) for run in runs]
        return np.array(rows, dtype=np.float64).reshape(-1, width)

    def _labels(self, now: "_Now") -> Labels | None:
        told = [run.predicted for run in now.runs if run.state.ended and run.predicted]
        widths = [interval_width(predicted, positive=now.positive) for predicted in told]
        fine = now.own.X[~now.own.failed]
        return Labels.of(fine, widths, self._experiment.space, Settings().trust)

    def _new_run(
        self, one: LoopProposal, labels: Labels | None, now: "_Now", repeat: int
    ) -> NewRun:
        predicted = self._predicted(one, now)
        label: Label | None = None
        if predicted and labels is not None:
            label = labels.label(one.x, interval_width(predicted, positive=now.positive))
        return NewRun(
            config=self._encoder.decode(one.x),
            repeat=repeat,
            origin=RunOrigin.START if one.reason is Reason.START else RunOrigin.MODEL,
            member=one.member,
            predicted=predicted,
            failure=one.failure if math.isfinite(one.failure) else None,
            improvement=one.improvement if math.isfinite(one.improvement) else None,
            label=label,
            model=f"{one.member} on {len(now.own)} runs" if one.member else "",
            why=self._why(one),
        )

    def _predicted(self, one: LoopProposal, now: "_Now") -> tuple[Prediction, ...]:
        """What the outcome is expected to be.

        Nothing is told of several goals together, nor where the models learn losses that are no
        outcomes because a run misses a bound.
        """
        name, positive = self._experiment.objective.single, now.positive
        if name is None or now.missed or not math.isfinite(one.mean):
            return ()
        ends = sorted(
            self._experiment.objective.value_of(loss, positive=positive)
            for loss in (one.low, one.high)
        )
        value = self._experiment.objective.value_of(one.mean, positive=positive)
        choice = self._experiment.plan.study.columns.get(name)
        unit = None if choice is None else choice.unit
        found = Prediction(
            name=name, value=value, unit=unit, low=ends[0], high=ends[1], level=LEVEL
        )
        return (found,)

    @staticmethod
    def _why(one: LoopProposal) -> str:
        changed = f"; differs from the best run in {', '.join(one.changes)}" if one.changes else ""
        match one.reason:
            case Reason.START:
                return "far from everything that was run"
            case Reason.HISTORY:
                return "among the best of past runs of another kind"
            case Reason.SWEEP:
                return "the space is small enough to try everything"
            case _:
                return f"expected to gain {one.improvement:.1%} of the best run{changed}"


def used(runs: Sequence[ExperimentRun]) -> int:
    """How many runs of the budget were made or are awaited."""
    free = (RunState.CANCELLED, RunState.INFEASIBLE)
    return sum(run.origin is not RunOrigin.HISTORY and run.state not in free for run in runs)


def stop_text(facts: StopFacts, below: float) -> str | None:
    """Why more runs are not worth it; None: they are."""
    match facts.verdict:
        case None:
            return None
        case Verdict.EXHAUSTED:
            return "every legal configuration was run"
        case _ if below <= 0:
            return None
        case Verdict.WITHIN_NOISE:
            return (
                f"what may still be gained ({facts.improvement:.2%}) is less than runs of one "
                f"configuration scatter ({facts.noise:.2%})"
            )
        case _:
            return (
                f"one more run is expected to gain {facts.improvement:.2%} of the best, less than "
                f"{below:.2%}"
            )


def interval_width(predicted: Sequence[Prediction], *, positive: bool) -> float:
    """How wide the interval of the first prediction is, as a factor where outcomes are positive.

    One that reaches below 0 has then no width: it was told when the outcomes were not.
    """
    if not predicted or predicted[0].low is None or predicted[0].high is None:
        return math.nan
    low, high = predicted[0].low, predicted[0].high
    if not positive:
        return high - low
    return math.log(high / low) if low > 0 else math.nan
