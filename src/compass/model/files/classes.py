"""Which of the outcome's labels each class of a model is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compass.domain.base import Value
from compass.domain.errors import BadInput, unknown

Floats = NDArray[np.float64]

_SLACK = 1e-3  # how far scores may be from adding up to 1: float32 and worse


def order(
    known: Sequence[Value] | None,
    stated: Sequence[Value] | None,
    labels: Sequence[Value],
    count: int | None,
) -> tuple[int, ...]:
    """For each class of the model the position of its label.

    `known` are the classes that the file names, `stated` those that a person says, `count` how
    many the model has, where that is known.
    """
    shown = ", ".join(map(str, labels))
    if stated is None and known is None:
        raise BadInput(
            "the model does not say which class is which",
            hint=f"say their order, for example: classes={list(labels)!r}",
        )
    names = list(stated if stated is not None else known or ())
    size = len(known) if known is not None else count
    if size is not None and len(names) != size:
        raise BadInput(
            f"the model has {size} classes, {len(names)} were named",
            hint=f"name each of the model's classes, in its order; the outcome has: {shown}",
        )
    if stated is None and not all(_place(name, labels) is not None for name in names):
        raise BadInput(
            f"the model's classes are {', '.join(map(str, names))}; the outcome's are {shown}",
            hint=f"say which is which, in the model's order: classes={list(labels)!r}",
        )
    places = []
    for name in names:
        place = _place(name, labels)
        if place is None:
            raise unknown("label of the outcome", str(name), [str(label) for label in labels])
        places.append(place)
    if len(set(places)) != len(places):
        raise BadInput("a class is named twice", hint=f"the outcome has: {shown}")
    return tuple(places)


def _place(name: Value, labels: Sequence[Value]) -> int | None:
    for place, label in enumerate(labels):
        if type(label) is type(name) and label == name:
            return place
    texts = [str(label) for label in labels]
    return texts.index(str(name)) if texts.count(str(name)) == 1 else None


def arranged(scores: Floats, places: Sequence[int], outputs: int, target: str) -> Floats:
    """Scores float64[n, outputs] by label for the model's scores float64[n, classes]."""
    if scores.shape[1] == 1 and len(places) == 2:
        scores = np.hstack([1 - scores, scores])
    if scores.shape[1] != len(places):
        raise BadInput(
            f"the model of {target} predicts {scores.shape[1]} columns for {len(places)} classes",
            hint="let it end with one score for each class",
        )
    sums = scores.sum(axis=1)
    if (scores < -_SLACK).any() or (np.abs(sums - 1) > _SLACK).any():
        raise BadInput(
            f"the scores of the model of {target} are no shares: they do not add up to 1",
            hint="let the model end with softmax (or sigmoid, for two classes)",
        )
    scores = np.maximum(scores, 0.0)
    found = np.zeros((len(scores), outputs))
    found[:, list(places)] = scores / scores.sum(axis=1, keepdims=True)
    return found
