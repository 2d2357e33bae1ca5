"""Tables that model families and embedders are checked with: easy laws, and edge cases."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from compass.domain.space import Category, Number, Space
from compass.model.base import Family, Fitted, Floats, Task
from compass.settings import ForestSettings, NeuralSettings, Settings
from compass.testing.base import Witness

SEED = 7
CASES = "compass.testing.learning_cases"
# What is promised does not depend on the size of a model, and small ones train quickly.
SETTINGS = Settings(
    forest=ForestSettings(trees=20), neural=NeuralSettings(layers=1, units=16, rate=0.03, epochs=8)
)
# What the columns are, where a family is given that: a category, a number that may be none.
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
class LearningCase:
    """Rows to train on, and rows to predict."""

    label: str
    X: Floats  # [n, d]
    y: Floats  # [n]
    task: Task
    weight: Floats | None
    ask: Floats  # [m, d]
    truth: Floats  # [m]
    features: Space | None = None

    def look(self, tail: str = "") -> str:
        """The code that trains on this case."""
        return f"case = {CASES}.learning_case('{self.label}'); {CASES}.fitted(plugin, case){tail}"


def learning_cases() -> tuple[LearningCase, ...]:
    """Easy laws of four columns (the last one a category), and the edges of what can be learnt."""
    rng = np.random.default_rng(3)
    X, ask = mixed_rows(300, rng), mixed_rows(40, rng)
    weight = rng.uniform(0.5, 2.0, len(X))
    number, classes = Task(), Task(3)
    flat = np.full(len(X), 4.0)
    few = np.array([[1.0, 0.0, 8.0, 0.0], [2.0, 1.0, 16.0, 1.0]])
    known, asked = X.copy(), ask.copy()
    known[::7, 2] = asked[::5, 2] = _NONE
    return (
        LearningCase(
            "numbers", X, _law(X) + rng.normal(0, 0.1, len(X)), number, None, ask, _law(ask)
        ),
        LearningCase("weighted numbers", X, _law(X), number, weight, ask, _law(ask)),
        LearningCase("classes", X, _class(X), classes, None, ask, _class(ask)),
        LearningCase("weighted classes", X, _class(X), classes, weight, ask, _class(ask)),
        LearningCase("a class that no row has", X, _class(X), Task(4), None, ask, _class(ask)),
        LearningCase("one class only", X, np.zeros(len(X)), Task(1), None, ask, np.zeros(len(ask))),
        LearningCase("a constant", X, flat, number, None, ask, np.full(len(ask), 4.0)),
        LearningCase("one column", X[:, :1], 2 * X[:, 0], number, None, ask[:, :1], 2 * ask[:, 0]),
        LearningCase(
            "two rows", few, np.array([1.0, 2.0]), number, np.ones(2), few, np.array([1.0, 2])
        ),
        LearningCase(
            "known columns", known, _law(known), number, None, asked, _law(asked), FEATURES
        ),
        LearningCase(
            "known classes", known, _class(X), classes, None, asked, _class(ask), FEATURES
        ),
    )


def learning_case(label: str) -> LearningCase:
    """The case of that name."""
    return next(case for case in learning_cases() if case.label == label)


def check_inputs_unchanged(
    at: Witness, learn: Callable[[Floats, Floats, Floats], Callable[[Floats], Floats]]
) -> bool:
    """Hold what learns to leaving its inputs as they are; whether it needs them no more.

    `learn` takes X, y and weights, and returns what answers questions.
    """
    case = learning_case("weighted numbers")
    assert case.weight is not None
    X, y, weight, ask = case.X.copy(), case.y.copy(), case.weight.copy(), case.ask.copy()
    answer = learn(X, y, weight)
    answer(ask)
    pairs = {"X": (X, case.X), "y": (y, case.y), "weight": (weight, case.weight)}
    for what, (now, before) in (pairs | {"the question": (ask, case.ask)}).items():
        at.same(now, before, f"it leaves {what} as it is")
    # What keeps a view of its training rows changes when their owner reuses the array.
    known = answer(case.ask.copy()).copy()
    X[:], y[:], weight[:] = 0.0, 0.0, 1.0
    return np.array_equal(answer(case.ask.copy()), known)


def mixed_rows(n: int, rng: np.random.Generator) -> Floats:
    """Rows float64[n, 4]: a whole number, a share, one of four sizes, a label."""
    nodes = rng.integers(1, 17, n)
    share = rng.uniform(0, 1, n)
    size = rng.choice([8.0, 16.0, 32.0, 64.0], n)
    label = rng.integers(0, 2, n)
    return np.column_stack([nodes, share, size, label]).astype(np.float64)


def _law(X: Floats) -> Floats:
    return np.asarray(20 + 3 * X[:, 0] - 10 * X[:, 1] + 0.2 * X[:, 2] + X[:, 3])


def _class(X: Floats) -> Floats:
    return np.asarray(np.digitize(X[:, 0], [6.0, 11.0]), dtype=np.float64)


def fitted(plugin: Any, case: LearningCase, seed: int = SEED) -> Fitted:
    """The model that the family makes of a case, trained as the engine does it."""
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
