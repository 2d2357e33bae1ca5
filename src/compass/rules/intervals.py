"""Interval arithmetic: what an expression can be when its parts lie between bounds.

An interval is a pair (low, high), None when nothing is left. Results may be wider than necessary,
never narrower: forward steps use the same operations as the evaluation of a rule, which round
monotonically, and backward steps are widened by more than rounding can lose.
"""

import math
from collections.abc import Callable

Interval = tuple[float, float]
EVERYTHING: Interval = (-math.inf, math.inf)
_ROUNDING = 1e-12  # far above the rounding of one operation, far below the tolerance of rules
_STEADY = 1e-11  # more than what `floor` and its kin take for rounding around a whole number
_CURVED = 1e-9  # for roots and logarithms, which libraries round differently


def meet(a: Interval, b: Interval) -> Interval | None:
    """What lies in both."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else None


def widen(a: Interval, share: float = _ROUNDING, amount: float = 0.0) -> Interval:
    """A little more on both sides, so that rounding cannot cut anything off."""
    low = a[0] if math.isinf(a[0]) else a[0] - abs(a[0]) * share - amount
    high = a[1] if math.isinf(a[1]) else a[1] + abs(a[1]) * share + amount
    return low, high


def _plus(x: float, y: float, otherwise: float) -> float:
    total = x + y
    return otherwise if math.isnan(total) else total


def _times(x: float, y: float) -> float:
    return 0.0 if x == 0.0 or y == 0.0 else x * y


def add(a: Interval, b: Interval) -> Interval:
    """a + b."""
    return _plus(a[0], b[0], -math.inf), _plus(a[1], b[1], math.inf)


def subtract(a: Interval, b: Interval) -> Interval:
    """a - b."""
    return add(a, negative(b))


def negative(a: Interval) -> Interval:
    """-a."""
    return -a[1], -a[0]


def multiply(a: Interval, b: Interval) -> Interval:
    """a * b."""
    corners = [_times(x, y) for x in a for y in b]
    return min(corners), max(corners)


def divide(a: Interval, b: Interval) -> Interval | None:
    """a / b, where b is not 0."""
    if b == (0.0, 0.0):
        return None
    if b[0] < 0.0 < b[1]:
        return EVERYTHING
    if 0.0 not in b:
        corners = [x / y for x in a for y in b]
        if any(math.isnan(corner) for corner in corners):
            return EVERYTHING
        return min(corners), max(corners)
    upside = (1.0 / b[1], math.inf) if b[0] == 0.0 else (-math.inf, 1.0 / b[0])
    return widen(multiply(a, upside))


def factor(product: Interval, other: Interval) -> Interval | None:
    """What x can be when x * other lies in `product`."""
    if product[0] <= 0.0 <= product[1] and other[0] <= 0.0 <= other[1]:
        return EVERYTHING
    found = divide(widen(product), other)
    return None if found is None else widen(found)


def modulo(a: Interval, b: Interval) -> Interval | None:
    """a % b: the rest has the sign of b and is smaller than it."""
    if b == (0.0, 0.0):
        return None
    low = min(b[0], 0.0)
    high = max(b[1], 0.0)
    if b[0] > 0.0 and a[0] >= 0.0:
        if a[1] < b[0] * (1.0 - 1e-9):
            return a
        high = min(high, a[1])
    return low, high


def power(a: Interval, b: Interval) -> Interval | None:
    """a ** b."""
    if b[0] == b[1]:
        return _fixed_power(a, b[0])
    if a[0] <= 0.0:
        return EVERYTHING
    corners = [_raise(x, y) for x in a for y in b]
    return widen((min(corners), max(corners)), _CURVED)


def _fixed_power(a: Interval, exponent: float) -> Interval | None:
    if exponent == 0.0:
        return 1.0, 1.0
    if exponent < 0.0:
        upright = _fixed_power(a, -exponent)
        found = None if upright is None else divide((1.0, 1.0), upright)
        return None if found is None else widen(found, _CURVED)
    if not exponent.is_integer():
        a_positive = meet(a, (0.0, math.inf))
        if a_positive is None:
            return None
        a = a_positive
    ends = [_raise(a[0], exponent), _raise(a[1], exponent)]
    low = 0.0 if exponent % 2 == 0 and a[0] < 0.0 < a[1] else min(ends)
    return widen((low, max(ends)), _CURVED)


def _raise(x: float, y: float) -> float:
    try:
        return float(x**y)
    except OverflowError:
        return -math.inf if x < 0.0 and y % 2 == 1 else math.inf
    except ZeroDivisionError:
        return math.inf


def base(result: Interval, exponent: float, now: Interval) -> Interval | None:
    """What x, now inside `now`, can be when x ** exponent lies in `result`."""
    if exponent == 0.0:
        return now
    if exponent < 0.0:
        upright = divide((1.0, 1.0), widen(result, _CURVED))
        return None if upright is None else base(upright, -exponent, now)
    low, high = widen(result, _CURVED)
    if exponent % 2 == 1:
        roots = (_root(low, exponent), _root(high, exponent))
        return widen(roots, _CURVED)
    if high < 0.0:
        return None
    inner, outer = _root(max(low, 0.0), exponent), _root(high, exponent)
    if now[0] >= 0.0 or not exponent.is_integer():
        return widen((inner, outer), _CURVED)
    if now[1] <= 0.0:
        return widen((-outer, -inner), _CURVED)
    return widen((-outer, outer), _CURVED)


def _root(x: float, degree: float) -> float:
    return math.copysign(_raise(abs(x), 1.0 / degree), x) if x else 0.0


def exponent_of(result: Interval, constant: float) -> Interval | None:
    """What x can be when constant ** x lies in `result`, for a positive constant."""
    if constant <= 0.0 or constant == 1.0:
        return EVERYTHING
    if result[1] < 0.0:
        return None
    ends = sorted(_log(end) / math.log(constant) for end in widen(result, _CURVED))
    return widen((ends[0], ends[1]), _CURVED, _CURVED)


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -math.inf


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _steps(step: Callable[[float], float]) -> Callable[[Interval], Interval | None]:
    """The image under a rounding, which takes numbers next to a whole number for it."""

    def image(a: Interval) -> Interval | None:
        low, high = widen(a, _STEADY, _STEADY)
        return _stepped(step, low), _stepped(step, high)

    return image


def _stepped(step: Callable[[float], float], x: float) -> float:
    return x if math.isinf(x) else float(step(x))


def _rising(
    function: Callable[[float], float], domain: Interval = EVERYTHING, slack: float = _CURVED
) -> Callable[[Interval], Interval | None]:
    """The image under a function that rises on its domain and has no value elsewhere."""

    def image(a: Interval) -> Interval | None:
        inside = meet(a, domain)
        if inside is None:
            return None
        return widen((function(inside[0]), function(inside[1])), slack, slack)

    return image


def absolute(a: Interval) -> Interval:
    """|a|."""
    if a[0] <= 0.0 <= a[1]:
        return 0.0, max(-a[0], a[1])
    return min(abs(a[0]), abs(a[1])), max(abs(a[0]), abs(a[1]))


def _logarithm(unit: float) -> Callable[[float], float]:
    return lambda x: _log(x) / unit


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x < math.inf else x


def _antilog(unit: float) -> Callable[[Interval], Interval | None]:
    def image(a: Interval) -> Interval | None:
        low, high = widen(a, _CURVED, _CURVED)
        return widen((_exp(low * unit), _exp(high * unit)), 1e-6)

    return image


def _squared(a: Interval) -> Interval | None:
    low, high = widen(a, _CURVED)
    if high < 0.0:
        return None
    least = max(low, 0.0)
    return widen((_times(least, least), _times(high, high)), _CURVED)


_POSITIVE: Interval = (0.0, math.inf)

# Functions of one number: what they give, and what the argument must have been.
FORWARD: dict[str, Callable[[Interval], Interval | None]] = {
    "abs": absolute,
    "log": _rising(_log, _POSITIVE),
    "log2": _rising(_logarithm(math.log(2.0)), _POSITIVE),
    "log10": _rising(_logarithm(math.log(10.0)), _POSITIVE),
    "exp": _rising(_exp),
    "sqrt": _rising(_sqrt, _POSITIVE, 1e-15),
    "ceil": _steps(math.ceil),
    "floor": _steps(math.floor),
    "round": _steps(round),
}
BACKWARD: dict[str, Callable[[Interval], Interval | None]] = {
    "abs": lambda a: None if a[1] < 0.0 else (-a[1], a[1]),
    "log": _antilog(1.0),
    "log2": _antilog(math.log(2.0)),
    "log10": _antilog(math.log(10.0)),
    "exp": _rising(_log, _POSITIVE),
    "sqrt": _squared,
    "ceil": lambda a: widen((_stepped(math.ceil, a[0]) - 1.0, a[1]), _STEADY, _STEADY),
    "floor": lambda a: widen((a[0], _stepped(math.floor, a[1]) + 1.0), _STEADY, _STEADY),
    "round": lambda a: widen((a[0] - 0.5, a[1] + 0.5), _STEADY, _STEADY),
}
