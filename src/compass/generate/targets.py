"""Goals into numbers: what a prediction has to be.

Decision 0004 (docs/decisions).
"""

import math
from collections.abc import Mapping, Sequence

from compass.domain.base import Value
from compass.domain.errors import QueryProblem
from compass.domain.goal import Change, Extreme, Goal, IsClass, Observe, Reach, Same, Within
from compass.domain.target import Target

Number = int | float


def resolve(
    goals: Mapping[str, Goal],
    predicted: Mapping[str, Value],
    measured: Mapping[str, Value],
    scales: Mapping[str, float],
    tolerance: float,
) -> tuple[Target, ...]:
    """The targets of a question; outcomes that are only observed have none.

    A change is told against the baseline. Where both a prediction and a measurement of the
    baseline exist, the harder of the two counts, so that an error of the model at the baseline
    cannot pass for an improvement.
    """
    found = []
    for name, goal in goals.items():
        references = [v for v in (predicted.get(name), measured.get(name)) if v is not None]
        found.append(_target(name, goal, references, scales[name], tolerance))
    return tuple(target for target in found if target is not None)


def _target(
    name: str, goal: Goal, references: Sequence[Value], scale: float, tolerance: float
) -> Target | None:
    match goal:
        case Observe():
            return None
        case Extreme(direction=direction):
            return Target(name=name, direction=direction, scale=scale)
        case Within(low=low, high=high):
            low, high = -math.inf if low is None else low, math.inf if high is None else high
            return Target(name=name, low=low, high=high, scale=scale)
        case IsClass(value=value):
            return Target(name=name, label=value, is_class=True)
        case Change(direction=direction, by=by, relative=relative):
            amounts = [(v, by * abs(v) if relative else by) for v in _numbers(name, references)]
            if direction == "reduce":
                return Target(name=name, high=min(v - amount for v, amount in amounts), scale=scale)
            return Target(name=name, low=max(v + amount for v, amount in amounts), scale=scale)
        case Reach(value=value):
            down = value < _numbers(name, references)[-1]
            bounds = {"high": value} if down else {"low": value}
            return Target(name=name, scale=scale, **bounds)
        case Same(tolerance=own, beyond=beyond):
            return _same(name, references, own or tolerance, beyond, scale)
        case _:
            raise TypeError(f"not a goal: {goal!r}")


def _same(
    name: str, references: Sequence[Value], tolerance: float, beyond: str | None, scale: float
) -> Target:
    first = references[0]
    if isinstance(first, str | bool) or first is None:
        return Target(name=name, label=first, is_class=True)
    slack = tolerance * abs(first)
    low = -math.inf if beyond == "less" else first - slack
    high = math.inf if beyond == "more" else first + slack
    return Target(name=name, low=low, high=high, scale=scale)


def _numbers(name: str, references: Sequence[Value]) -> list[float]:
    values = [float(v) for v in references if isinstance(v, Number) and not isinstance(v, bool)]
    if not values:
        raise QueryProblem(
            f"{name} has no value at the baseline to compare with",
            hint="give the goal as a number, e.g. <= 100",
        )
    return values


def meets(target: Target | None, value: Value) -> bool | None:
    """Whether a predicted value meets its target; None where there is nothing to meet."""
    if target is None or target.direction is not None:
        return None
    if target.is_class:
        return value == target.label
    assert isinstance(value, Number)
    return target.low <= value <= target.high
