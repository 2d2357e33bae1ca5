"""Perturbed versions of the training rows."""

import numpy as np
import pytest
from trust_reference import mixed_rows, mixed_space

from compass.domain.errors import BadInput
from compass.domain.space import Number, Space
from compass.trust import perturb as module
from compass.trust.perturb import grids, perturb, resample

space = mixed_space()


def test_numbers_move_to_values_that_were_seen() -> None:
    X = mixed_rows(1, 400)
    moved = perturb(X, grids(X, space), 1.0, np.random.default_rng(1))
    for j in range(3):
        assert set(moved[:, j]) <= set(X[:, j])
        assert (moved[:, j] != X[:, j]).any()
    assert np.array_equal(moved[:, 3], X[:, 3])
    none = X[:, 2] == space["cap"].none_code
    assert np.array_equal(moved[:, 2] == space["cap"].none_code, none)


def test_without_jitter_nothing_moves() -> None:
    X = mixed_rows(1, 100)
    assert np.array_equal(perturb(X, grids(X, space), 0.0, np.random.default_rng(1)), X)


def test_noise_has_the_size_of_the_jitter() -> None:
    plain = Space(parameters=(Number(name="a", low=0, high=1),))
    X = np.random.default_rng(1).uniform(size=(4000, 1))
    moved = perturb(X, grids(X, plain), 0.05, np.random.default_rng(2))
    inner = (X > 0.1) & (X < 0.9)  # at the ends there is nothing beyond to move to
    assert np.std((moved - X)[inner]) == pytest.approx(0.05 * X.std(), rel=0.05)


def test_numbers_that_do_not_vary_stay() -> None:
    X = mixed_rows(1, 50)
    X[:, 0] = 4.0
    assert [grid.column for grid in grids(X, space)] == [1, 2]


def test_a_resample_draws_rows_with_repetition() -> None:
    rows, counts = resample(np.arange(1000), np.random.default_rng(1))
    assert counts.sum() == 1000
    assert np.array_equal(rows, np.unique(rows))
    assert rows.size == pytest.approx(1000 * (1 - np.exp(-1)), rel=0.05)


def test_a_resample_of_many_rows_is_limited(monkeypatch) -> None:
    monkeypatch.setattr(module, "_DRAWS", 100)
    rows, counts = resample(np.arange(1000), np.random.default_rng(1))
    assert counts.sum() == 100
    assert rows.max() > 500


def test_a_resample_takes_whole_configurations() -> None:
    kinds = np.repeat(np.arange(40), np.arange(40) % 3 + 1)
    rows, counts = resample(kinds, np.random.default_rng(1))
    left = np.setdiff1d(np.arange(kinds.size), rows)
    assert left.size
    assert not np.intersect1d(kinds[left], kinds[rows]).size
    assert all(np.unique(counts[kinds[rows] == kind]).size == 1 for kind in set(kinds[rows]))


def test_rows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadInput, match="4 columns"):
        grids(np.ones((3, 2)), space)
