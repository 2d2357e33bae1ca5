"""What a model family promises: shapes, repeatable training, plain arrays, and that it learns."""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Number, Space
from compass.model.base import Family, Fitted, Floats, Task
from compass.settings import ForestSettings, NeuralSettings, Settings
from compass.testing.base import Witness, first_difference, witness

_PLAIN = "biufSU"  # kinds of numpy types that can be saved without running code to load them
_SEED = 7
_CASES = "compass.testing.surrogate"
# What is promised does not depend on the size of a model, and small ones train quickly.
SETTINGS = Settings(
    forest=ForestSettings(trees=20), neural=NeuralSettings(layers=1, units=16, rate=0.03, epochs=8)
)
# What the columns are, where a family is told: a category, and a number that may be none.
FEATURES = Space(
    parameters=(
        Number(name="nodes", low=1, high=16, step=1),
        Number(name="share", low=0, high=1),
        Number(name="size", low=8, high=64, allowed=(8, 16, 32, 64), optional=True),
        Category(name="label", values=("a", "b", "never seen")),
    )
)
_NONE = FEATURES.parameters[2].none_code  # type: ignore[union-attr]


@dataclass(frozen=True)
class Lesson:
    """Rows to learn from, and rows to be asked about."""

    label: str
    X: Floats  # [n, d]
    y: Floats  # [n]
    task: Task
    weight: Floats | None
    ask: Floats  # [m, d]
    truth: Floats  # [m]
    features: Space | None = None

    def look(self, tail: str = "") -> str:
        """The code that trains on this lesson."""
        return f"case = {_CASES}.lesson('{self.label}'); {_CASES}.fitted(plugin, case){tail}"


def lessons() -> tuple[Lesson, ...]:
    """Easy laws of four columns (the last one a category), and the edges of what can be learnt."""
    rng = np.random.default_rng(3)
    X, ask = _rows(300, rng), _rows(40, rng)
    weight = rng.uniform(0.5, 2.0, len(X))
    number, classes = Task(), Task(3)
    flat = np.full(len(X), 4.0)
    few = np.array([[1.0, 0.0, 8.0, 0.0], [2.0, 1.0, 16.0, 1.0]])
    told, asked = X.copy(), ask.copy()
    told[::7, 2] = asked[::5, 2] = _NONE
    return (
        Lesson("numbers", X, _law(X) + rng.normal(0, 0.1, len(X)), number, None, ask, _law(ask)),
        Lesson("weighted numbers", X, _law(X), number, weight, ask, _law(ask)),
        Lesson("classes", X, _class(X), classes, None, ask, _class(ask)),
        Lesson("weighted classes", X, _class(X), classes, weight, ask, _class(ask)),
        Lesson("a class that no row has", X, _class(X), Task(4), None, ask, _class(ask)),
        Lesson("one class only", X, np.zeros(len(X)), Task(1), None, ask, np.zeros(len(ask))),
        Lesson("a constant", X, flat, number, None, ask, np.full(len(ask), 4.0)),
        Lesson("one column", X[:, :1], 2 * X[:, 0], number, None, ask[:, :1], 2 * ask[:, 0]),
        Lesson("two rows", few, np.array([1.0, 2.0]), number, np.ones(2), few, np.array([1.0, 2])),
        Lesson("known columns", told, _law(told), number, None, asked, _law(asked), FEATURES),
        Lesson("known classes", told, _class(X), classes, None, asked, _class(ask), FEATURES),
    )


def lesson(label: str) -> Lesson:
    """The lesson of that name."""
    return next(case for case in lessons() if case.label == label)


def _rows(n: int, rng: np.random.Generator) -> Floats:
    nodes = rng.integers(1, 17, n)
    share = rng.uniform(0, 1, n)
    size = rng.choice([8.0, 16.0, 32.0, 64.0], n)
    label = rng.integers(0, 2, n)
    return np.column_stack([nodes, share, size, label]).astype(np.float64)


def _law(X: Floats) -> Floats:
    return np.asarray(20 + 3 * X[:, 0] - 10 * X[:, 1] + 0.2 * X[:, 2] + X[:, 3])


