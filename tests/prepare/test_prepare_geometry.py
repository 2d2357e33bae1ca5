"""Distances between configurations against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.space import Category, Number, Space
from compass.prepare.geometry import (
    Geometry,
    column_costs,
    column_distances,
    distances,
    nearest_rows,
)
from property_examples import examples

NONE = 99.0
GEOMETRY = Geometry(
    scale=np.array([2.0, 1.0, 5.0]),
    weight=np.array([1.0, 3.0, 0.5]),
    category=np.array([False, True, False]),
    none=np.array([np.nan, np.nan, NONE]),
)
values = st.sampled_from([0.0, 1.0, 2.0, 4.0, NONE])
configurations = st.lists(values, min_size=3, max_size=3)


def slow_distances(a: list[float], b: list[float]) -> list[float]:
    parts = []
    for j in range(3):
        none = not np.isnan(GEOMETRY.none[j]) and GEOMETRY.none[j] in (a[j], b[j])
        if GEOMETRY.category[j] or none:
            parts.append(0.0 if a[j] == b[j] else 1.0)
        else:
            parts.append(abs(a[j] - b[j]) / GEOMETRY.scale[j])
    return parts


@given(configurations, configurations)
def test_a_distance_is_a_scaled_difference_or_a_mismatch(a: list[float], b: list[float]) -> None:
    got = column_distances(np.array([a]), np.array(b), GEOMETRY)[0]
    assert got.tolist() == pytest.approx(slow_distances(a, b))


@given(configurations, configurations)
def test_the_costs_of_a_column_are_its_weighted_distances(a: list[float], b: list[float]) -> None:
    for j, distance in enumerate(slow_distances(a, b)):
        got = column_costs(np.array([a[j]]), np.array(b), j, GEOMETRY)
        assert got == pytest.approx(distance * GEOMETRY.weight[j])


@examples(30)
@given(st.lists(configurations, min_size=8, max_size=60), st.sampled_from([(0, 1, 2), (2,)]))
def test_the_compiled_sum_is_that_of_the_columns(
    rows: list[list[float]], columns: tuple[int, ...]
) -> None:
    X, chosen = np.array(rows), np.array(columns)
    want = column_distances(X, X[0], GEOMETRY)[:, chosen].sum(axis=1)
    got = distances(X, X[0], chosen, GEOMETRY)
    assert np.allclose(got, want, rtol=1e-12, atol=0)
    near = nearest_rows(X, X[0], chosen, GEOMETRY, 7)
    assert want[near].max() <= np.delete(want, near).min() + 1e-12


def test_the_geometry_of_a_space_knows_its_labels_and_the_level_none() -> None:
    cap = Number(name="cap", low=100, high=200, optional=True)
    space = Space(
        parameters=(
            Number(name="nodes", low=1, high=8, step=1),
            cap,
            Category(name="app", values=("amg", None)),
        )
    )
    scale, weight = np.array([2.0, 30.0, 1.0]), np.array([1.0, 3.0, 1.0])
    found = Geometry.of(space, scale, weight)
    assert found.scale is scale
    assert found.weight is weight
    assert found.category.tolist() == [False, False, True]
    np.testing.assert_array_equal(found.none, [np.nan, cap.none_code, np.nan])
