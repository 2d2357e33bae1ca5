"""The reasons that certificates give, as sentences."""

import math
from collections.abc import Mapping, Sequence

from compass.domain.target import Target
from compass.prove.bounds import Bounds
from compass.prove.conflict import NearestValue

ALL_MET = "Every goal is met; the question asks for nothing better than that."
TRIED_ALL_NONE = "Every legal configuration was tried; none meets the goals."
NOT_A_SUM = "What is minimised is not a sum over trees, so nothing can be proved about it."
OPEN = "Nothing was found that meets the goals, and time ran out before it could be excluded."
ROUNDED = "Nothing was found that meets the goals, but rounding keeps it from being excluded."


def tried_all(*, directed: bool, proximity: bool, tolerance: float) -> str:
    """About the first of all that was tried, by the order of preference of decision 0003.

    With a baseline a value close to the best counts as the best, so that the first one need not
    have the best value itself.
    """
    if not proximity:
        text = "none is better"
    elif not directed:
        text = "no smaller change meets the goals"
    else:
        text = f"this is {_within(tolerance)}, and no smaller change is"
    return f"Every legal configuration was tried; {text} under this model."


def _within(tolerance: float) -> str:
    return f"within {100 * tolerance:.3g} % of the best value" if tolerance else "the best value"


def distance(
    proved: bool,
    known: Bounds,
    gap: float,
    about_value: str,
    left_out: Sequence[str],
    plain: float,
) -> str:
    """About the smallest change."""
    if proved:
        rounded = f", except by {plain:.2g} that plain numbers cost" if plain else ""
        goal = f"{about_value}, and no" if about_value else "No"
        reach = "comes close enough to it" if about_value else "meets the goals"
        return f"{goal} smaller change {reach} under this model{rounded}."
    head = f"{about_value}; the" if about_value else "The"
    why = _why(known.timed_out, left_out)
    return f"{head} smallest change is at most {gap:.3g} smaller than this one{why}."


def value(proved: bool, gap: float, target: Target | None, tolerance: float = 0.0) -> str:
    """About the best value, without a full stop; the suggestion's may be worse by `tolerance`."""
    name = "the goals" if target is None else target.name
    if proved and tolerance:
        return f"The value of {name} is {_within(tolerance)} that can be reached"
    if proved:
        return f"No better value of {name} can be reached"
    if not math.isfinite(gap):
        return f"How good {name} can get is not known"
    return f"The best value of {name} is at most {gap:.4g} better than the best found"


def value_only(
    proved: bool, gap: float, target: Target | None, left_out: Sequence[str], *, cut: bool
) -> str:
    """About the best value where closeness does not matter."""
    if proved:
        return f"{value(True, gap, target)} under this model."
    return f"{value(False, gap, target)}{_why(cut, left_out)}."


def _why(cut: bool, left_out: Sequence[str]) -> str:
    if left_out:
        return f"; the proof leaves out {'; '.join(left_out)}"
    return "; time ran out before more could be proved" if cut else ""


def infeasible(
    names: Sequence[str], smallest: bool, close: Mapping[str, NearestValue], exhaustive: bool
) -> str:
    """Why nothing meets the goals."""
    how = "Every legal configuration was tried; " if exhaustive else ""
    listed = "; ".join(names)
    text = (
        "no legal configuration exists"
        if not names
        else f"no legal configuration can have {listed}"
        if len(names) == 1
        else f"no legal configuration can have all of: {listed}"
    )
    text = how + text if how else text[0].upper() + text[1:]
    if names and not smallest:
        text += " (time ran out: perhaps not all of these are needed)"
    for name, one in close.items():
        text += f"; {name} can reach {one.value:.5g}"
        text += "" if one.proved else " or perhaps closer"
    return text + "."
