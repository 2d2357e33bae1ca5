"""Recipes: every family on both scales comes back bit for bit, and scales mean what they say."""

import io

import numpy as np
import pytest

from compass import registry
from compass.domain.errors import DataProblem, UnknownName
from compass.domain.space import Category, Number, Space
from compass.model.base import Fitted, FittedDefaults, Task
from compass.model.recipe import Exponential, Recipe, Represented, beside, widened
from compass.settings import (
    EmbeddingSettings,
    ForestSettings,
    LightGBMSettings,
    NeuralSettings,
    Settings,
    XGBoostSettings,
)

FAMILIES = (
    "forest",
    "extra-trees",
    "lightgbm",
    "xgboost",
    "linear",
    "neighbours",
    "svm",
    "gaussian",
    "neural",
)
TREES = ("forest", "extra-trees", "lightgbm", "xgboost")
SMOOTH = ("linear", "svm", "gaussian", "neural")
QUICK = Settings(
    forest=ForestSettings(trees=4),
    lightgbm=LightGBMSettings(rounds=5),
    xgboost=XGBoostSettings(rounds=5),
    neural=NeuralSettings(epochs=3, units=8, layers=2),
    embedding=EmbeddingSettings(epochs=2, width=3, units=8),
)
SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=16),
        Number(name="size", low=1, high=10),
        Category(name="app", values=("a", "b", "c")),
    )
)


def table(n: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(1, 16, n), rng.uniform(1, 10, n), rng.integers(0, 3, n)])
    return X, X[:, 1] ** 2 / X[:, 0] * (1 + X[:, 2]) + 0.1


def made(recipe: Recipe, task: Task | None = None, settings: Settings = QUICK) -> Fitted:
    X, y = table()
    if task is not None:
        y = np.digitize(y, [2.0, 10.0]).astype(float)
    return recipe.fit(
        X, y, task=task or Task(), weight=None, seed=7, settings=settings, features=SPACE
    )


def through_a_file(recipe: Recipe, model: Fitted) -> Fitted:
    file = io.BytesIO()
    named = {name.replace("/", "|"): array for name, array in recipe.arrays(model).items()}
    np.savez_compressed(file, **named)
    file.seek(0)
    with np.load(file, allow_pickle=False) as read:
        arrays = {name.replace("|", "/"): read[name] for name in read.files}
    return recipe.restore(arrays, model.task)


def same(one: Fitted, other: Fitted) -> None:
    X = table(200, seed=5)[0]
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.spread(X), other.spread(X))
    assert one.family == other.family
    assert one.task == other.task


def test_no_family_is_missing_here() -> None:
    found = registry.everything("surrogate").items()
    assert {name for name, kind in found if getattr(kind, "selectable", True)} == set(FAMILIES)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_numbers_come_back_bit_for_bit(name: str, log: bool) -> None:
    recipe = Recipe(family=name, log=log)
    model = made(recipe)
    same(model, through_a_file(recipe, model))
    assert (model.trees() is not None) == (name in TREES)
    assert isinstance(model, Exponential) == (log and name not in TREES)


@pytest.mark.parametrize("name", FAMILIES)
def test_classes_come_back_bit_for_bit(name: str) -> None:
    recipe = Recipe(family=name)
    model = made(recipe, Task(3))
    same(model, through_a_file(recipe, model))
    np.testing.assert_allclose(model.predict(table()[0]).sum(axis=1), 1)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_model_of_the_logarithm_is_the_exponential_of_that_model(name: str) -> None:
    X, y = table()
    asked = table(50, seed=5)[0]
    rest = {"task": Task(), "weight": None, "seed": 7, "settings": QUICK, "features": SPACE}
    of_logarithms = registry.get("surrogate", name).fit(X, np.log(y), **rest)
    model = made(Recipe(family=name, log=True))
    np.testing.assert_allclose(
        model.predict(asked), np.exp(of_logarithms.predict(asked)), rtol=1e-12
    )
    if name in SMOOTH:
        expected = of_logarithms.spread(asked) * np.exp(of_logarithms.predict(asked)[:, 0])
        np.testing.assert_allclose(model.spread(asked), expected, rtol=1e-12)


