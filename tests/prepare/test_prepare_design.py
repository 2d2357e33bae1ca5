"""Dense matrices: what the columns are, one row at a time, and the slopes through them."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from compass.domain.errors import EngineProblem
from compass.domain.space import Category, Number, Space
from compass.prepare.design import Design

SPACE = Space(
    parameters=(
        Number(name="nodes", low=1, high=1024, step=1),
        Category(name="app", values=("a", "b", "c")),
        Number(name="share", low=-1, high=1),
        Number(name="gpus", low=0, high=4, optional=True),
    )
)
NONE = SPACE["gpus"].none_code  # type: ignore[union-attr]


def rows(n: int = 50) -> np.ndarray:
    rng = np.random.default_rng(1)
    gpus = rng.integers(0, 5, n).astype(float)
    gpus[:5] = NONE
    return np.column_stack(
        [2.0 ** rng.integers(0, 11, n), rng.integers(0, 3, n), rng.uniform(-1, 1, n), gpus]
    )


def test_columns_are_standardised_one_hot_and_none_has_its_own() -> None:
    X = rows()
    design = Design.of(X, SPACE)
    dense = design.apply(X)
    assert design.width == dense.shape[1] == 1 + 3 + 1 + 2
    by_hand = np.log(X[:, 0])
    np.testing.assert_allclose(dense[:, 0], (by_hand - by_hand.mean()) / by_hand.std())
    np.testing.assert_array_equal(dense[:, 1:4], np.eye(3)[X[:, 1].astype(int)])
    np.testing.assert_allclose(dense[:, 4], (X[:, 2] - X[:, 2].mean()) / X[:, 2].std())
    known = X[:, 3] != NONE
    np.testing.assert_allclose(dense[known, 5].mean(), 0, atol=1e-12)
    assert (dense[~known, 5] == 0).all()
    np.testing.assert_array_equal(dense[:, 6], ~known)


def test_a_constant_column_and_unknown_columns_are_numbers() -> None:
    X = np.column_stack([np.full(4, 3.0), np.arange(4.0)])
    dense = Design.of(X).apply(X)
    assert dense.shape == (4, 2)
    assert (dense[:, 0] == 0).all()


@given(arrays(np.float64, (6, 4), elements=st.floats(-1e6, 1e6)))
def test_whatever_is_asked_the_matrix_is_finite_and_row_by_row(X: np.ndarray) -> None:
    design = Design.of(rows(), SPACE)
    dense = design.apply(X)
    assert np.isfinite(dense).all()
    one_by_one = np.concatenate([design.apply(X[[i]]) for i in range(len(X))])
    np.testing.assert_array_equal(one_by_one, dense)


def test_slopes_are_those_of_the_dense_matrix() -> None:
    X = rows()[10:]
    design = Design.of(rows(), SPACE)
    weights = np.random.default_rng(2).normal(size=design.width)
    steep = design.slopes(X, np.tile(weights, (len(X), 1)))
    for place in (0, 2, 3):
        moved = X.copy()
        moved[:, place] += 1e-6
        found = (design.apply(moved) - design.apply(X)) @ weights / 1e-6
        np.testing.assert_allclose(steep[:, place], found, rtol=1e-3, atol=1e-6)
    assert (steep[:, 1] == 0).all()


def test_it_is_restored_as_it_was_and_damage_is_refused() -> None:
    design = Design.of(rows(), SPACE)
    file = io.BytesIO()
    np.savez(file, **design.arrays())
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        back = Design.restore(dict(stored))
    np.testing.assert_array_equal(back.apply(rows()), design.apply(rows()))
    with pytest.raises(EngineProblem):
        Design.restore(design.arrays() | {"scale": np.zeros(4)})
