"""Which runs to make next when several outcomes are to be small: pure functions of what was run.

Each outcome has a Gaussian process of its own (`compass.acquire.loop.process`), the smooth one or
the one with steps, whichever predicts each run better from the others. A run is worth the volume
that it is expected to add to the front of what was measured, times the probability that it
succeeds. Outcomes above 0 are learnt as logarithms: their distribution is log-normal.

Decision 0047 (docs/decisions).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compass.acquire.loop import LoopProblem, Reason, Seen, forest
from compass.acquire.loop.ask import Ask
from compass.acquire.loop.inputs import Points
from compass.acquire.loop.members import FEWEST, shape_for
from compass.acquire.loop.outcomes import Outcomes
from compass.acquire.loop.pool import distinct
from compass.acquire.loop.process import Process
from compass.acquire.loop.starts import spread
from compass.domain.errors import BadInput
from compass.pareto.front import nondominated, reference_of
from compass.pareto.hypervolume import hypervolume
from compass.pareto.improvement import expected_improvement

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int64]

_PARENTS = 16  # points of the front whose one-change neighbours are candidates
_LOOKED_AT = 1024  # candidates that starts are chosen from
_SPREAD = 1.645  # deviations of a 90 % interval
_LEAST = 1e-9  # variance below which nothing is uncertain


@dataclass(frozen=True, eq=False)
class SeenRuns:
    """The runs that were made, in the order in which they ended."""

    X: Floats  # [n, d]
    losses: Floats  # [n, k] to be minimised; NaN where the run failed
    failed: Bools  # [n]

    def __post_init__(self) -> None:
        if not len(self.X) == len(self.losses) == len(self.failed):
            raise BadInput(
                "the runs that were made have arrays of different lengths",
                hint="give X, losses and failed of every run",
            )
        if not np.isfinite(self.losses[~self.failed]).all():
            raise BadInput(
                "a run that did not fail lacks an outcome",
                hint="mark it as failed, or leave it out",
            )

    @cached_property
    def fine(self) -> Places:
        """The runs that succeeded."""
        return np.flatnonzero(~self.failed)

    def of(self, outcome: int) -> Seen:
        """The same with one outcome alone."""
        return Seen(self.X, self.losses[:, outcome], self.failed)

    @cached_property
    def means(self) -> tuple[Floats, Floats]:
        """Successful configurations [u, d] and the means of their runs [u, k]."""
        X, losses = self.X[self.fine], self.losses[self.fine]
        own, of_run = np.unique(X, axis=0, return_inverse=True)
        of_run = of_run.ravel()
        runs = np.bincount(of_run, minlength=len(own))
        sums = [np.bincount(of_run, column, minlength=len(own)) for column in losses.T]
        return own, np.column_stack(sums) / runs[:, None]


@dataclass(frozen=True, eq=False)
class FrontProposal:
    """A run to make. Means and intervals are in the units of the losses; NaN before any model."""

    x: Floats  # [d]
    mean: Floats  # [k]
    low: Floats  # [k]
    high: Floats  # [k]
    failure: float  # the probability that it fails
    gain: float  # volume that it is expected to add, a share of the volume so far
    reason: Reason


@dataclass(frozen=True, eq=False)
class NextFrontRuns:
    """The runs worth making, the most useful first, and what they are measured against."""

    proposals: tuple[FrontProposal, ...]
    reference: Floats  # [k] up to where volume counts; NaN before any run succeeded
    volume: float  # of what was measured
    left: int | None  # legal configurations that were not run; None: too many to list


@dataclass(frozen=True, eq=False)
class _Model:
    """What is expected of one outcome, standardised."""

    process: Process
    outcomes: Outcomes

    def predict(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and deviation [m] in the unit of the loss, or of its logarithm."""
        mean, variance = self.process.predict(points)
        own = self.outcomes
        deviation = np.sqrt(np.maximum(variance, _LEAST))
        return own.centre + own.scale * mean, own.scale * deviation

    def knowing(self, point: Points) -> "_Model":
        """The same where one more configuration is being run."""
        return _Model(self.process.knowing(point), self.outcomes)


