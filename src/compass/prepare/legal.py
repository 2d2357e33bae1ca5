"""Which values a parameter may take, and the nearest of them.

Arrays are encoded: a Number's value (`none_code` for the level `none`), a Category's position.
"""

import math

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.domain.space import Category, Number
from compass.rules.domains import grid

_SHOWN = 8  # values that are listed one by one
_TOLERANCE = 1e-9  # of a step: grids such as 0.1, 0.2, 0.3 are not exact in binary


def legal(parameter: Number | Category, value: Value) -> bool:
    """Whether a person may set the parameter to this value."""
    if isinstance(parameter, Category):
        return any(same_label(value, label) for label in parameter.values)
    if value is None:
        return parameter.optional
    if isinstance(value, bool | str) or not math.isfinite(value):
        return False
    if value == parameter.none_code:
        return False
    return bool(legal_mask(parameter, np.array([float(value)]))[0])


def same_label(one: Value, other: Value) -> bool:
    """Whether two labels are the same: 1 and 1.0 are, 1 and true are not, 1 and '1' are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == other


def legal_mask(parameter: Number | Category, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of these encoded values are legal; NaN is not. Shape of `values`."""
    with np.errstate(invalid="ignore"):
        away: NDArray[np.float64] = np.abs(values - snap(parameter, values))
        step = parameter.step if isinstance(parameter, Number) else None
        return away <= _TOLERANCE * (step or 0.0)


def snap(parameter: Number | Category, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest legal value of each encoded value (the lower of two); NaN stays NaN."""
    values = np.asarray(values, dtype=np.float64)
    if isinstance(parameter, Category):
        return np.clip(_round_half_down(values), 0, len(parameter.values) - 1)
    snapped = _snap_number(parameter, values)
    if not parameter.optional:
        return snapped
    none = parameter.none_code
    # The grid need not reach the upper bound.
    last = _snap_number(parameter, np.array([parameter.high]))[0]
    return np.where(values > (last + none) / 2, none, snapped)


def _snap_number(parameter: Number, values: NDArray[np.float64]) -> NDArray[np.float64]:
    if parameter.allowed is not None:
        allowed = np.asarray(parameter.allowed)
        middles = (allowed[:-1] + allowed[1:]) / 2
        nearest = allowed[np.searchsorted(middles, values, side="left")]
        return np.where(np.isnan(values), np.nan, nearest)
    if parameter.step is None:
        return np.clip(values, parameter.low, parameter.high)
    last = _last_step(parameter)
    steps = np.clip(_round_half_down((values - parameter.low) / parameter.step), 0, last)
    return grid(parameter.low, parameter.step, steps)


def _round_half_down(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.ceil(values - 0.5)


def _last_step(parameter: Number) -> int:
    assert parameter.step is not None
    return math.floor((parameter.high - parameter.low) / parameter.step + _TOLERANCE)


def legal_values(parameter: Number | Category, limit: int) -> NDArray[np.float64] | None:
    """All legal encoded values in ascending order, `none` included; None: more than `limit`."""
    if isinstance(parameter, Category):
        count = len(parameter.values)
        return np.arange(count, dtype=np.float64) if count <= limit else None
    extra = [parameter.none_code] if parameter.optional else []
    if parameter.allowed is not None:
        found = np.asarray(parameter.allowed, dtype=np.float64)
    elif parameter.low == parameter.high:
        found = np.array([parameter.low])
    elif parameter.step is None or _last_step(parameter) + 1 + len(extra) > limit:
        return None
    else:
        steps = np.arange(_last_step(parameter) + 1, dtype=np.float64)
        found = grid(parameter.low, parameter.step, steps)
    return np.append(found, extra) if len(found) + len(extra) <= limit else None


def summary(parameter: Number | Category) -> str:
    """The legal values in a few words: `4, 8, 16`, `whole 1..128`, `0.1..3.2`."""
    if isinstance(parameter, Category):
        return _listed([_text(value) for value in parameter.values])
    none = ", none" if parameter.optional else ""
    if parameter.allowed is not None:
        return _listed([_digits(value, 10) for value in parameter.allowed]) + none
    span = f"{_digits(parameter.low, 6)}..{_digits(parameter.high, 6)}"
    if parameter.step == 1 and parameter.whole:
        return f"whole {span}{none}"
    if parameter.step is not None:
        return f"{span} in steps of {_digits(parameter.step, 6)}{none}"
    return span + none


def _digits(value: float, count: int) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.{count}g}"


def _text(value: Value) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return text if text == text.strip() and text else repr(text)


def _listed(texts: list[str]) -> str:
    if len(texts) <= _SHOWN:
        return ", ".join(texts)
    return f"{', '.join(texts[: _SHOWN - 2])}, ..., {texts[-1]} ({len(texts)} values)"
