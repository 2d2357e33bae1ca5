"""Ridge and logistic regression against scikit-learn and against the textbook."""

import numpy as np
import pytest
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
from sklearn.linear_model import LogisticRegression, Ridge

from compass.model.linear import MOST_PAIRED, LinearRegression
from compass.prepare.design import Design
from compass.settings import LinearSettings, Settings

PAIRED = Settings(linear=LinearSettings(pairs=True, ridge=0.5))


def test_rows_edges_and_damage() -> None:
    check_rows(LinearRegression)
    check_edges(LinearRegression)
    check_damage(LinearRegression)


@pytest.mark.parametrize("settings", [Settings(), PAIRED])
def test_gradients(settings: Settings) -> None:
    check_gradient(fit(LinearRegression, *runs(), settings=settings))


def test_numbers_are_predicted_as_by_sklearn() -> None:
    X, y = runs()
    weight = np.linspace(0.5, 1.5, len(y))
    Z, ask = Design.of(X, FEATURES).apply(X), runs(20, seed=1)[0]
    twin = Ridge(alpha=1.0).fit(Z, y, sample_weight=weight / weight.mean())
    said = fit(LinearRegression, X, y, weight=weight).predict(ask)[:, 0]
    np.testing.assert_allclose(said, twin.predict(Design.of(X, FEATURES).apply(ask)), rtol=1e-9)


def test_classes_are_predicted_as_by_sklearn() -> None:
    X, y = runs()
    weight = np.linspace(0.5, 1.5, len(y))
    Z = Design.of(X, FEATURES).apply(X)
    for label, classes in ((thirds(y), 3), ((y > np.median(y)).astype(float), 2)):
        # scikit-learn penalises one column of weights for two classes, here are two of half size.
        strength = 1.0 if classes > 2 else 2.0
        twin = LogisticRegression(C=strength, tol=1e-10, max_iter=10_000).fit(
            Z, label, sample_weight=weight / weight.mean()
        )
        said = fit(LinearRegression, X, label, classes, weight=weight).predict(X)
        np.testing.assert_allclose(said, twin.predict_proba(Z), atol=2e-3)


def test_the_spread_is_the_standard_error_of_least_squares() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 2))
    y = X @ [1.0, -2.0] + rng.normal(size=50)
    weak = Settings(linear=LinearSettings(ridge=1e-9))
    model = fit(LinearRegression, X, y, features=None, settings=weak)
    A = np.column_stack([np.ones(50), X])
    rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    cover = np.linalg.inv(A.T @ A) * (rest @ rest) / 47
    ask = np.column_stack([np.ones(9), 3 * rng.normal(size=(9, 2))])
    expected = np.sqrt(np.einsum("ij,jk,ik->i", ask, cover, ask))
    np.testing.assert_allclose(model.spread(np.ascontiguousarray(ask[:, 1:])), expected, rtol=1e-6)


def test_pairs_learn_a_product_and_a_square_that_lines_cannot() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] * X[:, 1] + X[:, 0] ** 2
    weak = {"ridge": 1e-6}
    miss = {
        pairs: np.std(
            y
            - fit(
                LinearRegression,
                X,
                y,
                features=None,
                settings=Settings(linear=LinearSettings(pairs=pairs, **weak)),
            ).predict(X)[:, 0]
        )
        for pairs in (False, True)
    }
    assert miss[True] < 1e-5
    assert miss[False] > 0.5


def test_many_columns_are_not_paired() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, MOST_PAIRED + 1))
    y = X[:, 0]
    model = fit(LinearRegression, X, y, features=None, settings=PAIRED)
    assert len(model.pairs) == 0
    few = fit(LinearRegression, X[:, :MOST_PAIRED], y, features=None, settings=PAIRED)
    assert len(few.pairs) == MOST_PAIRED * (MOST_PAIRED + 1) // 2