def next_front_runs(
    problem: LoopProblem,
    seen: SeenRuns,
    *,
    pending: Floats,
    count: int,
    positive: tuple[bool, ...],
    reference: Floats | None = None,
) -> NextFrontRuns:
    """Up to `count` runs to make next, all different, none of them run or pending [p, d].

    `positive` says of each outcome whether it is above 0, where a factor counts the same
    everywhere. `reference` [k] is up to where volume counts; None: a tenth behind the front of
    what was measured.
    """
    pending = pending.reshape(-1, len(problem.space))
    candidates = _candidates(problem, seen, pending)
    _, Y = seen.means
    limit = _reference(Y, len(positive), reference)
    volume = hypervolume(Y, limit).value if len(Y) else 0.0
    left = len(candidates) if problem.pool.complete else None
    made = len(seen.X) + len(pending)
    starts = problem.settings.starts or min(max(2 * len(problem.space), 8), 20)
    first = count if len(Y) < FEWEST else min(count, max(starts - made, 0))
    chosen = _starts(problem, seen, pending, candidates, first)
    found = [_start(x, len(positive)) for x in candidates[chosen]]
    if len(found) < min(count, len(candidates)):
        waiting = np.concatenate([pending, candidates[chosen]])
        rest = np.delete(candidates, chosen, axis=0)
        found += _modelled(
            problem, seen, waiting, rest, count - len(found), positive, limit, volume
        )
    return NextFrontRuns(tuple(found), limit, volume, left)


def _reference(Y: Floats, k: int, given: Floats | None) -> Floats:
    if given is not None:
        return given
    return reference_of(Y[nondominated(Y)], Y) if len(Y) else np.full(k, np.nan)


def _candidates(problem: LoopProblem, seen: SeenRuns, pending: Floats) -> Floats:
    """Legal configurations [m, d] that were not run and are not pending.

    All of them where they are few; else some from anywhere and the neighbours of the front.
    """
    pool, settings = problem.pool, problem.settings
    made = np.concatenate([seen.X, pending])
    rng = np.random.default_rng([problem.seed, len(made)])
    own, Y = seen.means
    parents = own[nondominated(Y)] if len(Y) else own
    if len(parents) > _PARENTS:
        parents = parents[rng.choice(len(parents), _PARENTS, replace=False)]
    if not pool.complete:
        near = [pool.neighbours(x, rng) for x in parents]
        X = distinct(np.concatenate([*near, pool.draws(settings.drawn, rng)])) + 0.0
        tried = {row.tobytes() for row in made + 0.0}
        return np.asarray(X[[row.tobytes() not in tried for row in X]])
    open_ = np.ones(len(pool.X), dtype=np.bool_)
    found = pool.find(made)
    open_[found[found >= 0]] = False
    places = np.flatnonzero(open_)
    if len(places) > settings.scored:
        some = np.zeros(len(pool.X), dtype=np.bool_)
        some[rng.choice(places, settings.scored, replace=False)] = True
        for x in parents:
            own_places = pool.neighbour_places(x)
            some[own_places[own_places >= 0]] = True
        places = np.flatnonzero(some & open_)
    return pool.X[places]


def _starts(
    problem: LoopProblem, seen: SeenRuns, pending: Floats, candidates: Floats, count: int
) -> Places:
    """Positions of candidates far from everything that was made."""
    if not count or not len(candidates):
        return np.empty(0, dtype=np.int64)
    made = np.concatenate([seen.X, pending])
    rng = np.random.default_rng([problem.seed, len(made)])
    some = np.sort(rng.permutation(len(candidates))[:_LOOKED_AT])
    known = problem.inputs(made).Z
    return some[spread(problem.inputs(candidates[some]).Z, min(count, len(some)), known, rng)]


def _start(x: Floats, k: int) -> FrontProposal:
    nothing = np.full(k, np.nan)
    return FrontProposal(x, nothing, nothing, nothing, float("nan"), float("nan"), Reason.START)


