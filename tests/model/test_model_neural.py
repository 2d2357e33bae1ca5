"""The neural network against torch's own forward pass."""

import importlib.util

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

from compass.domain.errors import EnvironmentProblem
from compass.model import neural
from compass.model.base import Task
from compass.model.neural import Neural
from compass.prepare.design import Design
from compass.settings import NeuralSettings, Settings

torch = pytest.importorskip("torch")


def test_rows_edges_and_damage() -> None:
    check_rows(Neural)
    check_edges(Neural)
    check_damage(Neural)


@pytest.mark.parametrize("layers", [1, 3])
def test_gradients(layers: int) -> None:
    chosen = Settings(neural=NeuralSettings(layers=layers, units=8, epochs=10))
    check_gradient(fit(Neural, *runs(), settings=chosen))


def forward(model: neural.FittedNeural, Z: np.ndarray) -> np.ndarray:
    """Raw columns [members, n, raw] by torch, in double precision."""
    said = []
    for first, inner, last in zip(model.first, model.inner, model.last, strict=True):
        h = torch.nn.functional.silu(torch.tensor(Z @ first[:-1] + first[-1]))
        for weights in inner:
            h = h + torch.nn.functional.silu(
                torch.nn.functional.linear(
                    h, torch.tensor(weights[:-1].T), torch.tensor(weights[-1])
                )
            )
        said.append((h @ torch.tensor(last[:-1]) + torch.tensor(last[-1])).numpy())
    return np.array(said)


def test_numbers_are_the_mean_over_networks_as_torch_computes_them() -> None:
    X, y = runs()
    model = fit(Neural, X, y)
    Z = Design.of(X, FEATURES).apply(X)
    said = forward(model, Z)[:, :, 0] * np.std(y) + np.mean(y)
    np.testing.assert_allclose(model.predict(X)[:, 0], said.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(model.spread(X), said.std(axis=0), rtol=1e-6, atol=1e-9)


def test_class_scores_are_the_mean_of_the_softmax() -> None:
    X, y = runs()
    model = fit(Neural, X, thirds(y), 3)
    raw = torch.tensor(forward(model, Design.of(X, FEATURES).apply(X)))
    expected = torch.softmax(raw, dim=2).mean(dim=0).numpy()
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9)


def test_it_learns_and_the_seed_matters() -> None:
    X, y = runs(200)
    chosen = Settings(neural=NeuralSettings(layers=2, units=16, rate=0.01, epochs=40))
    model = fit(Neural, X, y, settings=chosen)
    ask, truth = runs(50, seed=1)
    assert np.mean((model.predict(ask)[:, 0] - truth) ** 2) < 0.1 * np.var(truth)
    again = fit(Neural, X, y, settings=SETTINGS).predict(ask)
    assert np.array_equal(again, fit(Neural, X, y, settings=SETTINGS).predict(ask))
    assert not np.array_equal(again, fit(Neural, X, y, settings=SETTINGS, seed=6).predict(ask))


def test_training_leaves_torch_as_it_was() -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(2)
    try:
        fit(Neural, *runs(30))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(torch.get_rng_state(), state)


def test_without_torch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(neural, "find_spec", lambda name: None if name == "torch" else found(name))
    assert "compass-hpc[deep]" in str(Neural.obstacle(100, 3, Task()))
    with pytest.raises(EnvironmentProblem, match="torch"):
        fit(Neural, *runs(30))


def test_only_huge_tables_are_an_obstacle() -> None:
    assert Neural.obstacle(100_000, 10, Task()) is None
    assert "minutes" in str(Neural.obstacle(10**8, 10, Task()))
