"""The models that propose runs: a smooth process, one with steps, and Extra Trees.

None is best everywhere: outcomes of programs are smooth in some parameters and jump in others, and
a model that is wrong about that is sure of itself.
"""

import hashlib
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop import forest
from compass.acquire.loop.ask import Ask
from compass.acquire.loop.gain import log_expected_improvement
from compass.acquire.loop.inputs import Points
from compass.acquire.loop.mixture import Bound, Mixture, half_widths, log_density
from compass.acquire.loop.outcomes import Outcomes
from compass.acquire.loop.problem import LoopProblem, Seen
from compass.acquire.loop.process import Process, Shape, fitted_shape, usual
from compass.acquire.loop.transfer import Line

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int64]

SMOOTH, STEPPED, FOREST = "smooth process", "stepped process", "forest"
FEWEST = 3  # successful configurations that a model can be made of
_GROWTH = 1.2  # by how much the runs grow until settings are fitted again
_LEAST = 1e-9  # variance below which nothing is uncertain
_LEAST_OF_TREES = 1e-6
_LIKELY = float(np.log(0.5))


@dataclass(frozen=True, eq=False)
class Belief:
    """What a member expects of some candidates, standardised."""

    member: str
    places: Places  # [s] positions among the candidates
    points: Points  # s of them
    mean: Floats  # [s]
    variance: Floats  # [s] without noise
    trend: Floats  # [m] of all candidates: what the history says
    outcomes: Outcomes  # what it has learnt from
    limit: float  # the best mean of what was run or is being run
    process: Process | None = None
    solved: Floats = field(default_factory=lambda: np.empty((0, 0)))  # [n, s]

    @property
    def noise(self) -> float:
        """The variance of a single run."""
        return 0.0 if self.process is None else self.process.noise

    def score(self) -> Floats:
        """The logarithm of the expected improvement, [s]."""
        least = _LEAST_OF_TREES if self.process is None else _LEAST
        return log_worth(self.mean, np.maximum(self.variance, least), self.limit)

    def knowing(self, point: Points, place: int, *, counts: bool = True) -> "Belief":
        """The same where one more candidate (a single point) is being run.

        Unless it `counts`, being likely to meet the conditions, it will not be the best.
        """
        if self.process is None:
            return self
        more = self.process.knowing(point)
        n = len(self.solved)
        # All but the last row of what is solved is known.
        between = more.covariance(self.points)[n]
        row = (between - more.factor[n, :n] @ self.solved) / more.factor[n, n]
        mean = float(self.process.predict(point)[0][0]) + float(self.trend[place])
        return replace(
            self,
            variance=self.variance - row**2,
            limit=min(self.limit, mean) if counts else self.limit,
            process=more,
            solved=np.vstack([self.solved, row]),
        )


def log_worth(mean: Floats, variance: Floats, limit: float) -> Floats:
    """The logarithm of what runs are expected to be worth [s], beside the best so far.

    While there is no best (none meets the conditions), what is least known is worth most.
    """
    deviation = np.sqrt(variance)
    if limit == np.inf:
        return np.log(deviation)
    return log_expected_improvement(mean, deviation, limit)


@dataclass(frozen=True, eq=False)
class Lesson:
    """What models learn from, and what they need not learn because the history says it."""

    outcomes: Outcomes
    points: Points  # [u] of the outcomes
    line: Line | None  # None: no history is used
    there: Floats  # [u] outcomes where the history was made

    @property
    def rest(self) -> Floats:
        """The outcomes [u] less what the history says."""
        y = self.outcomes.y
        return y if self.line is None else y - self.line(self.there)

    def trend(self, there: Floats | None, count: int) -> Floats:
        """What the history says of other configurations, [count]."""
        return np.zeros(count) if self.line is None or there is None else self.line(there)


def lesson_of(ask: Ask, outcomes: Outcomes, *, history: bool) -> Lesson:
    """What models learn from these outcomes, with or without the history."""
    kept = outcomes.most_telling(ask.problem.settings.learnt)
    outcomes = outcomes.take(kept)
    points = ask.problem.inputs(outcomes.X)
    if not history or ask.reference is None:
        return Lesson(outcomes, points, None, np.zeros(len(kept)))
    there = ask.reference(points.Z)
    return Lesson(outcomes, points, Line.of(there, outcomes.y), there)


def lesson(ask: Ask, member: str, *, history: bool) -> Lesson:
    """What a member learns from at this ask, with or without the history."""
    soften = ask.problem.settings.soften and member != SMOOTH
    outcomes = ask.softened if soften else ask.outcomes
    return lesson_of(ask, outcomes, history=history)


def uses_history(ask: Ask) -> bool:
    """Whether the runs made here are predicted better with the history than without."""
    if ask.reference is None:
        return False
    if len(ask.outcomes) < FEWEST:
        return True
    return likelihood(ask, history=True) >= likelihood(ask, history=False)


def likelihood(ask: Ask, *, history: bool) -> float:
    """How well the smooth process predicts each run from the others: the log density."""
    own = lesson_of(ask, ask.outcomes, history=history)
    shape = shape_for(ask, steps=False, history=history)
    process = Process.of(shape, own.points, own.rest, own.outcomes.runs, ask.problem.inputs)
    return log_density(own.rest, *process.left_out(own.rest))


