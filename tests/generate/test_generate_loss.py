"""The terms of the loss against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.generate import loss
from compass.prepare.geometry import Geometry, column_distances

NONE = 99.0
GEOMETRY = Geometry(
    scale=np.array([2.0, 1.0, 5.0]),
    weight=np.array([1.0, 3.0, 0.5]),
    category=np.array([False, True, False]),
    none=np.array([np.nan, np.nan, NONE]),
)
values = st.sampled_from([0.0, 1.0, 2.0, 4.0, NONE])


@given(st.lists(values, min_size=3, max_size=3), st.lists(values, min_size=3, max_size=3))
def test_proximity_is_the_weighted_sum_of_the_column_distances(
    a: list[float], b: list[float]
) -> None:
    apart = column_distances(np.array([a]), np.array(b), GEOMETRY)[0]
    weighted = sum(w * d for w, d in zip([1.0, 3.0, 0.5], apart, strict=True))
    assert loss.proximity(np.array([a]), np.array(b), GEOMETRY)[0] == pytest.approx(weighted)


def test_a_range_penalises_only_what_is_outside() -> None:
    got = loss.valid_range(np.array([1.0, 2.0, 3.0, 5.0]), 2.0, 4.0, scale=2.0)
    assert got.tolist() == [0.5, 0.0, 0.0, 0.5]
    assert loss.valid_range(np.array([1e9]), -np.inf, np.inf, 1.0).tolist() == [0.0]


def test_a_class_penalises_the_lead_of_the_best_other() -> None:
    scores = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
    assert loss.valid_class(scores, 0).tolist() == pytest.approx([0.0, 0.1])
    assert loss.valid_class(scores, 2).tolist() == pytest.approx([0.6, 0.0])
    assert loss.valid_class(np.ones((2, 1)), 0).tolist() == [0.0, 0.0]


def test_diversity_is_the_mean_pairwise_distance() -> None:
    X = np.array([[0.0, 0.0, 0.0], [2.0, 1.0, 0.0], [4.0, 1.0, 5.0]])
    pairs = [(0, 1), (0, 2), (1, 2)]
    slow = np.mean([column_distances(X[[i]], X[j], GEOMETRY).sum() for i, j in pairs])
    assert loss.diversity(X, GEOMETRY) == pytest.approx(slow)
    assert loss.diversity(X[:1], GEOMETRY) == 0.0