def test_a_small_spread_of_logarithms_is_that_share_of_the_outcome() -> None:
    class Certain(FittedDefaults):
        task, family = Task(), "made-up"

        def predict(self, X: np.ndarray) -> np.ndarray:
            return X[:, :1]

        def spread(self, X: np.ndarray) -> np.ndarray:
            return np.full(len(X), 1e-4)

        def arrays(self) -> dict[str, np.ndarray]:
            return {}

    X = np.array([[0.0], [2.0], [5.0]])
    model = Exponential(Certain())
    drawn = np.exp(np.random.default_rng(0).normal(X[:, 0], 1e-4, (20_000, 3)))
    np.testing.assert_allclose(model.spread(X), drawn.std(axis=0), rtol=0.03)
    assert model.gradient(X) is None  # the model inside does not tell
    huge = model.predict(np.array([[1e6], [-1e6]]))
    assert np.isfinite(huge).all()


@pytest.mark.parametrize("name", SMOOTH)
def test_the_gradient_is_that_of_finite_differences(name: str) -> None:
    model = made(Recipe(family=name, log=True))
    X = table(20, seed=5)[0]
    told = model.gradient(X)
    if told is None:
        pytest.skip(f"{name} tells no slopes")
    for place in (0, 1):
        step = np.zeros(3)
        step[place] = 1e-5
        slope = (model.predict(X + step) - model.predict(X - step))[:, 0] / 2e-5
        close = np.isclose(told[:, place], slope, rtol=1e-3, atol=1e-5 * np.abs(slope).max())
        assert close.mean() >= 0.9, name  # a step may cross a kink of a network


@pytest.mark.parametrize("worst", [0.0, -1.0])
def test_what_is_not_positive_has_no_logarithm(worst: float) -> None:
    X, y = table()
    y[3] = worst
    with pytest.raises(DataProblem, match="logarithm") as problem:
        Recipe(family="linear", log=True).fit(
            X, y, task=Task(), weight=None, seed=7, settings=QUICK
        )
    assert problem.value.hint


def test_changes_reach_the_settings_and_nothing_else_moves() -> None:
    recipe = Recipe(family="forest", changes={"forest": {"trees": 7, "depth": 3}})
    found = recipe.settings(QUICK)
    assert (found.forest.trees, found.forest.depth) == (7, 3)
    assert found.forest.leaf == QUICK.forest.leaf
    assert found.model_dump(exclude={"forest"}) == QUICK.model_dump(exclude={"forest"})
    assert made(recipe).forest.trees == 7
    again = Recipe.model_validate_json(recipe.model_dump_json())
    assert again == recipe
    same(made(recipe), made(again))


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("name", ["forest", "linear"])
def test_learned_columns_stand_beside_the_raw_ones(name: str, log: bool) -> None:
    recipe = Recipe(family=name, log=log, embedding="autoencoder")
    model = made(recipe)
    same(model, through_a_file(recipe, model))
    inside = model.inner if isinstance(model, Exponential) else model
    assert isinstance(inside, Represented)
    X = table(30, seed=5)[0]
    wide = beside(inside.front, X)
    assert wide.shape == (30, 6)
    np.testing.assert_array_equal(wide[:, :3], X)
    np.testing.assert_array_equal(wide[:, 3:], inside.front.transform(X))
    said = inside.inner.predict(wide)
    np.testing.assert_array_equal(model.predict(X), Exponential.of(said) if log else said)
    assert model.trees() is None  # its trees are not over the columns of a configuration


def test_the_space_grows_with_the_learned_columns() -> None:
    wide = widened(SPACE, 3, 2)
    assert wide is not None
    assert wide.names == ("nodes", "size", "app", "learned 0", "learned 1")
    assert wide.parameters[:3] == SPACE.parameters
    assert widened(None, 3, 2) is None


@pytest.mark.parametrize(
    "recipe", [Recipe(family="forrest"), Recipe(family="forest", embedding="vea")]
)
def test_an_unknown_name_offers_the_nearest(recipe: Recipe) -> None:
    with pytest.raises(UnknownName) as problem:
        made(recipe)
    assert ("forest" if recipe.embedding is None else "vae") in problem.value.hint
