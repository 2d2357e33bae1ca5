"""The neural network: what it predicts by plain numpy; its training is tested beside it."""

import sys

import numpy as np
import pytest
from model_dense_cases import (
    FEATURES,
    SETTINGS,
    check_damage,
    check_edges,
    check_gradient,
    check_rows,
    fit,
    runs,
    thirds,
)
from scipy.special import expit, softmax

from compass.model import neural
from compass.model.base import Task
from compass.model.neural import Neural
from compass.prepare.design import Design
from compass.settings import NeuralSettings, Settings


def test_rows_edges_and_damage() -> None:
    check_rows(Neural)
    check_edges(Neural)
    check_damage(Neural)


@pytest.mark.parametrize("layers", [1, 3])
def test_gradients(layers: int) -> None:
    chosen = Settings(neural=NeuralSettings(layers=layers, units=8, epochs=10))
    check_gradient(fit(Neural, *runs(), settings=chosen))


def forward(model: neural.FittedNeural, Z: np.ndarray) -> np.ndarray:
    """Raw columns [members, n, raw]."""
    said = []
    for first, inner, last in zip(model.first, model.inner, model.last, strict=True):
        h = Z @ first[:-1] + first[-1]
        h = h * expit(h)
        for weights in inner:
            more = h @ weights[:-1] + weights[-1]
            h = h + more * expit(more)
        said.append(h @ last[:-1] + last[-1])
    return np.array(said)


def test_numbers_are_the_mean_over_networks() -> None:
    X, y = runs()
    model = fit(Neural, X, y)
    said = forward(model, Design.of(X, FEATURES).apply(X))[:, :, 0] * np.std(y) + np.mean(y)
    np.testing.assert_allclose(model.predict(X)[:, 0], said.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(model.spread(X), said.std(axis=0), rtol=1e-6, atol=1e-9)


def test_class_scores_are_the_mean_of_the_softmax() -> None:
    X, y = runs()
    model = fit(Neural, X, thirds(y), 3)
    raw = forward(model, Design.of(X, FEATURES).apply(X))
    np.testing.assert_allclose(model.predict(X), softmax(raw, axis=2).mean(axis=0), rtol=1e-9)


def test_it_learns_and_the_seed_matters() -> None:
    X, y = runs(200)
    chosen = Settings(neural=NeuralSettings(layers=2, units=16, rate=0.01, epochs=40))
    model = fit(Neural, X, y, settings=chosen)
    ask, truth = runs(50, seed=1)
    assert np.mean((model.predict(ask)[:, 0] - truth) ** 2) < 0.1 * np.var(truth)
    again = fit(Neural, X, y, settings=SETTINGS).predict(ask)
    assert np.array_equal(again, fit(Neural, X, y, settings=SETTINGS).predict(ask))
    assert not np.array_equal(again, fit(Neural, X, y, settings=SETTINGS, seed=6).predict(ask))


def test_torch_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it is an ImportError now
    assert Neural.obstacle(100, 3, Task()) is None
    assert np.isfinite(fit(Neural, *runs(30)).predict(runs(5)[0])).all()


def test_only_huge_tables_are_an_obstacle() -> None:
    assert Neural.obstacle(100_000, 10, Task()) is None
    assert "minutes" in str(Neural.obstacle(10**8, 10, Task()))
