"""Steps along the gradient, for models that offer one instead of trees."""

import numpy as np

from compass.domain.space import Number
from compass.generate.base import Floats
from compass.generate.objectives import sign
from compass.generate.repair import restore_forced
from compass.generate.score import ScoredCandidates, order, score
from compass.generate.task import SearchTask
from compass.generate.variation import Variation, repaired
from compass.prepare.legal import legal_mask, snap

_STEPS = 24  # improvements of one configuration
_LENGTHS = 2.0 ** np.arange(-10, 3)  # tried step lengths, in standard deviations


def descend(
    variation: Variation, incumbent: ScoredCandidates, rng: np.random.Generator
) -> ScoredCandidates:
    """A configuration improved along the gradient until that no longer helps."""
    task = variation.task
    for _ in range(_STEPS):
        # Far outside the past runs a model on a logarithmic scale may be too steep for a number.
        with np.errstate(over="ignore", invalid="ignore"):
            direction = _direction(task, incumbent.X)
        if direction is None or task.timed_out:
            break
        steps = _legal_steps(task, incumbent.X[0], direction)
        keep = np.zeros(steps.shape, dtype=np.bool_)
        batch = score(task, restore_forced(task, repaired(variation, steps, keep, rng)))
        both = ScoredCandidates.join([incumbent, batch])
        best = both.take(order(task, both)[:1])
        if np.array_equal(best.X, incumbent.X):
            break
        incumbent = best
    return incumbent


def _direction(task: SearchTask, X: Floats) -> Floats | None:
    """Where to go from X [1, d], in standard deviations, its largest part 1; None: nowhere.

    Towards the goals where they are missed or something is minimised, else towards the start.
    """
    slopes = task.predict.gradient(X)
    if slopes is None:
        return None
    predicted = task.predict(X)
    total = np.zeros(X.shape[1])
    for target in task.targets:
        if target.is_class or target.name not in slopes:
            continue
        value = float(predicted[target.name][0, 0])
        down = sign(target) + float(value > target.high) - float(value < target.low)
        if down:
            total += down * slopes[target.name][0] / target.scale
    numbers = [j for j in task.movable if isinstance(task.space.parameters[j], Number)]
    mask = np.zeros(X.shape[1], dtype=np.bool_)
    mask[numbers] = X[0, numbers] != task.geometry.none[numbers]
    step = np.where(mask, -total * task.geometry.scale, 0.0)
    if not step.any() and task.proximity:
        step = np.where(mask, (task.start - X[0]) / task.geometry.scale, 0.0)
    largest = float(np.abs(step).max())
    return step / largest if 0 < largest < np.inf else None


def _legal_steps(task: SearchTask, x: Floats, direction: Floats) -> Floats:
    """Steps of several lengths along the direction: all columns together, and each alone."""
    moved = np.flatnonzero(direction)
    ways = np.zeros((1 + len(moved), len(x)))
    ways[0] = direction
    ways[1 + np.arange(len(moved)), moved] = np.sign(direction[moved])
    X = x + (ways[:, None, :] * _LENGTHS[None, :, None]).reshape(-1, len(x)) * task.geometry.scale
    for column in moved:
        parameter = task.space.parameters[column]
        assert isinstance(parameter, Number)
        values = snap(parameter, np.clip(X[:, column], parameter.low, parameter.high))
        X[:, column] = np.where(legal_mask(parameter, values), values, x[column])
    return X
