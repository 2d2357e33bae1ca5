"""Checks that a model family keeps its contract: shapes, repeatable training, plain arrays."""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compass.domain.space import Category, Number
from compass.model.base import Fitted, Floats, Task, undeclared
from compass.model.search_space import SearchSpace
from compass.testing.base import Witness, first_difference, witness
from compass.testing.learning_cases import (
    CASES,
    SEED,
    SETTINGS,
    LearningCase,
    fitted,
    learning_case,
    learning_cases,
    mixed_rows,
)

_PLAIN = "biufSU"  # kinds of numpy types that can be saved without running code to load them


def check_surrogate(plugin: Any, *, name: str | None = None) -> None:
    """Raise ConformanceError unless the model family keeps its promises."""
    found = witness("surrogate", plugin, name)
    _declared(found, plugin)
    for case in learning_cases():
        with found.calling(f"it learns from {case.label}", case.look()):
            model = fitted(plugin, case)
        _identity(found, plugin, model, case)
        _predictions(found, model, case)
        _restored(found, plugin, model, case)
        with found.calling("it learns again from the same rows", case.look() + ", twice"):
            again = fitted(plugin, case)
        _repeatable(found, model, again, case)
        _slopes(found, model, case)
        _trees(found, model, case)
    _obstacles(found, plugin)
    _together(found, plugin)
    look = learning_case("weighted numbers").look()
    for promise in (_inputs_unchanged, _learns, _weights_matter):
        with found.calling("it learns whatever it is given", look):
            promise(found, plugin)


def _identity(found: Witness, plugin: Any, model: Fitted, case: LearningCase) -> None:
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


def _predictions(found: Witness, model: Fitted, case: LearningCase) -> None:
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


def _batches(
    found: Witness, model: Fitted, case: LearningCase, scores: Floats, spread: Floats
) -> None:
    """Questions arrive one by one, in batches, and as slices of larger matrices."""
    ask = case.ask
    with found.calling("it predicts a single row", case.look(".predict(case.ask[:1])")):
        single = np.concatenate([model.predict(ask[[i]]) for i in range(len(ask))])
        apart = np.concatenate([model.spread(ask[[i]]) for i in range(len(ask))])
    for what, one, many in (("predict", single, scores), ("spread", apart, spread)):
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


def _repeatable(found: Witness, model: Fitted, again: Fitted, case: LearningCase) -> None:
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


def _restored(found: Witness, plugin: Any, model: Fitted, case: LearningCase) -> None:
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
    back = f"plugin.restore({CASES}.fitted(plugin, case).arrays(), case.task)"
    look = f"case = {CASES}.learning_case('{case.label}'); {back}"
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
    case = learning_case("weighted numbers")
    assert case.weight is not None
    X, y, weight, ask = case.X.copy(), case.y.copy(), case.weight.copy(), case.ask.copy()
    model = plugin.fit(X, y, task=case.task, weight=weight, seed=SEED, settings=SETTINGS)
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
    predicted = model.predict(case.ask.copy())
    X[:], y[:], weight[:] = 0.0, 0.0, 1.0
    found.expect(
        np.array_equal(model.predict(case.ask.copy()), predicted),
        "a model does not depend on the arrays it was trained on",
        "predictions change when those arrays are overwritten",
        "fit, overwrite X and y, predict again",
    )


def _learns(found: Witness, plugin: Any) -> None:
    """Better than the answer that ignores the question, on rows it has not seen."""
    case = learning_case("numbers")
    miss = float(np.mean((fitted(plugin, case).predict(case.ask)[:, 0] - case.truth) ** 2))
    base = float(np.mean((case.y.mean() - case.truth) ** 2))
    found.expect(
        miss < 0.5 * base,
        "on an easy law it has at most half the squared error of predicting the mean",
        f"{miss:.3g} against {base:.3g}",
        case.look(".predict(case.ask)") + " against case.truth",
    )
    case = learning_case("classes")
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
    rows = mixed_rows(100, rng)
    X, y = np.concatenate([rows, rows]), np.repeat([0.0, 1.0], 100)
    heavy = np.where(y == 1, 9.0, 1.0)
    for task, column in ((Task(), 0), (Task(2), 1)):
        predicted = [
            plugin.fit(
                X.copy(), y.copy(), task=task, weight=weight, seed=SEED, settings=SETTINGS
            ).predict(rows)[:, column]
            for weight in (heavy, heavy[::-1].copy())
        ]
        up, down = float(np.mean(predicted[0])), float(np.mean(predicted[1]))
        found.expect(
            up > 0.6 and down < 0.4,
            "a row counts as much as its weight says",
            f"rows of 0 and of 1, nine times as heavy: {down:.2f} and {up:.2f} on average",
            "fit the same rows with outcomes 0 and 1 and weights 1 and 9, then 9 and 1",
        )


