"""Checks that an embedder keeps its contract: shapes, single rows, repeatable training."""

from collections.abc import Callable
from typing import Any

import numpy as np

from compass.domain.space import Category, Number, Space
from compass.embed.base import Embedder, Embedding, Floats
from compass.settings import EmbeddingSettings, Settings
from compass.testing.base import Witness, first_difference, saved_arrays, witness
from compass.testing.learning_cases import (
    LearningCase,
    check_inputs_unchanged,
    learning_case,
    learning_cases,
)

_SEED = 7
_CASES = "compass.testing.embedding"
# What is promised does not depend on how long it learns, and a short training is quick.
SETTINGS = Settings(embedding=EmbeddingSettings(epochs=3, width=4))


def columns(case: LearningCase) -> Space:
    """What the columns of a case are: numbers (one with the level none), the last a label."""
    numbers = tuple(
        Number(name=f"number {place}", low=1, high=100, optional=place == 1) for place in range(3)
    )
    label = Category(name="label", values=("a", "b"))
    return Space(parameters=(*numbers, label)[: case.X.shape[1]])


def represented(plugin: Any, case: LearningCase, seed: int = _SEED) -> Embedding:
    """The representation that the embedder learns from a case, as a recipe does it."""
    kind: Embedder = plugin
    weight = None if case.weight is None else case.weight.copy()
    return kind.fit(
        case.X.copy(),
        case.y.copy(),
        classes=case.task.classes,
        weight=weight,
        seed=seed,
        settings=SETTINGS,
        features=columns(case),
    )


def _look(case: LearningCase, tail: str = "") -> str:
    made = f"{_CASES}.represented(plugin, case){tail}"
    return f"case = compass.testing.learning_cases.learning_case('{case.label}'); {made}"


def check_embedding(plugin: Any, *, name: str | None = None) -> None:
    """Raise ConformanceError unless the embedder keeps its promises."""
    found = witness("embedding", plugin, name)
    for case in learning_cases():
        with found.at(_look(case)).calling(f"it learns from {case.label}"):
            front = represented(plugin, case)
        learned = _columns(found, plugin, front, case)
        _single_rows(found, front, case, learned)
        _restored(found, plugin, front, case, learned)
    _repeatable(found, plugin)
    with found.at("plugin.fit(X, y, ...)").calling(
        "it learns without knowing what the columns are"
    ):
        _inputs_unchanged(found, plugin)


def _columns(found: Witness, plugin: Any, front: Embedding, case: LearningCase) -> Floats:
    own = getattr(front, "name", None)
    found.at(_look(case, ".name")).expect(
        own == plugin.name,
        "a representation's `name` is the one that restores it",
        f"{own!r} instead of {plugin.name!r}",
    )
    at = found.at(_look(case, ".transform(case.ask)"))
    with at.calling("it transforms"):
        learned, width = front.transform(case.ask.copy()), front.width
        nothing = front.transform(case.ask[:0].copy())
    shape = (len(case.ask), width)
    array = isinstance(learned, np.ndarray)
    at.expect(
        array and learned.dtype == np.float64 and learned.shape == shape and width >= 1,
        "columns are a float64 array of one row per row and `width` columns",
        f"{learned.dtype}{list(learned.shape)}, width {width}" if array else type(learned).__name__,
    )
    at.expect(np.isfinite(learned).all(), "columns are finite", "NaN or infinite values")
    found.at(_look(case, ".transform(case.ask[:0])")).expect(
        nothing.shape == (0, width), "no rows give no rows", f"shape {list(nothing.shape)}"
    )
    return learned


def _single_rows(found: Witness, front: Embedding, case: LearningCase, learned: Floats) -> None:
    """A search asks for the same row in batches of every size, and compares what it gets."""
    ask = case.ask
    at = found.at(_look(case, ".transform(case.ask[:1])"))
    with at.calling("it transforms a single row"):
        single = np.concatenate([front.transform(ask[[i]]) for i in range(len(ask))])
        twice = front.transform(np.vstack([ask, ask]))[len(ask) :]
        turned = front.transform(np.array(ask, order="F"))
    for promise, other in (
        ("a row alone gives the same bit for bit as in a batch", single),
        ("a row gives the same bit for bit in a larger batch", twice),
        ("the memory layout of a matrix does not matter", turned),
        ("the same question gives the same answer", front.transform(ask.copy())),
    ):
        at.same(other, learned, promise)


def _restored(
    found: Witness, plugin: Any, front: Embedding, case: LearningCase, learned: Floats
) -> None:
    arrays = saved_arrays(found.at(_look(case, ".arrays()")), front)
    at = found.at(f"plugin.restore({_look(case, '.arrays()')})")
    with at.calling("it restores what `arrays()` gave"):
        restored: Embedding = plugin.restore(arrays)
        again = restored.transform(case.ask.copy())
    at.expect(
        np.array_equal(again, learned) and restored.name == front.name,
        "a restored representation gives the same bit for bit",
        first_difference(again, learned),
    )


def _repeatable(found: Witness, plugin: Any) -> None:
    for label in ("weighted numbers", "weighted classes"):
        case = learning_case(label)
        with found.at(_look(case) + ", twice").calling("it learns again from the same rows"):
            one, two = (represented(plugin, case).transform(case.ask) for _ in range(2))
        found.at(_look(case, ".transform(case.ask)") + ", twice").same(
            one, two, "the same rows and seed give the same representation"
        )


def _inputs_unchanged(found: Witness, plugin: Any) -> None:
    def learn(X: Floats, y: Floats, weight: Floats) -> Callable[[Floats], Floats]:
        front = plugin.fit(X, y, classes=None, weight=weight, seed=_SEED, settings=SETTINGS)
        transform: Callable[[Floats], Floats] = front.transform
        return transform

    found.at("fit, overwrite X and y, transform again").expect(
        check_inputs_unchanged(found.at(_look(learning_case("weighted numbers"))), learn),
        "a representation does not depend on the arrays it was trained on",
        "columns change when those arrays are overwritten",
    )