def _class(X: Floats) -> Floats:
    return np.asarray(np.digitize(X[:, 0], [6.0, 11.0]), dtype=np.float64)


def fitted(plugin: Any, case: Lesson, seed: int = _SEED) -> Fitted:
    """The model that the family makes of a lesson, trained as the engine does it."""
    family: Family = plugin
    weight = None if case.weight is None else case.weight.copy()
    return family.fit(
        case.X.copy(),
        case.y.copy(),
        task=case.task,
        weight=weight,
        seed=seed,
        settings=SETTINGS,
        features=case.features,
    )


def check_surrogate(plugin: Any, *, name: str | None = None) -> None:
    """Raise ConformanceError unless the model family keeps its promises."""
    found = witness("surrogate", plugin, name)
    for case in lessons():
        with found.calling(f"it learns from {case.label}", case.look()):
            model = fitted(plugin, case)
        _identity(found, plugin, model, case)
        _predictions(found, model, case)
        _restored(found, plugin, model, case)
        with found.calling("it learns again from the same rows", case.look() + ", twice"):
            again = fitted(plugin, case)
        _repeatable(found, model, again, case)
        _slopes(found, model, case)
    _obstacles(found, plugin)
    for promise in (_inputs_unchanged, _learns, _weights_matter):
        with found.calling("it learns whatever it is given", lesson("weighted numbers").look()):
            promise(found, plugin)


def _identity(found: Witness, plugin: Any, model: Fitted, case: Lesson) -> None:
    found.expect(
        getattr(model, "family", None) == plugin.name,
        "a model's `family` is the name that restores it",
        f"{getattr(model, 'family', None)!r} instead of {plugin.name!r}",
        case.look(".family"),
    )
    found.expect(
        getattr(model, "task", None) == case.task,
        "a model's `task` is the one it was trained for",
        f"{getattr(model, 'task', None)!r} instead of {case.task!r}",
        case.look(".task"),
    )


def _predictions(found: Witness, model: Fitted, case: Lesson) -> None:
    with found.calling("it predicts", case.look(".predict(case.ask)")):
        scores = model.predict(case.ask.copy())
        spread = model.spread(case.ask.copy())
    look = case.look(".predict(case.ask)")
    _numbers(found, "predictions", scores, (len(case.ask), case.task.outputs), look)
    wide = case.look(".spread(case.ask)")
    _numbers(found, "spreads", spread, (len(case.ask),), wide)
    found.expect(
        (spread >= 0).all(), "spreads are not negative", f"{spread.min():g} among them", wide
    )
    if case.task.classes is not None:
        sums = scores.sum(axis=1)
        found.expect(
            (scores >= 0).all() and np.allclose(sums, 1.0, rtol=0, atol=1e-9),
            "class scores are not negative and sum to 1",
            f"scores {scores.min():g}..{scores.max():g}, sums {sums.min():g}..{sums.max():g}",
            look,
        )
    _batches(found, model, case, scores, spread)


def _numbers(found: Witness, what: str, values: object, shape: tuple[int, ...], look: str) -> None:
    seen = (
        f"{values.dtype}{list(values.shape)}"
        if isinstance(values, np.ndarray)
        else type(values).__name__
    )
    found.expect(
        isinstance(values, np.ndarray) and values.dtype == np.float64 and values.shape == shape,
        f"{what} are a float64 array of shape {list(shape)}",
        seen,
        look,
    )
    found.expect(
        np.isfinite(np.asarray(values)).all(), f"{what} are finite", "NaN or infinite values", look
    )


def _batches(found: Witness, model: Fitted, case: Lesson, scores: Floats, spread: Floats) -> None:
    """Questions arrive one by one, in batches, and as slices of larger matrices."""
    ask = case.ask
    with found.calling("it predicts a single row", case.look(".predict(case.ask[:1])")):
        alone = np.concatenate([model.predict(ask[[i]]) for i in range(len(ask))])
        apart = np.concatenate([model.spread(ask[[i]]) for i in range(len(ask))])
    for what, one, many in (("predict", alone, scores), ("spread", apart, spread)):
        found.expect(
            one.shape == many.shape and np.allclose(one, many, rtol=1e-9, atol=1e-9),
            f"{what}: a row alone gives the same as in a batch",
            first_difference(one, many),
            case.look(f".{what}(case.ask[:1])"),
        )
    look = case.look(".predict(numpy.array(case.ask, order='F'))")
    with found.calling("it predicts on slices of other matrices", look):
        turned = model.predict(np.array(ask, order="F"))
    found.expect(
        np.allclose(turned, scores, rtol=1e-9, atol=1e-9),
        "the memory layout of a matrix does not matter",
        first_difference(turned, scores),
        look,
    )