def _slopes(found: Witness, model: Fitted, case: LearningCase) -> None:
    """A gradient, where a model offers one, is what small steps of the numbers show."""
    look = case.look(".gradient(case.ask)")
    with found.calling("it gives its gradient, or None", look):
        slopes = model.gradient(case.ask.copy())
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


def _declared(found: Witness, plugin: Any) -> None:
    """All that `Family` declares is there, and the search space is about settings that exist."""
    found.expect(
        not undeclared(plugin),
        "it declares all members of `Family`; `FamilyDefaults` has a default for each",
        f"it lacks {', '.join(undeclared(plugin))}",
        "compass.model.base.undeclared(plugin)",
    )
    look = "plugin.search_space"
    space = plugin.search_space
    found.expect(
        space is None or isinstance(space, SearchSpace),
        "its `search_space` is a SearchSpace, or None",
        type(space).__name__,
        look,
    )
    for one in space.parameters if space is not None else ():
        section = getattr(SETTINGS, space.section, None)
        found.expect(
            hasattr(section, one.name),
            "its `search_space` names settings that exist",
            f"there is no setting {space.section}.{one.name}",
            look,
        )
    look = "plugin.effort(20), plugin.relative_cost(SETTINGS, SETTINGS)"
    with found.calling("it estimates what training costs", look):
        costs = plugin.effort(20), plugin.relative_cost(SETTINGS, SETTINGS)
    found.expect(
        min(costs) > 0 and np.isclose(costs[1], 1.0),
        "`effort` is positive, and `relative_cost` is 1 for the defaults",
        f"{costs[0]!r} and {costs[1]!r}",
        look,
    )


def _trees(found: Witness, model: Fitted, case: LearningCase) -> None:
    """Trees, where a model has them, predict what it predicts: proofs are about them."""
    look = case.look(".trees()")
    with found.calling("it gives its trees, or None", look):
        forest = model.trees()
    if forest is None:
        return
    from compass.model.trees import flat

    one, two = model.predict(case.ask.copy()), flat.mean(forest, case.ask.copy())
    found.expect(
        np.array_equal(one, two),
        "its trees predict what it predicts, bit for bit",
        first_difference(one, two),
        look,
    )


def _together(found: Witness, plugin: Any) -> None:
    """`fit_many` gives one model for each outcome, as `fit` does for one."""
    cases = learning_case("weighted numbers"), learning_case("weighted classes")
    weight = cases[0].weight
    assert weight is not None
    tasks = [case.task for case in cases]
    look = "plugin.fit_many(X, numpy.column_stack([y, y_of_classes]), tasks=[...], ...)"
    with found.calling("it learns several outcomes at once", look):
        first, second = (
            plugin.fit_many(
                cases[0].X.copy(),
                np.column_stack([case.y for case in cases]),
                tasks=tasks,
                weight=weight.copy(),
                seed=SEED,
                settings=SETTINGS,
            )
            for _ in range(2)
        )
    found.expect(
        [model.task for model in first] == tasks,
        "several outcomes give one model each, in their order",
        f"{[model.task for model in first]!r} instead of {tasks!r}",
        look,
    )
    for case, model, again in zip(cases, first, second, strict=True):
        _identity(found, plugin, model, case)
        _predictions(found, model, case)
        _restored(found, plugin, model, case)
        _repeatable(found, model, again, case)


def _obstacles(found: Witness, plugin: Any) -> None:
    """An obstacle is described in words or is None, whatever the size."""
    for rows, columns in ((2, 1), (300, 4), (10**9, 10**4)):
        for task in (Task(), Task(3)):
            look = f"plugin.obstacle({rows}, {columns}, {task!r})"
            with found.calling("it says whether something speaks against a table", look):
                reason = plugin.obstacle(rows, columns, task)
            found.expect(
                reason is None or (isinstance(reason, str) and bool(reason.strip())),
                "an obstacle is a few words, or None",
                repr(reason),
                look,
            )
