"""What is minimised: one value per objective, and the order of preference among such vectors.

An objective is a target with a direction. Its value is the outcome in standard deviations, turned
so that smaller is better. Everything that has to prefer one vector of values to another does so
with the functions here: the plain sum of the values decides, where one point is wanted. Several
objectives without weights are answered with their front (`compass.pareto`).

Decisions 0003 and 0047 (docs/decisions).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from compass.domain.target import Target
from compass.generate.base import Floats

_SIGN = {"minimize": 1.0, "maximize": -1.0, None: 0.0}


def objectives(targets: Sequence[Target]) -> tuple[Target, ...]:
    """The targets that are minimised or maximised, in the order of the question."""
    return tuple(target for target in targets if target.direction is not None)


def trades_off(targets: Sequence[Target], weights: Mapping[str, float]) -> bool:
    """Whether several objectives are answered with their front.

    Who gives one of them a weight wants the point where the weighted sum is best.
    """
    names = [target.name for target in objectives(targets)]
    return len(names) > 1 and not any(name in weights for name in names)


def weighted(targets: Sequence[Target], weights: Mapping[str, float]) -> tuple[Target, ...]:
    """The targets with objectives that count in a sum as their weights say; 1 if not named."""
    return tuple(
        target.model_copy(update={"scale": target.scale / weights[target.name]})
        if target.direction is not None and target.name in weights
        else target
        for target in targets
    )


def sign(target: Target) -> float:
    """1 where small is good, -1 where large is good, 0 where the target is no objective.

    The preference is the sum over all targets of `sign * outcome / scale`: loops that cannot hold
    a vector (compiled kernels, the solver) add it up from these weights.
    """
    return _SIGN[target.direction]


def objective_values(
    targets: Sequence[Target], outcomes: Mapping[str, Floats], shape: tuple[int, ...]
) -> Floats:
    """The values [*shape, objectives] of outcomes, each of this shape."""
    chosen = objectives(targets)
    values = np.empty((*shape, len(chosen)))
    for k, target in enumerate(chosen if values.size else ()):
        values[..., k] = sign(target) * outcomes[target.name] / target.scale
    return values


def preference(values: Floats) -> Floats:
    """One number per vector of values [..., objectives]: the smaller, the better."""
    total = np.zeros(values.shape[:-1])
    for k in range(values.shape[-1]):
        total += values[..., k]
    return total


def preference_deviation(variances: Floats) -> Floats:
    """One standard deviation of the preference from variances [..., objectives] of the values."""
    return np.sqrt(preference(variances))


def as_good_as(best: float, tolerance: float) -> float:
    """The largest preference that counts as reaching `best`."""
    return best + tolerance * max(abs(best), 1e-12)
