"""Which runs to make next when several outcomes are to be small: pure functions of what was run.

Each outcome has Gaussian processes of its own (`compass.acquire.loop.process`), a smooth one and
one with steps, weighted by how well each predicts every run from the others, and a forest of extra
trees, without which they may be sure of the same wrong thing. A run is worth the volume
that it is expected to add to the front of what was measured, times the probability that it
succeeds, and that it meets the bounds of other outcomes. Outcomes above 0 are learnt as logarithms:
their distribution is log-normal.

Decision 0047 (docs/decisions).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from compass.execute.one_thread import one_thread
from compass.model.trees.flat import FlatForest
from compass.pareto.front import nondominated, reference_of
from compass.pareto.hypervolume import hypervolume
from compass.pareto.improvement import Signs, expected_improvement, loss_of, normal_of
from compass.trust.normal import below

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.int64]

_PARENTS = 16  # points of the front whose one-change neighbours are candidates
_LOOKED_AT = 1024  # candidates that starts are chosen from
_SPREAD = 1.645  # deviations of a 90 % interval
_TREES = 0.2  # share of the forest in what is expected (seeds 0 to 5 of benchmarks/pareto/replay)
_LEAST = 1e-9  # variance below which nothing is uncertain


@dataclass(frozen=True, eq=False)
class Condition:
    """An outcome that has to be within bounds, as it was measured."""

    values: Floats  # [n]; NaN where the run failed
    low: float
    high: float
    positive: bool  # whether it is above 0, where a factor counts the same everywhere

    @property
    def holds(self) -> Bools:
        """Which of the runs [n] are within the bounds."""
        return np.asarray((self.values >= self.low) & (self.values <= self.high))


@dataclass(frozen=True, eq=False)
class SeenRuns:
    """The runs that were made, in the order in which they ended."""

    X: Floats  # [n, d]
    losses: Floats  # [n, k] to be minimised; NaN where the run failed
    failed: Bools  # [n]
    conditions: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.X) == len(self.losses) == len(self.failed):
            raise BadInput(
                "the runs that were made have arrays of different lengths",
                hint="give X, losses and failed of every run",
            )
        told = np.column_stack([self.losses, *(one.values for one in self.conditions)])
        if not np.isfinite(told[~self.failed]).all():
            raise BadInput(
                "a run that did not fail lacks an outcome",
                hint="mark it as failed, or leave it out",
            )

    @cached_property
    def fine(self) -> Places:
        """The runs that succeeded."""
        return np.flatnonzero(~self.failed)

    def means(self, log_sign: Signs) -> tuple[Floats, Floats]:
        """Configurations that meet the conditions in all their runs [u, d], and their means [u, k].

        The mean is that of the logarithms where these are learnt.
        """
        X, losses = self.X[self.fine], self.losses[self.fine]
        own, of_run = np.unique(X, axis=0, return_inverse=True)
        of_run = of_run.ravel()
        runs = np.bincount(of_run, minlength=len(own))
        normal = normal_of(losses, log_sign)
        sums = [np.bincount(of_run, column, minlength=len(own)) for column in normal.T]
        meets = np.ones(len(own), dtype=np.bool_)
        for condition in self.conditions:
            meets[of_run[~condition.holds[self.fine]]] = False
        means = loss_of(np.column_stack(sums) / runs[:, None], log_sign)
        return own[meets], means[meets]


@dataclass(frozen=True, eq=False)
class FrontProposal:
    """A run to make. Means and intervals are in the units of the losses; NaN before any model."""

    x: Floats  # [d]
    mean: Floats  # [k]
    low: Floats  # [k]
    high: Floats  # [k]
    failure: float  # the probability that it fails
    meets: float  # the probability that it meets the conditions
    gain: float  # volume that it is expected to add, a share of that so far; NaN: there is none
    reason: Reason


@dataclass(frozen=True, eq=False)
class NextFrontRuns:
    """The runs worth making, the most useful first, and what they are measured against."""

    proposals: tuple[FrontProposal, ...]
    reference: Floats  # [k] up to where volume counts; NaN before any run succeeded
    volume: float  # of what was measured
    left: int | None  # legal configurations that were not run; None: too many to list

    @property
    def gain(self) -> float:
        """The most that one more run is expected to add, a share of the volume; NaN: no model."""
        gains = [one.gain for one in self.proposals if not np.isnan(one.gain)]
        return max(gains, default=float("nan"))


@dataclass(frozen=True, eq=False)
class _Model:
    """What is expected of one outcome, standardised: a mixture of two processes and a forest."""

    processes: tuple[Process, ...]
    trees: FlatForest
    shares: Floats  # of the processes, then of the forest
    outcomes: Outcomes

    @property
    def noise(self) -> float:
        """The deviation of a single run of a configuration, in the unit of the mean."""
        own = self.shares[:-1] / self.shares[:-1].sum()
        variance = own @ np.array([process.noise for process in self.processes])
        return float(np.sqrt(variance)) * self.outcomes.scale

    def predict(self, points: Points) -> tuple[Floats, Floats]:
        """Mean and deviation [m] in the unit of the loss, or of its logarithm."""
        each = [process.predict(points) for process in self.processes]
        each.append(forest.beliefs(self.trees, points.Z))
        means, variances = (np.array(part) for part in zip(*each, strict=True))
        mean = self.shares @ means
        # Where the members differ nothing is certain.
        variance = self.shares @ (np.maximum(variances, 0.0) + (means - mean) ** 2)
        own = self.outcomes
        deviation = np.sqrt(np.maximum(variance, _LEAST))
        return own.centre + own.scale * mean, own.scale * deviation

    def within(self, points: Points, condition: Condition) -> Floats:
        """The probability [m] that a run of each point meets the condition."""
        mean, deviation = self.predict(points)
        spread = np.sqrt(deviation**2 + self.noise**2)
        sign = np.array(int(condition.positive))
        edges = [normal_of(np.array(edge), sign) for edge in (condition.high, condition.low)]
        high, low = (below((edge - mean) / spread) for edge in edges)
        return np.asarray(np.maximum(high - low, 0.0))

    def knowing(self, point: Points) -> "_Model":
        """The same where one more configuration is being run."""
        processes = tuple(process.knowing(point) for process in self.processes)
        return replace(self, processes=processes)


def next_front_runs(
    problem: LoopProblem,
    seen: SeenRuns,
    *,
    pending: Floats,
    count: int,
    log_sign: Sequence[int],
    reference: Floats | None = None,
    favoured: Floats | None = None,
) -> NextFrontRuns:
    """Up to `count` runs to make next, all different, none of them run or pending [p, d].

    `log_sign` says of each outcome what it is learnt as (`compass.pareto.improvement`), `reference`
    [k] up to where volume counts; None, or NaN in an outcome: a tenth behind the front of what was
    measured, and in the choice of runs behind what else is expected to be on it, since what lies
    behind the reference would never be tried. Every other start is one of `favoured` [f, d], as
    long as there are some.
    """
    with one_thread():
        signs = np.array(log_sign, dtype=np.int64)
        return _next_runs(problem, seen, pending, count, signs, reference, favoured)


def _next_runs(
    problem: LoopProblem,
    seen: SeenRuns,
    pending: Floats,
    count: int,
    log_sign: Signs,
    reference: Floats | None,
    favoured: Floats | None,
) -> NextFrontRuns:
    """The same on one thread."""
    pending = pending.reshape(-1, len(problem.space))
    own, Y = seen.means(log_sign)
    candidates = _candidates(problem, seen, pending, own[nondominated(Y)] if len(Y) else own)
    limit = _reference(Y, seen.losses[seen.fine], reference)
    volume = hypervolume(Y, limit).value if len(Y) else 0.0
    made = np.concatenate([seen.X, pending])
    starts = problem.settings.starts or min(max(2 * len(problem.space), 8), 20)
    known = len(np.unique(seen.X[seen.fine], axis=0))
    first = count if known < FEWEST else min(count, max(starts - len(made), 0))
    chosen, liked = _starts(problem, made, candidates, first, favoured)
    found = [
        _start(x, len(log_sign), one) for x, one in zip(candidates[chosen], liked, strict=True)
    ]
    if len(found) < min(count, len(candidates)):
        waiting = np.concatenate([pending, candidates[chosen]])
        rest = np.delete(candidates, chosen, axis=0)
        front = _Front(Y, limit, reference, log_sign)
        found += _modelled(problem, seen, waiting, rest, count - len(found), front)
    return NextFrontRuns(tuple(found), limit, volume, _left(problem, made))


@dataclass(frozen=True, eq=False)
class _Front:
    """What was measured, and up to where it counts."""

    Y: Floats  # [u, k]
    reference: Floats  # [k] of what was measured
    given: Floats | None  # [k] what was given, NaN where nothing was
    log_sign: Signs  # [k]

    def expected(self, predicted: Floats) -> tuple[Floats, float]:
        """The reference of what was measured and is predicted [m, k], and the volume up to it."""
        both = np.concatenate([self.Y, predicted[np.isfinite(predicted).all(axis=1)]])
        wide = np.maximum(_reference(both, both, self.given), self.reference)
        if self.given is not None:
            wide = np.where(np.isnan(self.given), wide, self.given)
        return wide, hypervolume(self.Y, wide).value if len(self.Y) else 0.0


def _reference(Y: Floats, every: Floats, given: Floats | None) -> Floats:
    """Up to where volume counts: of what meets the conditions, else of all that was measured."""
    known = Y if len(Y) else every
    found = np.full(every.shape[1], np.nan)
    if len(known):
        found = reference_of(known[nondominated(known)], known)
    return found if given is None else np.where(np.isnan(given), found, given)


def _left(problem: LoopProblem, made: Floats) -> int | None:
    """How many legal configurations were not run; None: too many to list."""
    if not problem.pool.complete:
        return None
    found = problem.pool.find(made)
    return len(problem.pool.X) - len(np.unique(found[found >= 0]))


def _candidates(problem: LoopProblem, seen: SeenRuns, pending: Floats, parents: Floats) -> Floats:
    """Legal configurations [m, d] that were not run and are not pending.

    All of them where they are few; else some from anywhere and the neighbours of the parents.
    """
    pool, settings = problem.pool, problem.settings
    made = np.concatenate([seen.X, pending])
    rng = np.random.default_rng([problem.seed, len(made)])
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
    problem: LoopProblem,
    made: Floats,
    candidates: Floats,
    count: int,
    favoured: Floats | None,
) -> tuple[Places, list[bool]]:
    """Positions of candidates far from everything that was made, and which are favoured ones.

    Every other one is favoured, as long as there are some.
    """
    count = min(count, len(candidates))
    if not count:
        return np.empty(0, dtype=np.int64), []
    rng = np.random.default_rng([problem.seed, len(made)])
    some = np.sort(rng.permutation(len(candidates))[:_LOOKED_AT])
    known = problem.inputs(made).Z
    far = some[spread(problem.inputs(candidates[some]).Z, count, known, rng)].tolist()
    place_of = {row.tobytes(): place for place, row in enumerate(candidates + 0.0)}
    wanted = np.empty((0, candidates.shape[1])) if favoured is None else favoured + 0.0
    near = [place_of[row.tobytes()] for row in wanted if row.tobytes() in place_of]
    chosen: dict[int, bool] = {}
    for number in range(len(made), len(made) + count):
        far, near = ([one for one in own if one not in chosen] for own in (far, near))
        likes = bool(near) and number % 2 == 0
        chosen[near[0] if likes or not far else far[0]] = likes or not far
    return np.array(list(chosen), dtype=np.int64), list(chosen.values())


def _start(x: Floats, k: int, favoured: bool) -> FrontProposal:
    nothing, none = np.full(k, np.nan), float("nan")
    reason = Reason.HISTORY if favoured else Reason.START
    return FrontProposal(x, nothing, nothing, nothing, none, none, none, reason)


def _modelled(
    problem: LoopProblem,
    seen: SeenRuns,
    pending: Floats,
    candidates: Floats,
    count: int,
    known: _Front,
) -> list[FrontProposal]:
    """The runs that are expected to add most, one by one.

    What is pending or chosen is taken to turn out as expected: it joins the front, and the models
    are as sure of it as of a run.
    """
    log_sign = known.log_sign
    models = [
        _model(problem, _learnt(seen, seen.losses[:, k], int(sign)), positive=bool(sign))
        for k, sign in enumerate(log_sign)
    ]
    bounds = [
        (one, _model(problem, Seen(seen.X, one.values, seen.failed), positive=one.positive))
        for one in seen.conditions
    ]
    points = problem.inputs(candidates)
    failing = _failing(problem, seen, points)
    front = known.Y
    for x in pending:
        point = problem.inputs(x[None, :])
        models, front = _with(models, front, point, log_sign)
        bounds = [(one, model.knowing(point)) for one, model in bounds]
    reference, volume = known.expected(loss_of(_predicted(models, points)[0], log_sign))
    found: list[FrontProposal] = []
    open_ = np.ones(len(candidates), dtype=np.bool_)
    for _ in range(min(count, len(candidates))):
        mean, deviation = _predicted(models, points)
        meets = np.prod([m.within(points, one) for one, m in bounds], axis=0) * np.ones(len(mean))
        gains = expected_improvement(mean, deviation, front, reference, log_sign=log_sign)
        worth = gains * (1 - failing) * meets
        if not worth[open_].max() > 0:
            # Where nothing is expected to add any volume, the least known is worth a run.
            worth = deviation.sum(axis=1) * (1 - failing) * np.maximum(meets, _LEAST)
        place = int(np.argmax(np.where(open_, worth, -1.0)))
        open_[place] = False
        scatter = np.array([model.noise for model in models])
        half = _SPREAD * np.sqrt(deviation[place] ** 2 + scatter**2)
        gain = float(gains[place] * (1 - failing[place]) * meets[place])
        found.append(
            FrontProposal(
                x=candidates[place],
                mean=loss_of(mean[place], log_sign),
                low=loss_of(mean[place] - half, log_sign),
                high=loss_of(mean[place] + half, log_sign),
                failure=float(failing[place]),
                meets=float(meets[place]),
                gain=gain / volume if volume else float("nan"),
                reason=Reason.IMPROVEMENT,
            )
        )
        point = points.take(np.array([place]))
        models, front = _with(models, front, point, log_sign)
        bounds = [(one, model.knowing(point)) for one, model in bounds]
    return found


def _learnt(seen: SeenRuns, losses: Floats, sign: int) -> Seen:
    """The runs with one outcome as the process takes it: a rate as its reciprocal."""
    with np.errstate(divide="ignore"):
        return Seen(seen.X, -1 / losses if sign < 0 else losses, seen.failed)


def _model(problem: LoopProblem, seen: Seen, *, positive: bool) -> _Model:
    """The processes, each with the density of the runs as predicted from the others; the forest."""
    ask = Ask(problem, seen, np.empty((0, len(problem.space))), positive)
    outcomes = ask.outcomes
    outcomes = outcomes.take(outcomes.most_telling(problem.settings.learnt))
    points = problem.inputs(outcomes.X)
    processes, densities = [], []
    for steps in (False, True):
        shape = shape_for(ask, steps=steps, history=False)
        process = Process.of(shape, points, outcomes.y, outcomes.runs, problem.inputs)
        mean, variance = process.left_out(outcomes.y)
        densities.append(-0.5 * ((outcomes.y - mean) ** 2 / variance + np.log(variance)).sum())
        processes.append(process)
    likely = np.exp(np.array(densities) - max(densities))
    shares = np.append((1 - _TREES) * likely / likely.sum(), _TREES)
    trees = forest.grown(points.Z, outcomes.y, problem.settings.trees, problem.seed)
    return _Model(tuple(processes), trees, shares, outcomes)


def _predicted(models: Sequence[_Model], points: Points) -> tuple[Floats, Floats]:
    """Means and deviations [m, k] of the normal distributions that outcomes are made of."""
    each = [model.predict(points) for model in models]
    return np.column_stack([m for m, _ in each]), np.column_stack([d for _, d in each])


def _with(
    models: Sequence[_Model], front: Floats, point: Points, log_sign: Signs
) -> tuple[list[_Model], Floats]:
    """Models and front where one more configuration has turned out as expected."""
    mean, _ = _predicted(models, point)
    known = [model.knowing(point) for model in models]
    return known, np.concatenate([front, loss_of(mean, log_sign)])


def _failing(problem: LoopProblem, seen: SeenRuns, points: Points) -> Floats:
    """The probability [m] that each candidate fails, as similar runs did."""
    if not seen.failed.any() or not problem.settings.failures:
        return np.zeros(len(points))
    known = problem.inputs(seen.X)
    trees = problem.settings.trees
    grown = forest.grown(known.Z, seen.failed.astype(float), trees, problem.seed)
    return np.clip(forest.beliefs(grown, points.Z)[0], 0.0, 1.0 - 1e-6)