def _modelled(
    problem: LoopProblem,
    seen: SeenRuns,
    pending: Floats,
    candidates: Floats,
    count: int,
    positive: tuple[bool, ...],
    reference: Floats,
    volume: float,
) -> list[FrontProposal]:
    """The runs that are expected to add most, one by one.

    What is pending or chosen is taken to turn out as expected: it joins the front, and the models
    are as sure of it as of a run.
    """
    log = np.array(positive)
    models = [_model(problem, seen.of(k), one) for k, one in enumerate(positive)]
    points = problem.inputs(candidates)
    failing = _failing(problem, seen, points)
    front = seen.means[1]
    for x in pending:
        models, front = _with(models, front, problem.inputs(x[None, :]), log)
    found: list[FrontProposal] = []
    open_ = np.ones(len(candidates), dtype=np.bool_)
    for _ in range(min(count, len(candidates))):
        mean, deviation = _predicted(models, points)
        gains = expected_improvement(mean, deviation, front, reference, log=log)
        # Where nothing is expected to add any volume, the least known is worth a run.
        gains = gains if gains.max() > 0 else deviation.sum(axis=1)
        place = int(np.argmax(np.where(open_, gains * (1 - failing), -1.0)))
        open_[place] = False
        scatter = [float(np.sqrt(m.process.noise)) * m.outcomes.scale for m in models]
        half = _SPREAD * np.sqrt(deviation[place] ** 2 + np.square(scatter))
        gain = float(gains[place] * (1 - failing[place])) / (volume or 1.0)
        found.append(
            FrontProposal(
                x=candidates[place],
                mean=_turned_back(mean[place], log),
                low=_turned_back(mean[place] - half, log),
                high=_turned_back(mean[place] + half, log),
                failure=float(failing[place]),
                gain=gain,
                reason=Reason.IMPROVEMENT,
            )
        )
        models, front = _with(models, front, points.take(np.array([place])), log)
    return found


def _turned_back(values: Floats, log: Bools) -> Floats:
    """Values [k] in the units of the losses; those that are logarithms are turned back."""
    return np.where(log, np.exp(np.where(log, values, 0.0)), values)


def _model(problem: LoopProblem, seen: Seen, positive: bool) -> _Model:
    """The process, smooth or with steps, that predicts each run better from the others."""
    ask = Ask(problem, seen, np.empty((0, len(problem.space))), positive)
    outcomes = ask.outcomes
    outcomes = outcomes.take(outcomes.most_telling(problem.settings.learnt))
    points = problem.inputs(outcomes.X)
    best: tuple[float, Process] | None = None
    for steps in (False, True):
        shape = shape_for(ask, steps=steps, history=False)
        process = Process.of(shape, points, outcomes.y, outcomes.runs, problem.inputs)
        mean, variance = process.left_out(outcomes.y)
        density = float(-0.5 * ((outcomes.y - mean) ** 2 / variance + np.log(variance)).sum())
        if best is None or density > best[0]:
            best = density, process
    assert best is not None
    return _Model(best[1], outcomes)


def _predicted(models: list[_Model], points: Points) -> tuple[Floats, Floats]:
    """Means and deviations [m, k] of points, of logarithms where these are learnt."""
    each = [model.predict(points) for model in models]
    return np.column_stack([m for m, _ in each]), np.column_stack([d for _, d in each])


def _with(
    models: list[_Model], front: Floats, point: Points, log: Bools
) -> tuple[list[_Model], Floats]:
    """Models and front where one more configuration has turned out as expected."""
    mean, _ = _predicted(models, point)
    known = [model.knowing(point) for model in models]
    return known, np.concatenate([front, _turned_back(mean, log)])


def _failing(problem: LoopProblem, seen: SeenRuns, points: Points) -> Floats:
    """The probability [m] that each candidate fails, as similar runs did."""
    if not seen.failed.any() or not problem.settings.failures:
        return np.zeros(len(points))
    known = problem.inputs(seen.X)
    trees = problem.settings.trees
    grown = forest.grown(known.Z, seen.failed.astype(float), trees, problem.seed)
    return np.clip(forest.beliefs(grown, points.Z)[0], 0.0, 1.0 - 1e-6)
