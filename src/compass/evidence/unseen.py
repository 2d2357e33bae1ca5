"""Values that a question sets and that no past run has: between values that were run, or beyond."""

from collections.abc import Mapping

import numpy as np

from compass.domain.answer import UnseenValue
from compass.domain.base import Value
from compass.domain.query import Plus, Query, SetTo, Times
from compass.domain.space import Category, Number, Space
from compass.language import format_value
from compass.prepare.legal import legal_mask


def unseen_value(parameter: Number | Category, value: float) -> UnseenValue | None:
    """What is known of a value that is not legal; None for one that is, and for labels."""
    if isinstance(parameter, Category) or legal_mask(parameter, np.array([value]))[0]:
        return None
    seen = parameter.allowed or (parameter.low, parameter.high)
    return UnseenValue(
        name=parameter.name,
        value=value,
        below=max((one for one in seen if one < value), default=None),
        above=min((one for one in seen if one > value), default=None),
    )


def unseen_values(
    query: Query, space: Space, baseline: Mapping[str, Value] | None
) -> tuple[UnseenValue, ...]:
    """The values that a question sets and that no past run has.

    A relative change counts from the baseline; without one, it has no single value.
    """
    found = []
    for name, edit in query.change.items():
        old = None if baseline is None else baseline.get(name)
        value = edit.value if isinstance(edit, SetTo) else _moved(edit, old)
        if isinstance(value, int | float) and not isinstance(value, bool):
            found.append(unseen_value(space[name], float(value)))
    return tuple(one for one in found if one is not None)


def _moved(edit: Times | Plus, old: Value) -> float | None:
    if isinstance(old, bool) or not isinstance(old, int | float):
        return None
    new = old * edit.factor if isinstance(edit, Times) else old + edit.amount
    return float(f"{new:.12g}")


def in_words(unseen: UnseenValue) -> str:
    """An unseen value as a sentence."""
    value = f"{unseen.name} = {format_value(unseen.value)}"
    if unseen.below is not None and unseen.above is not None:
        ends = f"{format_value(unseen.below)} and {format_value(unseen.above)}"
        return f"{value} was never run: it lies between {ends}, so the prediction is interpolated."
    side, end = ("above", unseen.below) if unseen.above is None else ("below", unseen.above)
    limit = "what was run" if end is None else f"{format_value(end)}, the last value that was run"
    return f"{value} is {side} {limit}: the prediction is extrapolated."