def left_out_errors(member: str, ask: Ask, *, history: bool) -> Floats:
    """By how many half-widths a member misses each run [u] that the others predict.

    Of the trees it is taken to be as much as of the process with steps, which learns the same.
    """
    steps = member != SMOOTH
    own = lesson(ask, STEPPED if steps else SMOOTH, history=history)
    shape = shape_for(ask, steps=steps, history=own.line is not None)
    process = Process.of(shape, own.points, own.rest, own.outcomes.runs, ask.problem.inputs)
    return half_widths(own.rest, *process.left_out(own.rest))


def process_belief(ask: Ask, *, history: bool, steps: bool) -> Belief:
    """What a process expects of the candidates that may improve most by a rough bound."""
    inputs = ask.problem.inputs
    own = lesson(ask, STEPPED if steps else SMOOTH, history=history)
    shape = shape_for(ask, steps=steps, history=own.line is not None)
    process = Process.of(shape, own.points, own.rest, own.outcomes.runs, inputs)
    limit = own.outcomes.limit
    for x in ask.pending:
        point = inputs(x[None, :])
        there = None if ask.reference is None else ask.reference(point.Z)
        if counts(ask.log_within(point)[0]):
            limit = min(limit, float(process.predict(point)[0][0] + own.trend(there, 1)[0]))
        process = process.knowing(point)
    trend = own.trend(ask.there, len(ask.points))
    mean, bound = process.rough(ask.points)
    rough = log_worth(mean + trend, np.maximum(bound, _LEAST), limit) + ask.log_success
    short = highest(rough, ask.problem.settings.shortlist)
    chosen = ask.points.take(short)
    K = process.covariance(chosen)
    solved = process.solved(K)
    return Belief(
        STEPPED if steps else SMOOTH,
        short,
        chosen,
        K.T @ process.coefficients + trend[short],
        process.variance - (solved**2).sum(axis=0),
        trend,
        own.outcomes,
        limit,
        process,
        solved,
    )


def forest_belief(ask: Ask, *, history: bool) -> Belief:
    """What Extra Trees expect of the candidates."""
    own = lesson(ask, FOREST, history=history)
    grown = forest.grown(own.points.Z, own.rest, ask.problem.settings.trees, ask.problem.seed)
    mean, variance = forest.beliefs(grown, ask.points.Z)
    every = np.arange(len(ask.points))
    trend = own.trend(ask.there, len(every))
    limit = own.outcomes.limit
    return Belief(FOREST, every, ask.points, mean + trend, variance, trend, own.outcomes, limit)


def counts(log_meets: float) -> bool:
    """Whether a run that is being made is likely to meet every condition."""
    return float(log_meets) >= _LIKELY


def mixture_of(problem: LoopProblem, seen: Seen, *, positive: bool) -> Mixture:
    """What all members together expect of one outcome of the runs."""
    ask = Ask(problem, seen, np.empty((0, len(problem.space))), positive)
    outcomes = ask.outcomes
    outcomes = outcomes.take(outcomes.most_telling(problem.settings.learnt))
    points = problem.inputs(outcomes.X)
    processes = [
        Process.of(
            shape_for(ask, steps=steps, history=False),
            points,
            outcomes.y,
            outcomes.runs,
            problem.inputs,
        )
        for steps in (False, True)
    ]
    trees = forest.grown(points.Z, outcomes.y, problem.settings.trees, problem.seed)
    return Mixture.of(processes, trees, outcomes)


def bounds_of(ask: Ask) -> tuple[Bound, ...]:
    """What is expected of the outcomes with a condition; what is pending is known to be run."""
    found = []
    for one in ask.seen.conditions:
        own = Seen(ask.seen.X, one.values, ask.seen.failed)
        bound = Bound(one, mixture_of(ask.problem, own, positive=one.positive))
        for x in ask.pending:
            bound = bound.knowing(ask.problem.inputs(x[None, :]))
        found.append(bound)
    return tuple(found)


def shape_for(ask: Ask, *, steps: bool, history: bool) -> Shape:
    """The settings of a process: those of the first runs, up to the last round number of them.

    A loop that was killed finds the same ones, and few asks have to fit any.
    """
    problem, seen = ask.problem, ask.seen
    first = 1
    while (further := max(first + 1, int(first * _GROWTH))) <= len(seen):
        first = further
    fine = ~seen.failed[:first]
    X, loss = seen.X[:first][fine], seen.loss[:first][fine]
    d = len(problem.space)
    if len(np.unique(X, axis=0)) < FEWEST:
        return Shape.of(usual(d, steps=steps)[0], d)
    known = problem.fitted
    marks = bytes([steps, history, ask.positive])
    key = hashlib.blake2b(X.tobytes() + loss.tobytes() + marks, digest_size=16).digest()
    if key not in known:
        soften = problem.settings.soften and steps
        found = Outcomes.of(X, loss, positive=ask.positive, soften=soften)
        own = lesson_of(
            ask, found.take(found.most_telling(problem.settings.tuned)), history=history
        )
        known[key] = fitted_shape(
            own.points, own.rest, own.outcomes.runs, problem.inputs, steps=steps
        )
    return known[key]


def highest(values: Floats, count: int) -> Places:
    """Positions of the `count` highest values [m], in order of position."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.sort(np.argpartition(-values, count)[:count])


def belief_of(member: str, ask: Ask, *, history: bool) -> Belief:
    """What a member expects of the candidates, with or without the history."""
    if member == FOREST:
        return forest_belief(ask, history=history)
    return process_belief(ask, history=history, steps=member == STEPPED)
