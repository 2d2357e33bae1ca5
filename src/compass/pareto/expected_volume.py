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

import numpy as np
from numpy.typing import NDArray

from compass import registry
from compass.acquire.loop import LoopProblem, Seen, forest
from compass.acquire.loop.calibration import SPREAD, widening
from compass.acquire.loop.inputs import Points
from compass.acquire.loop.members import mixture_of
from compass.acquire.loop.mixture import Bound, Mixture
from compass.pareto.acquisition import FrontChoice, FrontRequest, SeenRuns
from compass.pareto.improvement import Signs, expected_improvement, loss_of

Floats = NDArray[np.float64]

_LEAST = 1e-9  # the least probability to meet the conditions that is reckoned with


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
        mixture_of(problem, _learnt(seen, seen.losses[:, k], int(sign)), positive=bool(sign))
        for k, sign in enumerate(log_sign)
    ]
    bounds = [
        Bound(
            one, mixture_of(problem, Seen(seen.X, one.values, seen.failed), positive=one.positive)
        )
        for one in seen.conditions
    ]
    points = problem.inputs(request.candidates)
    failing = failing_of(problem, seen, points)
    front = request.front
    for x in request.pending:
        point = problem.inputs(x[None, :])
        models, front = _with(models, front, point, log_sign)
        bounds = [one.knowing(point) for one in bounds]
    reference, volume = request.reach(loss_of(_predicted(models, points)[0], log_sign))
    told = seen.told or (np.empty(0),) * len(models)
    wider = np.array([widening(one.left_out, own) for one, own in zip(models, told, strict=True)])
    found: list[FrontChoice] = []
    open_ = np.ones(len(points), dtype=np.bool_)
    for _ in range(min(request.count, len(points))):
        mean, deviation = _predicted(models, points)
        meets = np.exp(sum((one.log_within(points) for one in bounds), np.zeros(len(mean))))
        gains = expected_improvement(mean, deviation, front, reference, log_sign=log_sign)
        worth = gains * (1 - failing) * meets
        if not worth[open_].max() > 0:
            # Where nothing is expected to add any volume, the least known is worth a run.
            worth = deviation.sum(axis=1) * (1 - failing) * np.maximum(meets, _LEAST)
        place = int(np.argmax(np.where(open_, worth, -1.0)))
        open_[place] = False
        scatter = np.array([model.noise for model in models])
        half = SPREAD * wider * np.sqrt(deviation[place] ** 2 + scatter**2)
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
                widening=wider,
            )
        )
        point = points.take(np.array([place]))
        models, front = _with(models, front, point, log_sign)
        bounds = [one.knowing(point) for one in bounds]
    return found


def _learnt(seen: SeenRuns, losses: Floats, sign: int) -> Seen:
    """The runs with one outcome as the process takes it: a rate as its reciprocal."""
    with np.errstate(divide="ignore"):
        return Seen(seen.X, -1 / losses if sign < 0 else losses, seen.failed)


def _predicted(models: Sequence[Mixture], points: Points) -> tuple[Floats, Floats]:
    """Means and deviations [m, k] of the normal distributions that outcomes are made of."""
    each = [model.predict(points) for model in models]
    return np.column_stack([m for m, _ in each]), np.column_stack([d for _, d in each])


def _with(
    models: Sequence[Mixture], front: Floats, point: Points, log_sign: Signs
) -> tuple[list[Mixture], Floats]:
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
