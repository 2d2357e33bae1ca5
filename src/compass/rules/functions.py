"""The functions that a rule may call: the built-in ones, and rules registered in Python."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from compass import registry
from compass.domain.errors import CompassError, RuleProblem, nearest

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_NOISE, _MOST_NOISE = 1e-12, 1e-4  # as compass.rules.definition has it


@dataclass(frozen=True)
class Function:
    """A built-in function of numbers; `most` None: any number of arguments."""

    compute: Callable[..., Any]
    least: int = 1
    most: int | None = 1
    whole: bool = False  # whole numbers in, whole numbers out


def _all_of(pair: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def folded(first: FloatArray, *others: FloatArray) -> Any:
        for other in others:
            first = pair(first, other)
        return first

    return folded


def power(a: FloatArray, b: FloatArray) -> FloatArray:
    """a ** b; unlike numpy's, missing whenever one of them is (NaN ** 0 is not 1)."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.power(a, b))


def _settled(x: FloatArray) -> FloatArray:
    """Whole and half numbers without binary noise: 0.7 / 0.1 is 7, whatever floats say."""
    near = np.round(2.0 * x) / 2.0
    noise = np.minimum(_NOISE * np.maximum(np.abs(x), 1.0), _MOST_NOISE)
    return np.where(np.abs(x - near) <= noise, near, x)


def _steps(rounded: Callable[[FloatArray], Any]) -> Callable[[FloatArray], Any]:
    return lambda x: rounded(_settled(np.asarray(x)))


def modulo(a: FloatArray, b: FloatArray) -> FloatArray:
    """a % b with the sign of b; 0 where a is a multiple of b but for rounding."""
    rest = np.asarray(np.mod(a, b))
    whole = (np.floor(a) == a) & (np.floor(b) == b)
    if whole.all():
        return rest
    times = _settled(np.asarray(np.divide(a, b)))
    settled = np.where(np.floor(times) == times, 0.0, a - np.floor(times) * b)
    return np.where(whole, rest, np.where(np.isfinite(times), settled, np.nan))


BUILT_IN: dict[str, Function] = {
    "min": Function(_all_of(np.minimum), most=None, whole=True),
    "max": Function(_all_of(np.maximum), most=None, whole=True),
    "abs": Function(np.abs, whole=True),
    "log2": Function(np.log2),
    "log": Function(np.log),
    "log10": Function(np.log10),
    "exp": Function(np.exp),
    "sqrt": Function(np.sqrt),
    "ceil": Function(_steps(np.ceil), whole=True),
    "floor": Function(_steps(np.floor), whole=True),
    "round": Function(_steps(np.round), whole=True),  # halves go to the even neighbour
    "pow": Function(power, least=2, most=2),
}
GIVE_WHOLE = ("ceil", "floor", "round")


def check_call(name: str, count: int, text: str) -> None:
    """Refuse a function that does not exist or does not take `count` arguments."""
    function = BUILT_IN.get(name)
    if function is None:
        _check_registered(name, count, text)
        return
    if count < function.least or (function.most is not None and count > function.most):
        wanted = f"at least {function.least}" if function.most is None else str(function.least)
        noun = "value" if wanted.endswith("1") else "values"
        raise RuleProblem(
            f"{name} takes {wanted} {noun}, not {count}, in: {text}",
            hint=f"for example {_EXAMPLE.get(name, f'{name}(x)')}",
        )


_EXAMPLE = {"min": "min(x, y)", "max": "max(x, y)", "pow": "pow(x, 2)"}


def _check_registered(name: str, count: int, text: str) -> None:
    known = registry.everything("rule")
    if name not in known:
        close = nearest(name, [*BUILT_IN, *known])
        listed = ", ".join([*BUILT_IN, *known])
        raise RuleProblem(
            f"no function named '{name}' in: {text}",
            hint=f"did you mean {close}?" if close else f"there are: {listed}",
        )
    try:
        signature = inspect.signature(known[name])
    except (TypeError, ValueError):
        return  # some compiled functions do not tell; the call itself will
    try:
        signature.bind(*range(count))
    except TypeError:
        raise RuleProblem(
            f"{name} cannot be called with {count} value{'s' * (count != 1)} in: {text}",
            hint=f"it is written as {name}{signature}",
        ) from None


def call_registered(name: str, arguments: Sequence[npt.NDArray[Any]]) -> FloatArray | BoolArray:
    """What a registered rule gives for arrays [n]: yes/no or numbers, of the same length."""
    function = registry.get("rule", name)
    length = len(arguments[0]) if arguments else 1
    try:
        with np.errstate(all="ignore"):
            raw = np.asarray(function(*arguments))
    except CompassError:
        raise
    except Exception as error:
        raise RuleProblem(
            f"the rule {name} failed: {type(error).__name__}: {error}",
            hint="it receives one array per argument and returns an array of the same length",
        ) from error
    if raw.shape != (length,):
        raise RuleProblem(
            f"the rule {name} gave an array of shape {raw.shape} for {length} rows",
            hint=f"it must return one value per row: shape ({length},)",
        )
    if raw.dtype == np.bool_:
        return raw
    if not np.issubdtype(raw.dtype, np.integer) and not np.issubdtype(raw.dtype, np.floating):
        raise RuleProblem(
            f"the rule {name} gave values of type {raw.dtype}",
            hint="return true/false per row, or numbers (at most 0 means that it holds)",
        )
    return raw.astype(np.float64)
