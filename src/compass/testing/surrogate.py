"""Checks that a model family keeps its contract: shapes, repeatable training, plain arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np

from compass.domain.space import Category, Number
from compass.model.base import Fitted, Floats, Task, undeclared
from compass.model.search_space import SearchSpace
from compass.testing.base import Witness, first_difference, saved_arrays, witness
from compass.testing.learning_cases import (
    CASES,
    SEED,
    SETTINGS,
    LearningCase,
    check_inputs_unchanged,
    fitted,
    learning_case,
    learning_cases,
    mixed_rows,
)


def check_surrogate(plugin: Any, *, name: str | None = None) -> None:
    """Raise ConformanceError unless the model family keeps its promises."""
    found = witness("surrogate", plugin, name)
    _declared(found, plugin)
    for case in learning_cases():
        with found.at(case.look()).calling(f"it learns from {case.label}"):
            model = fitted(plugin, case)
        _identity(found, plugin, model, case)
        _predictions(found, model, case)
        _restored(found, plugin, model, case)
        with found.at(case.look() + ", twice").calling("it learns again from the same rows"):
            again = fitted(plugin, case)
        _repeatable(found, model, again, case)
        _slopes(found, model, case)
        _trees(found, model, case)
    _obstacles(found, plugin)
    look = learning_case("weighted numbers").look()
    for promise in (_inputs_unchanged, _learns, _weights_matter):
        with found.at(look).calling("it learns whatever it is given"):
            promise(found, plugin)
    _together(found, plugin)


def _identity(found: Witness, plugin: Any, model: Fitted, case: LearningCase) -> None:
    found.at(case.look(".family")).expect(
        getattr(model, "family", None) == plugin.name,
        "a model's `family` is the name that restores it",
        f"{getattr(model, 'family', None)!r} instead of {plugin.name!r}",
    )
    found.at(case.look(".task")).expect(
        getattr(model, "task", None) == case.task,
        "a model's `task` is the one it was trained for",
        f"{getattr(model, 'task', None)!r} instead of {case.task!r}",
    )


def _predictions(found: Witness, model: Fitted, case: LearningCase) -> None:
    at, wide = found.at(case.look(".predict(case.ask)")), found.at(case.look(".spread(case.ask)"))
    with at.calling("it predicts"):
        scores, spread = model.predict(case.ask.copy()), model.spread(case.ask.copy())
    _numbers(at, "predictions", scores, (len(case.ask), case.task.outputs))
    _numbers(wide, "spreads", spread, (len(case.ask),))
    wide.expect((spread >= 0).all(), "spreads are not negative", f"{spread.min():g} among them")
    if case.task.classes is not None:
        sums = scores.sum(axis=1)
        at.expect(
            (scores >= 0).all() and np.allclose(sums, 1.0, rtol=0, atol=1e-9),
            "class scores are not negative and sum to 1",
            f"scores {scores.min():g}..{scores.max():g}, sums {sums.min():g}..{sums.max():g}",
        )
    _batches(found, model, case, scores, spread)


def _numbers(at: Witness, what: str, values: Any, shape: tuple[int, ...]) -> None:
    array = isinstance(values, np.ndarray)
    at.expect(
        array and values.dtype == np.float64 and values.shape == shape,
        f"{what} are a float64 array of shape {list(shape)}",
        f"{values.dtype}{list(values.shape)}" if array else type(values).__name__,
    )
    at.expect(np.isfinite(values).all(), f"{what} are finite", "NaN or infinite values")


def _batches(
    found: Witness, model: Fitted, case: LearningCase, scores: Floats, spread: Floats
) -> None:
    """Questions arrive one by one, in batches, and as slices of larger matrices."""
    ask = case.ask
    with found.at(case.look(".predict(case.ask[:1])")).calling("it predicts a single row"):
        single = np.concatenate([model.predict(ask[[i]]) for i in range(len(ask))])
        apart = np.concatenate([model.spread(ask[[i]]) for i in range(len(ask))])
    for what, one, many in (("predict", single, scores), ("spread", apart, spread)):
        promise = f"{what}: a row alone gives the same as in a batch"
        at = found.at(case.look(f".{what}(case.ask[:1])"))
        at.same(one, many, promise, rounding=1e-9)
    at = found.at(case.look(".predict(numpy.array(case.ask, order='F'))"))
    with at.calling("it predicts on slices of other matrices"):
        turned = model.predict(np.array(ask, order="F"))
    at.same(turned, scores, "the memory layout of a matrix does not matter", rounding=1e-9)


def _repeatable(found: Witness, model: Fitted, again: Fitted, case: LearningCase) -> None:
    for what in ("predict", "spread"):
        one = getattr(model, what)(case.ask.copy())
        for promise, other in (
            (f"the same question gives the same answer ({what})", model),
            (f"the same rows and seed give the same model ({what})", again),
        ):
            two = getattr(other, what)(case.ask.copy())
            found.at(case.look(f".{what}(case.ask)") + ", twice").same(one, two, promise)


def _restored(found: Witness, plugin: Any, model: Fitted, case: LearningCase) -> None:
    arrays = saved_arrays(found.at(case.look(".arrays()")), model)
    back = f"plugin.restore({CASES}.fitted(plugin, case).arrays(), case.task)"
    look = f"case = {CASES}.learning_case('{case.label}'); {back}"
    with found.at(look).calling("it restores what `arrays()` gave"):
        restored: Fitted = plugin.restore(arrays, case.task)
    _identity(found, plugin, restored, case)
    for what in ("predict", "spread"):
        one, two = (getattr(m, what)(case.ask.copy()) for m in (model, restored))
        found.at(f"{look}.{what}(case.ask)").same(
            one, two, f"a restored model gives the same bit for bit ({what})"
        )


def _inputs_unchanged(found: Witness, plugin: Any) -> None:
    def learn(X: Floats, y: Floats, weight: Floats) -> Callable[[Floats], Floats]:
        model = plugin.fit(X, y, task=Task(), weight=weight, seed=SEED, settings=SETTINGS)

        def predicted(rows: Floats) -> Floats:
            model.spread(rows)
            scores: Floats = model.predict(rows)
            return scores

        return predicted

    found.at("fit, overwrite X and y, predict again").expect(
        check_inputs_unchanged(found.at(learning_case("weighted numbers").look()), learn),
        "a model does not depend on the arrays it was trained on",
        "predictions change when those arrays are overwritten",
    )


def _learns(found: Witness, plugin: Any) -> None:
    """Better than the answer that ignores the question, on rows it has not seen."""
    case = learning_case("numbers")
    miss = float(np.mean((fitted(plugin, case).predict(case.ask)[:, 0] - case.truth) ** 2))
    base = float(np.mean((case.y.mean() - case.truth) ** 2))
    found.at(case.look(".predict(case.ask)") + " against case.truth").expect(
        miss < 0.5 * base,
        "on an easy law it has at most half the squared error of predicting the mean",
        f"{miss:.3g} against {base:.3g}",
    )
    case = learning_case("classes")
    guess = fitted(plugin, case).predict(case.ask).argmax(axis=1)
    right = float(np.mean(guess == case.truth))
    common = np.bincount(case.y.astype(np.int64)).argmax()
    base = float(np.mean(case.truth == common))
    found.at(case.look(".predict(case.ask).argmax(axis=1)") + " against case.truth").expect(
        right > base + 0.2,
        "on easy classes it is right clearly more often than the most common class",
        f"{right:.0%} against {base:.0%}",
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
        found.at(
            "fit the same rows with outcomes 0 and 1 and weights 1 and 9, then 9 and 1"
        ).expect(
            up > 0.6 and down < 0.4,
            "a row counts as much as its weight says",
            f"rows of 0 and of 1, nine times as heavy: {down:.2f} and {up:.2f} on average",
        )


def _slopes(found: Witness, model: Fitted, case: LearningCase) -> None:
    """A gradient, where a model offers one, is what small steps of the numbers show."""
    at = found.at(case.look(".gradient(case.ask)"))
    with at.calling("it gives its gradient, or None"):
        slopes = model.gradient(case.ask.copy())
    if slopes is None:
        return
    _numbers(at, "gradients", slopes, case.ask.shape)
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
        at.expect(
            near.mean() >= 0.9,
            "gradients are the slopes of the prediction; labels and `none` have none: 0",
            f"column {place}: {first_difference(slopes[:, place], seen)}",
        )


def _declared(found: Witness, plugin: Any) -> None:
    """All that `Family` declares is there, and the search space is about settings that exist."""
    found.at("compass.model.base.undeclared(plugin)").expect(
        not undeclared(plugin),
        "it declares all members of `Family`; `FamilyDefaults` has a default for each",
        f"it lacks {', '.join(undeclared(plugin))}",
    )
    at = found.at("plugin.search_space")
    space = plugin.search_space
    at.expect(
        space is None or isinstance(space, SearchSpace),
        "its `search_space` is a SearchSpace, or None",
        type(space).__name__,
    )
    for one in space.parameters if space is not None else ():
        section = getattr(SETTINGS, space.section, None)
        at.expect(
            hasattr(section, one.name),
            "its `search_space` names settings that exist",
            f"there is no setting {space.section}.{one.name}",
        )
    at = found.at("plugin.effort(20, 3, Task()), plugin.relative_cost(SETTINGS, SETTINGS)")
    with at.calling("it estimates what training costs"):
        costs = plugin.effort(20, 3, Task()), plugin.relative_cost(SETTINGS, SETTINGS)
    at.expect(
        min(costs) > 0 and np.isclose(costs[1], 1.0),
        "`effort` is positive, and `relative_cost` is 1 for the defaults",
        f"{costs[0]!r} and {costs[1]!r}",
    )


def _trees(found: Witness, model: Fitted, case: LearningCase) -> None:
    """Trees, where a model has them, predict what it predicts: proofs are about them."""
    at = found.at(case.look(".trees()"))
    with at.calling("it gives its trees, or None"):
        forest = model.trees()
    if forest is None:
        return
    from compass.model.trees import flat

    one, two = model.predict(case.ask.copy()), flat.mean(forest, case.ask.copy())
    at.same(one, two, "its trees predict what it predicts, bit for bit")


def _together(found: Witness, plugin: Any) -> None:
    """`fit_many` gives for each outcome the model that `fit` gives for it alone."""
    cases = learning_case("weighted numbers"), learning_case("weighted classes")
    weight = cases[0].weight
    assert weight is not None
    tasks = [case.task for case in cases]
    at = found.at("plugin.fit_many(X, numpy.column_stack([y, y_of_classes]), tasks=[...], ...)")
    with at.calling("it learns several outcomes at once"):
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
    at.expect(
        [model.task for model in first] == tasks,
        "several outcomes give one model each, in their order",
        f"{[model.task for model in first]!r} instead of {tasks!r}",
    )
    for case, model, again in zip(cases, first, second, strict=True):
        _identity(found, plugin, model, case)
        _predictions(found, model, case)
        _restored(found, plugin, model, case)
        _repeatable(found, model, again, case)
        _alone(at, plugin, model, case, weight)


def _alone(at: Witness, plugin: Any, model: Fitted, case: LearningCase, weight: Floats) -> None:
    """Outcomes are learnt when questions need them: together or one by one must not matter."""
    with at.calling("it learns one of these outcomes alone"):
        single: Fitted = plugin.fit(
            learning_case("weighted numbers").X.copy(),
            case.y.copy(),
            task=case.task,
            weight=weight.copy(),
            seed=SEED,
            settings=SETTINGS,
        )
    for what in ("predict", "spread"):
        one, two = (getattr(m, what)(case.ask.copy()) for m in (model, single))
        at.same(one, two, f"an outcome among several has the model that it has alone ({what})")


def _obstacles(found: Witness, plugin: Any) -> None:
    """An obstacle is described in words or is None, whatever the size."""
    for rows, columns in ((2, 1), (300, 4), (10**9, 10**4)):
        for task in (Task(), Task(3)):
            at = found.at(f"plugin.obstacle({rows}, {columns}, {task!r})")
            with at.calling("it says whether something speaks against a table"):
                reason = plugin.obstacle(rows, columns, task)
            at.expect(
                reason is None or (isinstance(reason, str) and bool(reason.strip())),
                "an obstacle is a few words, or None",
                repr(reason),
            )
