"""What a model with an attention embedding looks at."""

import numpy as np
import pytest

from compass.model.base import Task
from compass.model.recipe import Recipe, attention
from compass.settings import EmbeddingSettings, ForestSettings, Settings

QUICK = Settings(forest=ForestSettings(trees=5), embedding=EmbeddingSettings(epochs=3))


def test_attention_is_told_of_every_column() -> None:
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.exp(X[:, 0] * X[:, 1])
    recipe = Recipe(family="forest", embedding="attention", log=True)
    model = recipe.fit(X, y, task=Task(), weight=None, seed=7, settings=QUICK)
    found = attention(model, X[:10])
    assert found is not None
    assert found.shape == (10, 4)
    assert found.sum(axis=1) == pytest.approx(np.ones(10))


def test_a_model_of_the_raw_columns_has_none() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    model = Recipe(family="forest").fit(
        X, X[:, 0], task=Task(), weight=None, seed=7, settings=QUICK
    )
    assert attention(model, X) is None
