"""Nearest neighbours against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st
from model_dense_cases import (
    FEATURES,
    NONE,
    check_damage,
    check_edges,
    check_rows,
    fit,
    runs,
    thirds,
)

from compass.domain.errors import BadInput, EngineProblem
from compass.model.neighbours import Neighbours
from compass.prepare.design import Design
from compass.settings import NeighbourSettings, Settings


def test_rows_edges_and_damage() -> None:
    check_rows(Neighbours)
    check_edges(Neighbours)
    check_damage(Neighbours)


def test_runs_without_shares_of_classes_are_refused() -> None:
    X, y = runs(24)
    model = fit(Neighbours, X, thirds(y), 3)
    with pytest.raises(EngineProblem, match="no shares of classes"):
        Neighbours.restore(model.arrays() | {"mean": 2 * model.mean}, model.task)


def test_neighbours_at_an_infinite_distance_are_told() -> None:
    """Such a neighbour counts as none: its place is beyond the last, and must not be read."""
    X, y = runs(24)
    model = fit(Neighbours, X, y)
    far = X[:3].copy()
    far[1, 1] = 1e300  # its square is infinite
    with pytest.raises(BadInput, match="no finite prediction") as told:
        model.predict(far)
    assert told.value.hint


def apart(X: np.ndarray, ask: np.ndarray) -> np.ndarray:
    """Distances [m, n] as the module's first lines say."""
    design = Design.of(X, FEATURES)
    total = np.zeros((len(ask), len(X)))
    for column in (0, 1):
        here, there = X[:, column], ask[:, column]
        scale = lambda v, c=column: (  # noqa: E731
            ((np.log(v) if design.log[c] else v) - design.centre[c]) / design.scale[c]
        )
        z, q = np.where(here == NONE, 0, scale(here)), np.where(there == NONE, 0, scale(there))
        total += (q[:, None] - z) ** 2 + ((there == NONE)[:, None] != (here == NONE))
    return np.sqrt(total + (ask[:, 2:] != X[:, 2]))


@pytest.mark.parametrize("by_distance", [True, False])
@given(seed=st.integers(0, 1000), count=st.integers(1, 9))
@budget(max_examples=15, deadline=None)
def test_predictions_are_those_of_brute_force(by_distance: bool, seed: int, count: int) -> None:
    X, y = runs(40, seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2, 40)
    ask = runs(12, seed + 1)[0]
    chosen = Settings(neighbours=NeighbourSettings(count=count, by_distance=by_distance))
    model = fit(Neighbours, X, y, weight=weight, settings=chosen)
    away = apart(X, ask)
    near = np.argsort(away, axis=1)[:, :count]
    share = weight[near]
    if by_distance:
        share = share / np.take_along_axis(away, near, axis=1)
    share /= share.sum(axis=1, keepdims=True)
    mean = (share * y[near]).sum(axis=1)
    np.testing.assert_allclose(model.predict(ask)[:, 0], mean, rtol=1e-9)
    spread = np.sqrt((share * (y[near] - mean[:, None]) ** 2).sum(axis=1))
    np.testing.assert_allclose(model.spread(ask), spread, rtol=1e-6, atol=1e-9)


def test_repeated_runs_of_one_configuration_decide_together_and_alone() -> None:
    X, y = runs(30)
    X, y = np.vstack([X, X[[4, 4]]]), np.append(y, [100.0, 200.0])
    weight = np.ones(32)
    weight[-1] = 3
    model = fit(Neighbours, X, y, weight=weight)
    expected = (y[4] + 100 + 600) / 5
    np.testing.assert_allclose(model.predict(X[[4]])[0, 0], expected)
    within = (y[4] ** 2 + 100**2 + 3 * 200**2) / 5 - expected**2
    np.testing.assert_allclose(model.spread(X[[4]])[0], np.sqrt(within))


def test_class_scores_are_shares_of_the_neighbours() -> None:
    X, y = runs(40)
    chosen = Settings(neighbours=NeighbourSettings(count=7, by_distance=False))
    label = thirds(y)
    ask = runs(9, seed=3)[0]
    scores = fit(Neighbours, X, label, 3, settings=chosen).predict(ask)
    near = np.argsort(apart(X, ask), axis=1)[:, :7]
    expected = (label[near][:, :, None] == np.arange(3)).mean(axis=1)
    np.testing.assert_allclose(scores, expected)