def _repeatable(found: Witness, model: Fitted, again: Fitted, case: Lesson) -> None:
    for what in ("predict", "spread"):
        one = getattr(model, what)(case.ask.copy())
        for promise, other in (
            (f"the same question gives the same answer ({what})", model),
            (f"the same rows and seed give the same model ({what})", again),
        ):
            two = getattr(other, what)(case.ask.copy())
            found.expect(
                np.array_equal(one, two),
                promise,
                first_difference(one, two),
                case.look(f".{what}(case.ask)") + ", twice",
            )


def _restored(found: Witness, plugin: Any, model: Fitted, case: Lesson) -> None:
    look = case.look(".arrays()")
    with found.calling("it gives its arrays", look):
        arrays = model.arrays()
    found.expect(isinstance(arrays, dict), "`arrays()` is a dict", type(arrays).__name__, look)
    for key, array in arrays.items():
        plain = isinstance(array, np.ndarray) and array.dtype.kind in _PLAIN
        found.expect(
            isinstance(key, str) and key and "|" not in key and plain,
            "`arrays()` maps names without '|' to arrays of plain numbers, yes/no or text",
            f"{key!r}: {getattr(array, 'dtype', type(array).__name__)}",
            look,
        )
    again = _saved(arrays)
    back = f"plugin.restore({_CASES}.fitted(plugin, case).arrays(), case.task)"
    look = f"case = {_CASES}.lesson('{case.label}'); {back}"
    with found.calling("it restores what `arrays()` gave", look):
        restored: Fitted = plugin.restore(again, case.task)
    _identity(found, plugin, restored, case)
    for what in ("predict", "spread"):
        one, two = (getattr(m, what)(case.ask.copy()) for m in (model, restored))
        found.expect(
            np.array_equal(one, two),
            f"a restored model gives the same bit for bit ({what})",
            first_difference(one, two),
            f"{look}.{what}(case.ask)",
        )


