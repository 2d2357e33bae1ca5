"""Sequential attention with a line behind it: what it learns, looks at, and keeps."""

import sys

import numpy as np
import pytest

from compass.domain.errors import EnvironmentProblem
from compass.model.base import Task
from compass.model.recipe import Recipe, attention
from compass.model.tabnet import TabNet
from compass.settings import EmbeddingSettings, Settings

SETTINGS = Settings(embedding=EmbeddingSettings(epochs=40, width=6))


def runs(n: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """The first column says whether the second or the third one counts; the fourth is noise."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] > 0, 3 * X[:, 1], -2 * X[:, 2])


def test_it_learns_what_a_line_cannot() -> None:
    pytest.importorskip("torch")
    X, y = runs()
    model = TabNet.fit(X[:400], y[:400], task=Task(), weight=None, seed=1, settings=SETTINGS)
    missed = y[400:] - model.predict(X[400:])[:, 0]
    assert (missed**2).mean() < 0.3 * y.var()  # a line reaches about 0.5
    assert (model.spread(X) > 0).all()


def test_it_looks_at_what_counts() -> None:
    pytest.importorskip("torch")
    X, _ = runs()
    recipe = Recipe(family="tabnet", log=True)
    y = np.exp(2 * X[:, 1])
    model = recipe.fit(X, y, task=Task(), weight=None, seed=1, settings=SETTINGS)
    looked = attention(model, X)
    assert looked is not None
    assert looked.sum(axis=1) == pytest.approx(np.ones(len(X)))
    assert looked.mean(axis=0)[1] > 0.5


@pytest.mark.parametrize("classes", [None, 2])
def test_it_is_the_same_after_it_was_restored(classes: int | None) -> None:
    pytest.importorskip("torch")
    X, y = runs(120)
    y = y if classes is None else (y > 0).astype(float)
    quick = Settings(embedding=EmbeddingSettings(epochs=2))
    recipe, task = Recipe(family="tabnet"), Task(classes)
    model = recipe.fit(X, y, task=task, weight=None, seed=1, settings=quick)
    again = recipe.restore(recipe.arrays(model), task)
    assert (again.predict(X) == model.predict(X)).all()
    assert (again.spread(X) == model.spread(X)).all()
    assert again.family == "tabnet"


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    X, y = runs(40)
    with pytest.raises(EnvironmentProblem) as caught:
        TabNet.fit(X, y, task=Task(), weight=None, seed=1, settings=SETTINGS)
    assert "compass-hpc[deep]" in (caught.value.hint or "")
