"""Which runs an experiment makes next: the bridge between its store and the loop's models."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop import next_runs
from compass.acquire.loop.calibration import LEVEL
from compass.acquire.loop.problem import (
    History,
    LoopProblem,
    LoopProposal,
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
from compass.experiment.labels import Labels, interval_width, told_errors
from compass.experiment.next_front import ask_for_front, stop_facts, why_of_front
from compass.experiment.objective import TradeOffs
from compass.pareto.acquisition import front_acquisition
from compass.pareto.next_runs import FrontProposal
from compass.prepare.encode import Encoder
from compass.settings import LoopSettings, Settings

if TYPE_CHECKING:
    from compass.experiment.experiment import Experiment

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_LEAST_STARTS = 5  # of a small budget: the rest is for what models choose
_ORDER = (Label.UNSUPPORTED, Label.CAUTION, Label.TRUSTED)  # the worst first


@dataclass(frozen=True)
class Suggested:
    """What was suggested, and whether more is worth it."""

    new: tuple[ExperimentRun, ...]
    stop: str | None  # why there are no (more) runs to make; None: go on
    facts: StopFacts | None = None


@dataclass(frozen=True, eq=False)
class _Ended:
    """The runs of an experiment at one moment."""

    runs: Sequence[ExperimentRun]
    ended: Sequence[ExperimentRun]  # in the order in which they did
    X: Floats  # [n, d] of those
    own: Bools  # [n] whether they are of the experiment's own kind
    pending: Floats

    @property
    def successes(self) -> Floats:
        """The own configurations that gave a result."""
        done = np.array([run.state is RunState.DONE for run in self.ended], dtype=np.bool_)
        return self.X[self.own & done]


@dataclass(frozen=True, eq=False)
class _Now:
    """What is known of a single loss."""

    own: Seen
    others: History | None  # of another machine, size or version
    positive: bool
    met: bool  # whether a run meets every bound


@dataclass(frozen=True, eq=False)
class _Choice:
    """A run that is worth making, however it was chosen."""

    x: Floats  # [d]
    reason: Reason
    member: str
    model: str
    predicted: tuple[Prediction, ...]
    positive: tuple[bool, ...]  # of each predicted outcome
    widening: tuple[float, ...]  # of the intervals of these
    failure: float
    improvement: float
    why: str


@dataclass(frozen=True, eq=False)
class _Asked:
    """What models answered."""

    choices: tuple[_Choice, ...]
    facts: StopFacts
    stop: str | None


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
        plan, now = self._experiment.plan, self._ended()
        left = plan.budget - used(now.runs)
        stop = self._settled(now)
        if stop is not None:
            return Suggested((), stop)
        found = self._asked(now, math.ceil(min(count, left) / plan.repeats))
        if found.stop is not None:
            return Suggested((), found.stop, found.facts)
        labels = self._labels(now)
        new = [
            self._new_run(one, labels, repeat)
            for one in found.choices
            for repeat in range(plan.repeats)
        ][:left]
        added = self._experiment.store.suggest(self._experiment.name, new, budget=plan.budget)
        return Suggested(added, None, found.facts)

    def outlook(self) -> Suggested:
        """Whether more runs are worth it, without adding one."""
        now = self._ended()
        stop = self._settled(now)
        if stop is not None or not now.own.any():
            return Suggested((), stop)
        found = self._asked(now, 1)
        return Suggested((), found.stop, found.facts)

    def _ended(self) -> _Ended:
        """The runs as they are."""
        runs = self._experiment.runs()
        # What cannot be tried is not tried again either.
        tried = (RunState.DONE, RunState.FAILED, RunState.INFEASIBLE)
        ended = [run for run in runs if run.state in tried]
        ended.sort(key=lambda run: (run.ended_at or run.suggested_at, run.number))
        own = np.array([is_own(run, self._experiment.plan.fixed) for run in ended], dtype=np.bool_)
        # Nor what somebody cancelled: they would get it straight back.
        waiting = [r for r in runs if r.state.pending or r.state is RunState.CANCELLED]
        return _Ended(runs, ended, self._encoded(ended), own, self._encoded(waiting))

    def _now(self, now: _Ended) -> _Now:
        """The runs with a single loss each."""
        losses, X, keep = self._experiment.objective.losses(now.ended), now.X, now.own
        member = tuple(run.member for run, kept in zip(now.ended, keep, strict=True) if kept)
        objective = self._experiment.objective
        conditions = tuple(
            replace(one, values=one.values[keep], told=told_errors(now.ended, name, one.positive))
            for name, one in zip(objective.bounded, losses.conditions, strict=True)
        )
        told = told_errors(now.ended, objective.single, losses.positive)
        own = Seen(X[keep], losses.plain[keep], losses.failed[keep], member, conditions, told)
        others = None
        if (~keep).any():
            others = History(X[~keep], losses.plain[~keep], losses.meets[~keep])
        return _Now(own, others, losses.positive, bool(losses.meets[keep].any()))

    def _settled(self, now: _Ended) -> str | None:
        """Why there is nothing to ask, whatever the models say; None: there is."""
        plan, objective = self._experiment.plan, self._experiment.objective
        if not objective.extremes and self._now(now).met:
            return "a run meets the goals"
        if used(now.runs) >= plan.budget:
            return f"the budget of {plan.budget} runs is spent"
        return None

    def _asked(self, now: _Ended, count: int) -> _Asked:
        if self._experiment.objective.traded:
            return self._asked_for_front(now, count)
        known = self._now(now)
        found = next_runs(
            self._problem,
            known.own,
            pending=now.pending,
            count=count,
            history=known.others,
            positive=known.positive,
        )
        choices = tuple(self._choice(one, known) for one in found.proposals)
        return _Asked(choices, found.stop, stop_text(found.stop, self._experiment.plan.stop_below))

    def _asked_for_front(self, now: _Ended, count: int) -> _Asked:
        """What is expected to extend the front of several outcomes most."""
        plan, objective = self._experiment.plan, self._experiment.objective
        known = objective.trade_offs(now.ended)
        found = ask_for_front(
            self._problem,
            known,
            now.X,
            own=now.own,
            pending=now.pending,
            count=count,
            reference=objective.reference,
            acquisition=plan.acquisition,
            told=tuple(
                told_errors(now.ended, name, bool(sign))
                for name, sign in zip(objective.extremes, known.log_sign, strict=True)
            ),
        )
        runs = int(now.own.sum())
        choices = tuple(self._front_choice(one, known, runs) for one in found.proposals)
        facts = stop_facts(found, self._problem)
        return _Asked(choices, facts, stop_text(facts, plan.stop_below, of_front=True))

    def _encoded(self, runs: Sequence[ExperimentRun]) -> Floats:
        width = len(self._experiment.space)
        # Runs of another kind are seen as if they had the fixed values.
        fixed = self._experiment.plan.fixed
        rows = [self._encoder.encode({**run.config, **fixed}) for run in runs]
        return np.array(rows, dtype=np.float64).reshape(-1, width)

    def _labels(self, now: _Ended) -> dict[str, Labels]:
        """What tells labels, by the outcome that is predicted."""
        told = [run for run in now.runs if run.state.ended and run.predicted]
        positive = self._positive(now)
        found = {}
        for name in positive:
            widths = [
                interval_width(one, positive=positive[name], widened=run.widening.get(name, 1.0))
                for run in told
                for one in run.predicted
                if one.name == name
            ]
            labels = Labels.of(now.successes, widths, self._experiment.space, Settings().trust)
            if labels is not None:
                found[name] = labels
        return found

    def _positive(self, now: _Ended) -> dict[str, bool]:
        """The outcomes that are predicted, and whether they are above 0.

        Nothing is told of several goals that are one number; what has a bound beside them is.
        """
        objective = self._experiment.objective
        if objective.traded:
            signs = objective.trade_offs(now.ended).log_sign
            return {n: bool(sign) for n, sign in zip(objective.extremes, signs, strict=True)}
        known = self._now(now)
        positive = [one.positive for one in known.own.conditions]
        own = {} if objective.single is None else {objective.single: known.positive}
        return own | dict(zip(objective.bounded, positive, strict=True))

    def _new_run(self, one: _Choice, labels: Mapping[str, Labels], repeat: int) -> NewRun:
        found = [
            labels[own.name].label(one.x, interval_width(own, positive=positive, widened=widened))
            for own, positive, widened in zip(
                one.predicted, one.positive, one.widening, strict=True
            )
            if own.name in labels
        ]
        return NewRun(
            config=self._encoder.decode(one.x),
            repeat=repeat,
            origin=RunOrigin.START if one.reason is Reason.START else RunOrigin.MODEL,
            member=one.member,
            predicted=one.predicted,
            widening={p.name: w for p, w in zip(one.predicted, one.widening, strict=True)},
            failure=one.failure if math.isfinite(one.failure) else None,
            improvement=one.improvement if math.isfinite(one.improvement) else None,
            label=min(found, key=_ORDER.index) if found else None,
            model=one.model,
            why=one.why,
        )

    def _choice(self, one: LoopProposal, now: _Now) -> _Choice:
        """A run that improves a single loss."""
        objective = self._experiment.objective
        predicted, positive, wider = list[Prediction](), list[bool](), list[float]()
        if objective.single is not None and math.isfinite(one.mean):
            values = (
                objective.value_of(loss, positive=now.positive)
                for loss in (one.mean, one.low, one.high)
            )
            predicted.append(self._prediction(objective.single, *values))
            positive.append(now.positive)
            wider.append(one.widening)
        told = zip(objective.bounded, one.bounded, now.own.conditions, strict=False)
        for name, expected, condition in told:  # of starts nothing is expected
            ends = expected.value, expected.low, expected.high
            predicted.append(self._prediction(name, *ends))
            positive.append(condition.positive)
            wider.append(expected.widening)
        model = f"{one.member} on {len(now.own)} runs" if one.member else ""
        return _Choice(
            x=one.x,
            reason=one.reason,
            member=one.member,
            model=model,
            predicted=tuple(predicted),
            positive=tuple(positive),
            widening=tuple(wider),
            failure=one.failure,
            improvement=one.improvement,
            why=_why(one, met=now.own.best >= 0),
        )

    def _front_choice(self, one: FrontProposal, known: TradeOffs, runs: int) -> _Choice:
        """A run that extends a front."""
        modelled = one.reason is Reason.IMPROVEMENT
        models = front_acquisition(self._experiment.plan.acquisition).models if modelled else ""
        signs = self._experiment.objective.extremes
        predicted = tuple(
            self._prediction(
                name, *(sign * float(v) for v in (one.mean[k], one.low[k], one.high[k]))
            )
            for k, (name, sign) in enumerate(signs.items())
            if modelled
        )
        return _Choice(
            x=one.x,
            reason=one.reason,
            member=models,
            model=f"{models} on {runs} runs" if modelled else "",
            predicted=predicted,
            positive=tuple(bool(sign) for sign in known.log_sign) if modelled else (),
            widening=tuple(one.widening.tolist()) if modelled else (),
            failure=one.failure,
            improvement=one.gain,
            why=why_of_front(one),
        )

    def _prediction(self, name: str, value: float, one: float, other: float) -> Prediction:
        choice = self._experiment.plan.study.columns.get(name)
        unit = None if choice is None else choice.unit
        low, high = min(one, other), max(one, other)
        return Prediction(name=name, value=value, unit=unit, low=low, high=high, level=LEVEL)


def _why(one: LoopProposal, *, met: bool) -> str:
    bounds = f"; meets the bounds with {one.meets:.0%}" if one.bounded else ""
    changed = f"; differs from the best run in {', '.join(one.changes)}" if one.changes else ""
    match one.reason:
        case Reason.START:
            return "far from everything that was run"
        case Reason.HISTORY:
            return "among the best of past runs of another kind"
        case Reason.SWEEP:
            return "the space is small enough to try everything"
        case _:
            if not met and one.bounded:
                return f"no run meets the bounds yet; this one does with {one.meets:.0%}"
            return f"expected to gain {one.improvement:.1%} of the best run{bounds}{changed}"


def used(runs: Sequence[ExperimentRun]) -> int:
    """How many runs of the budget were made or are awaited."""
    free = (RunState.CANCELLED, RunState.INFEASIBLE)
    return sum(run.origin is not RunOrigin.HISTORY and run.state not in free for run in runs)


def stop_text(facts: StopFacts, below: float, *, of_front: bool = False) -> str | None:
    """Why more runs are not worth it; None: they are. `of_front`: outcomes are traded off."""
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
            gain = f"gain {facts.improvement:.2%} of the best"
            if of_front:
                gain = f"add {facts.improvement:.2%} to the hypervolume"
            return f"one more run is expected to {gain}, less than {below:.2%}"
