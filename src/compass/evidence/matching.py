"""Past runs that match a question: which obey its rules, and which of them is best."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from compass.domain.goal import Extreme, Goal, IsClass, Within
from compass.domain.space import Category
from compass.learn.features import FeatureView, Rows
from compass.prepare import Prepared
from compass.rules import Rule

Bools = NDArray[np.bool_]


def obeyed(
    rules: Sequence[Rule], conditions: Sequence[Rule], outcomes: Sequence[str], view: FeatureView
) -> list[Bools]:
    """Which past runs [n] obey each rule, then each condition on outcomes as they were measured."""
    checks = [rule.holds(view.X) for rule in rules]
    if conditions:
        values = view.prepared.columns_of((*view.names, *outcomes))
        checks += [rule.holds(values) for rule in conditions]
    return checks


def best_run(
    rows: Rows, goals: Mapping[str, Goal], prepared: Prepared, rng: np.random.Generator
) -> int:
    """Of these past runs the one whose measured outcomes come closest to the goals.

    Of equally good ones the seed decides; a run without a measurement comes last.
    """
    badness = np.zeros(len(rows))
    for name, goal in goals.items():
        parameter, y = prepared.space[name], prepared.outcome(name)[rows]
        scale = float(np.nanstd(y)) if np.isfinite(y).any() else 0.0
        match goal:
            case Extreme(direction=direction):
                miss = (y if direction == "minimize" else -y) / (scale or 1.0)
            case Within(low=low, high=high):
                below = np.maximum(0.0 if low is None else low - y, 0.0)
                above = np.maximum(0.0 if high is None else y - high, 0.0)
                miss = (below + above) / (scale or 1.0)
            case IsClass(value=value) if isinstance(parameter, Category):
                miss = (y != parameter.values.index(value)).astype(np.float64)
            case _:
                continue
        badness += np.where(np.isfinite(y), miss, np.inf)
    return int(rows[np.lexsort((rng.random(len(rows)), badness))[0]])
