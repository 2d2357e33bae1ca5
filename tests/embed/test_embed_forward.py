"""Compiled loops give what the formulas give, row by row."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from compass.embed.attention import shares
from compass.embed.forward import perceived
from compass.native import kernel

torch = pytest.importorskip("torch")
rows = st.lists(st.floats(-50, 50) | st.integers(-3, 3).map(float), min_size=1, max_size=6)


def projection(z: list[float]) -> np.ndarray:
    """The nearest point of the simplex, by trying every set of places that are not 0."""
    values = np.array(z)
    best, found = np.inf, None
    for size in range(1, len(z) + 1):
        for places in combinations(range(len(z)), size):
            at = list(places)
            point = np.zeros(len(z))
            point[at] = values[at] - (values[at].sum() - 1) / size
            distance = float(((point - values) ** 2).sum())
            if (point >= -1e-12).all() and distance < best:
                best, found = distance, point
    assert found is not None
    return found


def sparsemax(Z: np.ndarray) -> np.ndarray:
    found = Z.copy()
    for row in found:
        kernel("sparsemax")(row)
    return found


@hypothesis_settings(max_examples=150, deadline=None)
@given(rows)
def test_sparsemax_is_the_nearest_point_of_the_simplex(z: list[float]) -> None:
    found = sparsemax(np.array([z]))[0]
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(found, projection(z), atol=1e-9)


@hypothesis_settings(max_examples=50, deadline=None)
@given(rows)
def test_the_trained_and_the_compiled_sparsemax_agree(z: list[float]) -> None:
    said = shares(torch, torch.tensor([z], dtype=torch.float64)).numpy()
    np.testing.assert_allclose(said, sparsemax(np.array([z])), atol=1e-9)


def test_sparsemax_of_huge_and_equal_scores() -> None:
    found = sparsemax(np.array([[1e17, 1e17, 3.0], [-1e300, -1e300, -1e300]]))
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])


def test_the_gradient_of_the_trained_sparsemax() -> None:
    scores = torch.tensor([[0.3, 0.9, -2.0, 0.5]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: shares(torch, z), (scores,))


def test_a_perceptron_is_that_of_torch() -> None:
    sizes = [5, 7, 6, 3]
    layers = [torch.nn.Linear(a, b).double() for a, b in pairwise(sizes)]
    silu = torch.nn.SiLU()
    network = torch.nn.Sequential(layers[0], silu, layers[1], silu, layers[2])
    parts = [part.detach().numpy() for layer in layers for part in (layer.weight.T, layer.bias)]
    weights = np.concatenate([part.ravel() for part in parts])
    X = np.random.default_rng(0).normal(size=(50, 5))
    with torch.no_grad():
        truth = network(torch.from_numpy(X)).numpy()
    found = perceived(X, np.array(sizes), weights)
    np.testing.assert_allclose(found, truth, atol=1e-12)
    assert np.array_equal(found[7:8], perceived(X[7:8], np.array(sizes), weights))