def _saved(arrays: dict[str, NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    """The arrays after a way through a file that may not hold code."""
    file = io.BytesIO()
    named: dict[str, Any] = {f"{place}": array for place, array in enumerate(arrays.values())}
    np.savez(file, **named)
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        return {key: stored[f"{place}"] for place, key in enumerate(arrays)}


def _inputs_unchanged(found: Witness, plugin: Any) -> None:
    case = lesson("weighted numbers")
    assert case.weight is not None
    X, y, weight, ask = case.X.copy(), case.y.copy(), case.weight.copy(), case.ask.copy()
    model = plugin.fit(X, y, task=case.task, weight=weight, seed=_SEED, settings=SETTINGS)
    model.predict(ask)
    model.spread(ask)
    pairs = {"X": (X, case.X), "y": (y, case.y), "weight": (weight, case.weight)}
    for what, (now, before) in (pairs | {"the question": (ask, case.ask)}).items():
        found.expect(
            np.array_equal(now, before),
            f"it leaves {what} as it is",
            first_difference(now, before),
            case.look(),
        )
    # A model that keeps a view of its training rows changes when their owner reuses the array.
    said = model.predict(case.ask.copy())
    X[:], y[:], weight[:] = 0.0, 0.0, 1.0
    found.expect(
        np.array_equal(model.predict(case.ask.copy()), said),
        "a model does not depend on the arrays it was trained on",
        "predictions change when those arrays are overwritten",
        "fit, overwrite X and y, predict again",
    )


def _learns(found: Witness, plugin: Any) -> None:
    """Better than the answer that ignores the question, on rows it has not seen."""
    case = lesson("numbers")
    miss = float(np.mean((fitted(plugin, case).predict(case.ask)[:, 0] - case.truth) ** 2))
    base = float(np.mean((case.y.mean() - case.truth) ** 2))
    found.expect(
        miss < 0.5 * base,
        "on an easy law it has at most half the squared error of predicting the mean",
        f"{miss:.3g} against {base:.3g}",
        case.look(".predict(case.ask)") + " against case.truth",
    )
    case = lesson("classes")
    guess = fitted(plugin, case).predict(case.ask).argmax(axis=1)
    right = float(np.mean(guess == case.truth))
    common = np.bincount(case.y.astype(np.int64)).argmax()
    base = float(np.mean(case.truth == common))
    found.expect(
        right > base + 0.2,
        "on easy classes it is right clearly more often than the most common class",
        f"{right:.0%} against {base:.0%}",
        case.look(".predict(case.ask).argmax(axis=1)") + " against case.truth",
    )


def _weights_matter(found: Witness, plugin: Any) -> None:
    """Every row twice with opposite outcomes: the heavier one must win."""
    rng = np.random.default_rng(5)
    rows = _rows(100, rng)
    X, y = np.concatenate([rows, rows]), np.repeat([0.0, 1.0], 100)
    heavy = np.where(y == 1, 9.0, 1.0)
    for task, column in ((Task(), 0), (Task(2), 1)):
        said = [
            plugin.fit(
                X.copy(), y.copy(), task=task, weight=weight, seed=_SEED, settings=SETTINGS
            ).predict(rows)[:, column]
            for weight in (heavy, heavy[::-1].copy())
        ]
        up, down = float(np.mean(said[0])), float(np.mean(said[1]))
        found.expect(
            up > 0.6 and down < 0.4,
            "a row counts as much as its weight says",
            f"rows of 0 and of 1, nine times as heavy: {down:.2f} and {up:.2f} on average",
            "fit the same rows with outcomes 0 and 1 and weights 1 and 9, then 9 and 1",
        )


def _slopes(found: Witness, model: Fitted, case: Lesson) -> None:
    """A `gradient`, where a model has one, is what small steps of the numbers show."""
    offered = getattr(model, "gradient", None)
    if offered is None:
        return
    look = case.look(".gradient(case.ask)")
    with found.calling("it gives its gradient", look):
        slopes = offered(case.ask.copy())
    if slopes is None:
        return
    _numbers(found, "gradients", slopes, case.ask.shape, look)
    names = (None,) * case.ask.shape[1] if case.features is None else tuple(case.features)
    for place, parameter in enumerate(names):
        column = case.ask[:, place]
        category = isinstance(parameter, Category)
        none = parameter.none_code if isinstance(parameter, Number) else np.nan
        jumps = np.full(len(column), category) | (column == none)
        step = 1e-4 * (float(np.std(case.X[:, place])) or 1.0)
        up, down = case.ask.copy(), case.ask.copy()
        up[:, place], down[:, place] = column + step, column - step
        seen = (model.predict(up) - model.predict(down))[:, 0] / (2 * step)
        seen = np.where(jumps, 0.0, seen)
        near = np.abs(slopes[:, place] - seen) <= 1e-3 * (np.abs(seen).max() + 1e-6)
        # A few rows may lie on a kink, where a slope is not the same on both sides.
        found.expect(
            near.mean() >= 0.9,
            "gradients are the slopes of the prediction; labels and `none` have none: 0",
            f"column {place}: {first_difference(slopes[:, place], seen)}",
            look,
        )


def _obstacles(found: Witness, plugin: Any) -> None:
    """An `obstacle`, where a family has one, is said in words or is None, whatever the size."""
    offered = getattr(plugin, "obstacle", None)
    if offered is None:
        return
    for rows, columns in ((2, 1), (300, 4), (10**9, 10**4)):
        for task in (Task(), Task(3)):
            look = f"plugin.obstacle({rows}, {columns}, {task!r})"
            with found.calling("it says whether something speaks against a table", look):
                said = offered(rows, columns, task)
            found.expect(
                said is None or (isinstance(said, str) and bool(said.strip())),
                "an obstacle is a few words, or None",
                repr(said),
                look,
            )
