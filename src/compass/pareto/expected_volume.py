"""Runs chosen by the volume that they are expected to add: the acquisition of Compass itself.

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

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.acquire.loop import LoopProblem, Seen, forest
from compass.acquire.loop.ask import Ask
from compass.acquire.loop.inputs import Points
from compass.acquire.loop.members import shape_for
from compass.acquire.loop.outcomes import Outcomes
from compass.acquire.loop.process import Process
from compass.model.trees.flat import FlatForest
from compass.pareto.acquisition import Condition, FrontChoice, FrontRequest, SeenRuns
from compass.pareto.improvement import Signs, expected_improvement, loss_of, normal_of
from compass.trust.normal import below

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SPREAD = 1.645  # deviations of a 90 % interval
_TREES = 0.2  # share of the forest in what is expected (seeds 0 to 5 of benchmarks/pareto/replay)
_LEAST = 1e-9  # variance below which nothing is uncertain


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


@registry.add("front_acquisition", "expected-volume")
class ExpectedVolume:
    """Gaussian processes and a forest; exact for two outcomes, evenly sampled beyond."""

    name = "expected-volume"
    models = "Gaussian processes and a forest"

    @staticmethod
    def prepare() -> None:
        """Nothing else is needed."""

    @staticmethod
    def choose(request: FrontRequest) -> tuple[FrontChoice, ...]:
        """The runs that are expected to add most, one by one.

        What is pending or chosen is taken to turn out as expected: it joins the front, and the
        models are as sure of it as of a run.
        """
        return tuple(_chosen(request))


def _chosen(request: FrontRequest) -> list[FrontChoice]:
    problem, seen, log_sign = request.problem, request.seen, request.log_sign
    models = [
        _model(problem, _learnt(seen, seen.losses[:, k], int(sign)), positive=bool(sign))
        for k, sign in enumerate(log_sign)
    ]
    bounds = [
        (one, _model(problem, Seen(seen.X, one.values, seen.failed), positive=one.positive))
        for one in seen.conditions
    ]
    points = problem.inputs(request.candidates)
    failing = failing_of(problem, seen, points)
    front = request.front
    for x in request.pending:
        point = problem.inputs(x[None, :])
        models, front = _with(models, front, point, log_sign)
        bounds = [(one, model.knowing(point)) for one, model in bounds]
    reference, volume = request.reach(loss_of(_predicted(models, points)[0], log_sign))
    found: list[FrontChoice] = []
    open_ = np.ones(len(points), dtype=np.bool_)
    for _ in range(min(request.count, len(points))):
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
            FrontChoice(
                place=place,
                mean=loss_of(mean[place], log_sign),
                low=loss_of(mean[place] - half, log_sign),
                high=loss_of(mean[place] + half, log_sign),
                failure=float(failing[place]),
                meets=float(meets[place]),
                gain=gain / volume if volume else float("nan"),
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


def failing_of(problem: LoopProblem, seen: SeenRuns, points: Points) -> Floats:
    """The probability [m] that each candidate fails, as similar runs did."""
    if not seen.failed.any() or not problem.settings.failures:
        return np.zeros(len(points))
    known = problem.inputs(seen.X)
    trees = problem.settings.trees
    grown = forest.grown(known.Z, seen.failed.astype(float), trees, problem.seed)
    return np.clip(forest.beliefs(grown, points.Z)[0], 0.0, 1.0 - 1e-6)
