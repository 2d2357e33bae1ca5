"""Checks that an embedder keeps its contract: shapes, single rows, repeatable training."""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Number, Space
from compass.embed.base import Embedder, Embedding, Floats
from compass.settings import EmbeddingSettings, Settings
from compass.testing.base import Witness, first_difference, witness
from compass.testing.learning_cases import LearningCase, learning_case, learning_cases

_PLAIN = "biufSU"  # kinds of numpy types that can be saved without running code to load them
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
        with found.calling(f"it learns from {case.label}", _look(case)):
            front = represented(plugin, case)
        learned = _columns(found, plugin, front, case)
        _single_rows(found, front, case, learned)
        _restored(found, plugin, front, case, learned)
    _repeatable(found, plugin)
    with found.calling("it learns without knowing what the columns are", "plugin.fit(X, y, ...)"):
        _inputs_unchanged(found, plugin)


def _columns(found: Witness, plugin: Any, front: Embedding, case: LearningCase) -> Floats:
    own = getattr(front, "name", None)
    found.expect(
        own == plugin.name,
        "a representation's `name` is the one that restores it",
        f"{own!r} instead of {plugin.name!r}",
        _look(case, ".name"),
    )
    look = _look(case, ".transform(case.ask)")
    with found.calling("it transforms", look):
        learned, width = front.transform(case.ask.copy()), front.width
        nothing = front.transform(case.ask[:0].copy())
    shape = (len(case.ask), width)
    array = isinstance(learned, np.ndarray)
    found.expect(
        array and learned.dtype == np.float64 and learned.shape == shape and width >= 1,
        "columns are a float64 array of one row per row and `width` columns",
        f"{learned.dtype}{list(learned.shape)}, width {width}" if array else type(learned).__name__,
        look,
    )
    found.expect(np.isfinite(learned).all(), "columns are finite", "NaN or infinite values", look)
    found.expect(
        nothing.shape == (0, width),
        "no rows give no rows",
        f"shape {list(nothing.shape)}",
        _look(case, ".transform(case.ask[:0])"),
    )
    return learned


def _single_rows(found: Witness, front: Embedding, case: LearningCase, learned: Floats) -> None:
    """A search asks for the same row in batches of every size, and compares what it gets."""
    ask = case.ask
    look = _look(case, ".transform(case.ask[:1])")
    with found.calling("it transforms a single row", look):
        single = np.concatenate([front.transform(ask[[i]]) for i in range(len(ask))])
        twice = front.transform(np.vstack([ask, ask]))[len(ask) :]
        turned = front.transform(np.array(ask, order="F"))
    for promise, other in (
        ("a row alone gives the same bit for bit as in a batch", single),
        ("a row gives the same bit for bit in a larger batch", twice),
        ("the memory layout of a matrix does not matter", turned),
        ("the same question gives the same answer", front.transform(ask.copy())),
    ):
        found.expect(
            np.array_equal(other, learned), promise, first_difference(other, learned), look
        )


def _restored(
    found: Witness, plugin: Any, front: Embedding, case: LearningCase, learned: Floats
) -> None:
    look = _look(case, ".arrays()")
    with found.calling("it gives its arrays", look):
        arrays = front.arrays()
    found.expect(isinstance(arrays, dict), "`arrays()` is a dict", type(arrays).__name__, look)
    for key, array in arrays.items():
        plain = isinstance(array, np.ndarray) and array.dtype.kind in _PLAIN
        found.expect(
            isinstance(key, str) and key and "|" not in key and plain,
            "`arrays()` maps names without '|' to arrays of plain numbers, yes/no or text",
            f"{key!r}: {getattr(array, 'dtype', type(array).__name__)}",
            look,
        )
    look = f"plugin.restore({_look(case, '.arrays()')})"
    with found.calling("it restores what `arrays()` gave", look):
        restored: Embedding = plugin.restore(_saved(arrays))
        again = restored.transform(case.ask.copy())
    found.expect(
        np.array_equal(again, learned) and restored.name == front.name,
        "a restored representation gives the same bit for bit",
        first_difference(again, learned),
        look,
    )


def _saved(arrays: dict[str, NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    """The arrays after a way through a file that may not hold code."""
    file = io.BytesIO()
    named: dict[str, Any] = {f"{place}": array for place, array in enumerate(arrays.values())}
    np.savez(file, **named)
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        return {key: stored[f"{place}"] for place, key in enumerate(arrays)}


def _repeatable(found: Witness, plugin: Any) -> None:
    for label in ("weighted numbers", "weighted classes"):
        case = learning_case(label)
        with found.calling("it learns again from the same rows", _look(case) + ", twice"):
            one, two = (represented(plugin, case).transform(case.ask) for _ in range(2))
        found.expect(
            np.array_equal(one, two),
            "the same rows and seed give the same representation",
            first_difference(one, two),
            _look(case, ".transform(case.ask)") + ", twice",
        )


def _inputs_unchanged(found: Witness, plugin: Any) -> None:
    case = learning_case("weighted numbers")
    assert case.weight is not None
    X, y, weight, ask = case.X.copy(), case.y.copy(), case.weight.copy(), case.ask.copy()
    front = plugin.fit(X, y, classes=None, weight=weight, seed=_SEED, settings=SETTINGS)
    learned = front.transform(ask).copy()
    pairs = {"X": (X, case.X), "y": (y, case.y), "weight": (weight, case.weight)}
    for what, (now, before) in (pairs | {"the question": (ask, case.ask)}).items():
        found.expect(
            np.array_equal(now, before),
            f"it leaves {what} as it is",
            first_difference(now, before),
            _look(case),
        )
    # One that keeps a view of its training rows changes when their owner reuses the array.
    X[:], y[:], weight[:] = 0.0, 0.0, 1.0
    found.expect(
        np.array_equal(front.transform(ask), learned),
        "a representation does not depend on the arrays it was trained on",
        "columns change when those arrays are overwritten",
        "fit, overwrite X and y, transform again",
    )
