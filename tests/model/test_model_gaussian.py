"""The Gaussian process against scikit-learn's with the same kernel."""

import numpy as np
from model_dense_cases import (
    FEATURES,
    check_damage,
    check_edges,
    check_gradient,
    check_rows,
    fit,
    runs,
    thirds,
)
from scipy.optimize import check_grad
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from compass.model.base import Task
from compass.model.gaussian import Gaussian, _evidence
from compass.prepare.design import Design


def test_rows_edges_and_damage() -> None:
    check_rows(Gaussian)
    check_edges(Gaussian)
    check_damage(Gaussian)


def test_gradients() -> None:
    check_gradient(fit(Gaussian, *runs()), tight=1e-5)


def test_mean_and_deviation_are_those_of_sklearn_with_the_same_kernel() -> None:
    X, y = runs()
    weight = np.linspace(0.5, 1.5, len(y))
    weight /= weight.mean()
    model = fit(Gaussian, X, y, weight=weight)
    design, ask = Design.of(X, FEATURES), runs(20, seed=1)[0]
    Z = design.apply(X)
    frame = model.frame
    learnt = (y - frame.centre) / frame.scale
    kernel = ConstantKernel(model.signal, "fixed") * Matern(model.lengths, "fixed", nu=2.5)
    covariance = kernel(Z)
    inverse = model.root @ model.root.T
    noise = (np.linalg.inv(inverse) - covariance) * 1.0
    np.testing.assert_allclose(noise, np.diag(np.diag(noise)), atol=1e-7)
    assert np.diag(noise)[0] > 2 * np.diag(noise)[-1] > 0  # a third of the weight
    twin = GaussianProcessRegressor(kernel, alpha=np.diag(noise), optimizer=None).fit(Z, learnt)
    mean, deviation = twin.predict(design.apply(ask), return_std=True)
    said = model.predict(ask)[:, 0]
    np.testing.assert_allclose(said, mean * frame.scale + frame.centre, rtol=1e-6)
    np.testing.assert_allclose(model.spread(ask), deviation * frame.scale, rtol=1e-4, atol=1e-6)


def test_slopes_of_the_evidence_are_those_of_small_steps() -> None:
    rng = np.random.default_rng(1)
    Z, Y, noisy = rng.normal(size=(25, 3)), rng.normal(size=(25, 2)), rng.uniform(0.5, 2, 25)
    start = np.array([0.5, 0.5, 0.5, 0.0, -2.0])
    given = (Z, Y, noisy, start)
    at = start + 0.3 * rng.normal(size=5)
    apart = check_grad(
        lambda logs: _evidence(logs, *given)[0], lambda logs: _evidence(logs, *given)[1], at
    )
    assert apart < 1e-4 * np.linalg.norm(_evidence(at, *given)[1])


def test_it_is_sure_near_runs_and_unsure_far_away() -> None:
    X, y = runs()
    model = fit(Gaussian, X, y)
    assert np.median(model.spread(X)) < 0.2 * np.std(y)
    assert model.spread(np.array([[1e12, 0.0, 0.0]]))[0] > 0.5 * np.std(y)
    assert np.mean(np.abs(model.predict(X)[:, 0] - y)) < 0.1


def test_classes_are_told_apart() -> None:
    X, y = runs(120)
    label = thirds(y)
    model = fit(Gaussian, X[:80], label[:80], 3)
    assert np.mean(model.predict(X[80:]).argmax(axis=1) == label[80:]) > 0.7


def test_it_is_for_small_tables() -> None:
    assert Gaussian.obstacle(1_500, 10, Task()) is None
    assert "up to 1,500 rows, here are 1,501" in str(Gaussian.obstacle(1_501, 10, Task(2)))
