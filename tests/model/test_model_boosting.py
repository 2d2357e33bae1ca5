"""The families of boosted trees, and Extra Trees."""

import subprocess
import sys

import lightgbm
import numpy as np
import pytest
import xgboost

from compass.domain.errors import BadInput, DataProblem, EngineProblem
from compass.model.base import Family, Task, family
from compass.model.trees import flat
from compass.settings import ForestSettings, LightGBMSettings, Settings, XGBoostSettings

BOOSTED = ["lightgbm", "xgboost"]
ALL = ["extra-trees", *BOOSTED]
few = Settings(
    surrogate="forest",
    forest=ForestSettings(trees=12),
    lightgbm=LightGBMSettings(rounds=12, leaves=7, leaf=5),
    xgboost=XGBoostSettings(rounds=12, depth=3),
)


def runs(seed: int = 0, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(size=n), rng.integers(0, 4, n), rng.normal(size=n)])
    return X, 3 * X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


def classes_of(y: np.ndarray) -> np.ndarray:
    return np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float)


def test_the_families_are_families() -> None:
    # tests/testing holds every built-in family to its promises.
    for name in ALL:
        assert isinstance(family(name), Family)


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_printed(name: str, capfd) -> None:
    X, y = runs()
    for target, task in ((y, Task()), (classes_of(y), Task(3)), (np.ones(200), Task())):
        family(name).fit(X, target, task=task, weight=None, seed=1, settings=few)
    tiny = family(name).fit(X[:2], y[:2], task=Task(), weight=None, seed=1, settings=few)
    tiny.predict(X)
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err == ""


@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_learns_what_lightgbm_learns(weighted: bool) -> None:
    X, y = runs()
    weight = np.linspace(0.5, 3, y.size) if weighted else None
    model = family("lightgbm").fit(X, y, task=Task(), weight=weight, seed=5, settings=few)
    twin = lightgbm.LGBMRegressor(
        n_estimators=12, num_leaves=7, min_child_samples=5, verbosity=-1, n_jobs=1
    ).fit(X, y, sample_weight=weight)
    expected = twin.booster_.predict(X)
    np.testing.assert_allclose(model.predict(X)[:, 0], expected, atol=1e-5 * np.std(y))


def test_xgboost_learns_what_xgboost_learns() -> None:
    X, y = runs()
    model = family("xgboost").fit(X, y, task=Task(), weight=None, seed=5, settings=few)
    twin = xgboost.XGBRegressor(n_estimators=12, max_depth=3, n_jobs=1).fit(X, y)
    np.testing.assert_allclose(model.predict(X)[:, 0], twin.predict(X), atol=1e-4 * np.std(y))


@pytest.mark.parametrize("name", BOOSTED)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_classes_that_no_row_has_get_score_zero(name: str, classes: int) -> None:
    X, y = runs()
    seen = np.where(y > np.median(y), classes - 1.0, 0.0)
    model = family(name).fit(X, seen, task=Task(classes), weight=None, seed=5, settings=few)
    scores = model.predict(X)
    assert scores.shape == (200, classes)
    np.testing.assert_allclose(scores.sum(axis=1), 1)
    assert not scores[:, 1:-1].any()
    assert np.mean(scores.argmax(axis=1) == seen) > 0.9


@pytest.mark.parametrize("name", BOOSTED)
def test_a_class_of_rows_without_weight_was_not_seen(name: str) -> None:
    X, y = runs()
    label = classes_of(y)
    weight = (label < 2).astype(float)
    model = family(name).fit(X, label, task=Task(3), weight=weight, seed=5, settings=few)
    scores = model.predict(X)
    assert not scores[:, 2].any()
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", ALL)
def test_a_single_class_is_certain(name: str) -> None:
    X, _ = runs()
    for classes in (1, 4):
        label = np.full(200, classes - 1.0)
        model = family(name).fit(X, label, task=Task(classes), weight=None, seed=5, settings=few)
        assert (model.predict(X)[:, classes - 1] == 1).all()
        assert (model.predict(X).sum(axis=1) == 1).all()
        assert (model.spread(X) == 0).all()


@pytest.mark.parametrize("name", BOOSTED)
def test_small_differences_between_large_outcomes_are_learnt(name: str) -> None:
    X, y = runs()
    far = 1.7e9  # seconds since 1970: float32 has steps of 128 there
    near = family(name).fit(X, y, task=Task(), weight=None, seed=5, settings=few)
    model = family(name).fit(X, y + far, task=Task(), weight=None, seed=5, settings=few)
    error = np.mean((model.predict(X)[:, 0] - far - y) ** 2)
    assert error < 1.01 * np.mean((near.predict(X)[:, 0] - y) ** 2) + 1e-6


@pytest.mark.parametrize("name", BOOSTED)
@pytest.mark.parametrize("classes", [None, 2, 3])
def test_spread_is_that_of_the_later_half_of_the_rounds(name: str, classes: int | None) -> None:
    X, y = runs()
    if classes:
        y = np.minimum(classes_of(y), classes - 1)
    model = family(name).fit(X, y, task=Task(classes), weight=None, seed=5, settings=few)
    forest = model.forest
    each = forest.offset.size
    rounds = forest.trees // each
    stages = [flat.mean(forest.only(0, each * k), X) for k in range(rounds // 2 + 1, rounds + 1)]
    winner = model.predict(X).argmax(axis=1)
    expected = np.std([stage[np.arange(200), winner] for stage in stages], axis=0)
    np.testing.assert_allclose(model.spread(X), expected, rtol=1e-7, atol=1e-12)
    both = flat.mean_spread(forest, X)
    assert np.array_equal(both[0], model.predict(X))
    assert np.array_equal(both[1], model.spread(X))


@pytest.mark.parametrize("name", ALL)
def test_settings_matter(name: str) -> None:
    X, y = runs()
    base = family(name).fit(X, y, task=Task(), weight=None, seed=5, settings=few)
    usual = family(name).fit(X, y, task=Task(), weight=None, seed=5, settings=Settings())
    assert base.forest.trees == 12
    assert usual.forest.trees == (300 if name == "lightgbm" else 100)


@pytest.mark.parametrize("name", ALL)
def test_bad_rows_and_damaged_models_are_refused(name: str) -> None:
    X, y = runs()
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(DataProblem, match="missing"):
        family(name).fit(bad, y, task=Task(), weight=None, seed=5, settings=few)
    with pytest.raises(BadInput, match="positions from 0 to 1"):
        family(name).fit(X, np.full(200, 2.0), task=Task(2), weight=None, seed=5, settings=few)
    model = family(name).fit(X, y, task=Task(), weight=None, seed=5, settings=few)
    with pytest.raises(EngineProblem, match="columns"):
        family(name).restore(model.arrays(), Task(9))


def test_predicting_with_a_saved_model_needs_no_library() -> None:
    code = (
        "import sys, compass.model.boosting, compass.model.forest\n"
        "print([m for m in ('sklearn', 'lightgbm', 'xgboost') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
