"""Predicted classes as probabilities of their labels."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compass.domain.answer import Prediction
from compass.domain.space import Category, Number
from compass.language.bind import format_label

Floats = NDArray[np.float64]


def class_scores(parameter: Number | Category, scores: Floats) -> dict[str, float]:
    """The probability of each label by scores [labels]; nothing for a number."""
    if isinstance(parameter, Number):
        return {}
    total = float(scores.sum()) or 1.0
    found = {
        format_label(v): float(s) / total for v, s in zip(parameter.values, scores, strict=True)
    }
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def with_scores_before(
    predictions: Sequence[tuple[Prediction, ...]], before: dict[str, dict[str, float]]
) -> list[tuple[Prediction, ...]]:
    """Predictions of classes with the probabilities at the baseline, by outcome."""
    return [
        tuple(
            one.model_copy(update={"scores_before": before[one.name]})
            if before.get(one.name)
            else one
            for one in outcomes
        )
        for outcomes in predictions
    ]
