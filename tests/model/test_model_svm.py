"""SupportVectors vectors against scikit-learn's own predictions."""

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
from sklearn.svm import SVC, SVR

from compass.model import sums
from compass.model.base import Task
from compass.model.svm import SupportVectors
from compass.prepare.design import Design
from compass.settings import KernelSettings, Settings

CHOSEN = Settings(kernel=KernelSettings(cost=3.0, width=0.7, margin=0.02))


def test_rows_edges_and_damage() -> None:
    check_rows(SupportVectors)
    check_edges(SupportVectors)
    check_damage(SupportVectors)


def test_gradients() -> None:
    check_gradient(fit(SupportVectors, *runs()))


def test_numbers_are_predicted_as_by_sklearn() -> None:
    X, y = runs()
    weight = np.linspace(0.5, 1.5, len(y))
    weight /= weight.mean()
    design, ask = Design.of(X, FEATURES), runs(20, seed=1)[0]
    Z = design.apply(X)
    centre = np.average(y, weights=weight)
    scale = np.sqrt(np.average((y - centre) ** 2, weights=weight))
    gamma = 0.7 / (Z.shape[1] * Z.var())
    twin = SVR(C=3.0, gamma=gamma, epsilon=0.02).fit(Z, (y - centre) / scale, weight)
    model = fit(SupportVectors, X, y, weight=weight, settings=CHOSEN)
    expected = twin.predict(design.apply(ask)) * scale + centre
    np.testing.assert_allclose(model.predict(ask)[:, 0], expected, rtol=1e-7)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_class_scores_follow_the_margins_of_sklearn(classes: int) -> None:
    X, y = runs()
    label = np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1])).astype(float)
    design = Design.of(X, FEATURES)
    Z = design.apply(X)
    gamma = 0.7 / (Z.shape[1] * Z.var())
    twin = SVC(C=3.0, gamma=gamma, decision_function_shape="ovo").fit(Z, label)
    ask = runs(20, seed=1)[0]
    margins = twin.decision_function(design.apply(ask)).reshape(20, -1)
    if classes == 2:
        margins = -margins
    logs = np.zeros((20, classes))
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    for (i, j), margin in zip(pairs, margins.T, strict=True):
        logs[:, i] += 2 / classes * margin
        logs[:, j] -= 2 / classes * margin
    expected = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    said = fit(SupportVectors, X, label, classes, settings=CHOSEN).predict(ask)
    np.testing.assert_allclose(said, expected, rtol=1e-6)
    if classes == 2:
        assert np.array_equal(said.argmax(axis=1), twin.predict(design.apply(ask)))


def test_spread_grows_from_the_runs_to_the_deviation_of_the_outcome() -> None:
    X, y = runs()
    model = fit(SupportVectors, X, y)
    near = model.spread(X)
    assert near.min() == 0
    far = np.array([[1e9, 0.0, 0.0]])
    assert near.max() < model.spread(far)[0]
    np.testing.assert_allclose(model.spread(far)[0], np.std(y), rtol=1e-2)
    label = fit(SupportVectors, X, thirds(y), 3)
    assert (label.spread(X) <= 0.25).all()


def test_large_tables_are_refused_with_the_time_they_would_take() -> None:
    assert SupportVectors.obstacle(5_000, 10, Task()) is None
    assert SupportVectors.obstacle(30_000, 10, Task()) == "30,000 rows would take about 9 minutes"
    assert SupportVectors.obstacle(10_000, 10, Task(3)) is None
    assert str(SupportVectors.obstacle(10**6, 10, Task())).endswith("about 167 hours")


@pytest.mark.parametrize("kind", [sums.RBF, sums.MATERN, sums.MATERN_SLOPE])
def test_what_is_no_number_looks_up_no_power(kind: int) -> None:
    """A similarity is found in a table of powers: its place there comes from the distance."""
    Z = np.array([[np.nan], [np.inf], [1e300], [0.0]])  # the square of 1e300 is infinite
    found = sums.similar(Z, np.zeros((1, 2)), factor=0.5, kind=kind)
    none = sums.similar(Z[:3], np.zeros((1, 2)), factor=0.0, kind=kind)
    assert (found[3] == 1.0).all()
    assert not found[:3].any()
    assert not none.any()  # 0 times an infinite distance is no number either
