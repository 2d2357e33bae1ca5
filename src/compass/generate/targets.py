"""Goals into numbers: what a prediction has to be.

Decision 0004 (docs/decisions).
"""

import math
from collections.abc import Mapping

from compass.domain.base import Value
from compass.domain.errors import QueryProblem
from compass.domain.goal import Change, Extreme, Goal, IsClass, Observe, Reach, Same, Within
from compass.domain.target import Target
from compass.language import format_value

Number = int | float


def resolve(
    goals: Mapping[str, Goal],
    predicted: Mapping[str, Value],
    measured: Mapping[str, Value],
    scales: Mapping[str, float],
    tolerance: float,
) -> tuple[Target, ...]:
    """The targets of a question; outcomes that are only observed have none.

    A change is told against what was measured at the baseline, else against its prediction. To
    stay the same is told against the prediction: it is about what is expected, since two runs of
    one configuration may differ by more than that.
    """
    found = []
    for name, goal in goals.items():
        first, second = measured.get(name), predicted.get(name)
        if isinstance(goal, Same):
            first, second = second, first
        reference = second if first is None else first
        found.append(_target(name, goal, reference, scales[name], tolerance))
    return tuple(target for target in found if target is not None)


def _target(
    name: str, goal: Goal, reference: Value, scale: float, tolerance: float
) -> Target | None:
    match goal:
        case Observe():
            return None
        case Extreme(direction=direction):
            return Target(name=name, direction=direction, scale=scale)
        case Within(low=low, high=high):
            low, high = -math.inf if low is None else low, math.inf if high is None else high
            return Target(name=name, low=low, high=high, scale=scale, by_chance=True)
        case IsClass(value=value):
            return Target(name=name, label=value, is_class=True, by_chance=True)
        case Change(direction=direction, by=by, relative=relative):
            old = _number(name, reference)
            amount = by * abs(old) if relative else by
            bounds = {"high": old - amount} if direction == "reduce" else {"low": old + amount}
            return Target(name=name, scale=scale, against=old, by_chance=True, **bounds)
        case Reach(value=value):
            old = _number(name, reference)
            bounds = {"high": value} if value < old else {"low": value}
            return Target(name=name, scale=scale, by_chance=True, **bounds)
        case Same(tolerance=own, beyond=beyond):
            return _same(name, reference, own or tolerance, beyond, scale)
        case _:
            raise TypeError(f"not a goal: {goal!r}")


def _same(name: str, first: Value, tolerance: float, beyond: str | None, scale: float) -> Target:
    if isinstance(first, str | bool) or first is None:
        return Target(name=name, label=first, is_class=True)
    slack = tolerance * abs(first)
    low = -math.inf if beyond == "less" else first - slack
    high = math.inf if beyond == "more" else first + slack
    return Target(name=name, low=low, high=high, scale=scale, against=float(first))


def _number(name: str, reference: Value) -> float:
    if isinstance(reference, Number) and not isinstance(reference, bool):
        return float(reference)
    raise QueryProblem(
        f"{name} has no value at the baseline to compare with",
        hint="give the goal as a number, e.g. <= 100",
    )


def in_numbers(target: Target) -> str:
    """A goal with a range or a class: `time <= 40`, `10 <= power <= 20`, `state is COMPLETED`."""
    if target.is_class:
        return f"{target.name} is {format_value(target.label)}"
    if math.isinf(target.low):
        return f"{target.name} <= {target.high:.6g}"
    if math.isinf(target.high):
        return f"{target.name} >= {target.low:.6g}"
    return f"{target.low:.6g} <= {target.name} <= {target.high:.6g}"


def meets(target: Target | None, value: Value) -> bool | None:
    """Whether a predicted value meets its target; None where there is nothing to meet."""
    if target is None or target.direction is not None:
        return None
    if target.is_class:
        return value == target.label
    assert isinstance(value, Number)
    return target.low <= value <= target.high
