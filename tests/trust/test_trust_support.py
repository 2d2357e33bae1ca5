"""Novelty and support of configurations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trust_reference import algorithm_1, mixed_rows, mixed_space

from compass.domain.errors import DataProblem
from compass.domain.space import Category, Number, Role, Space
from compass.settings import TrustSettings
from compass.trust.support import Support
from property_examples import examples

space = mixed_space()
default = TrustSettings()


def build(seed: int = 1, chosen: TrustSettings = default, **weights: np.ndarray) -> Support:
    return Support.build(
        mixed_rows(seed, 120), mixed_rows(seed + 1, 40), space, chosen, 7, **weights
    )


@examples(12)
@given(st.integers(0, 2**31), st.integers(5, 60), st.integers(1, 30))
def test_support_is_that_of_algorithm_1(seed: int, n: int, k: int) -> None:
    train, valid = mixed_rows(seed, n), mixed_rows(seed + 1, 20)
    made = Support.build(train, valid, space, TrustSettings(neighbours=k), 7)
    for x in mixed_rows(seed + 2, 3):
        slow = algorithm_1(train, valid, [0.0], x, 0.0, space, k=k)
        assert made.tau == pytest.approx(slow.tau)
        assert made.ood(x[np.newaxis])[0] == pytest.approx(slow.ood)
        rows, distances = made.support(x)
        assert sorted(rows) == sorted(slow.support)
        assert (np.diff(distances) >= 0).all()
        assert (distances <= made.tau * (1 + 1e-9)).all()


def test_repetitions_of_training_rows_are_not_novel_when_many_tie() -> None:
    train = np.repeat(mixed_rows(1, 12), 40, axis=0)
    made = Support.build(train, train[::7], space, default, 7)
    assert (made.ood(train) == 0).all()
    assert made.tau == 0
    rows, distances = made.support(train[0])
    same = np.flatnonzero((train == train[0]).all(axis=1))
    assert np.array_equal(rows, same)
    assert rows.size >= 40
    assert not distances.any()


def test_rounding_does_not_rank_the_runs_of_a_grid() -> None:
    # Neighbours of inner points of a grid are equally far but for rounding.
    axis = 0.1 * np.arange(12)
    grid = np.array(list(product(axis, 0.3 * np.arange(12))))
    plain = Space(parameters=(Number(name="a", low=0, high=2), Number(name="b", low=0, high=4)))
    inner = grid[(grid[:, 0] > 0.35) & (grid[:, 0] < 0.75) & (grid[:, 1] > 1) & (grid[:, 1] < 2.2)]
    made = Support.build(grid, inner, plain, TrustSettings(neighbours=5), 7)
    assert np.unique(made.novelty(inner)).size > 1  # rounding is there
    assert (made.ood(inner) == 0).all()


def test_far_away_is_novel_and_without_support() -> None:
    made = build()
    far = np.array([[64.0, 10.0, 30.0, 0.0]])
    assert made.ood(far)[0] == 1
    assert made.support(far[0])[0].size == 0


def test_k_and_tau_are_settings() -> None:
    x = mixed_rows(9, 1)
    assert build(chosen=TrustSettings(neighbours=1)).novelty(x) != build().novelty(x)
    wide = build(chosen=TrustSettings(close_percentile=100))
    assert wide.tau > build().tau
    fixed = build(chosen=TrustSettings(tau=2.5))
    assert fixed.tau == 2.5
    assert fixed.support(x[0])[0].size > build().support(x[0])[0].size
    nothing = build(chosen=TrustSettings(tau=1e6)).support(x[0])[0]
    assert nothing.size == 120


def test_validation_rows_are_limited_by_the_seed() -> None:
    train, valid = mixed_rows(1, 50), mixed_rows(2, 400)
    few = TrustSettings(validation_rows=30)
    one, same, other = (Support.build(train, valid, space, few, seed) for seed in (1, 1, 2))
    assert one.ranks.values.size == 30
    assert np.array_equal(one.ranks.values, same.ranks.values)
    assert not np.array_equal(one.ranks.values, other.ranks.values)


def test_weights_of_validation_rows_count_as_repetitions() -> None:
    train, valid = mixed_rows(1, 120), mixed_rows(2, 40)
    weight = np.random.default_rng(3).integers(1, 5, 40)
    weighted = Support.build(train, valid, space, default, 7, valid_weight=weight.astype(float))
    repeated = Support.build(train, np.repeat(valid, weight, axis=0), space, default, 7)
    new = mixed_rows(4, 30)
    assert weighted.ood(new) == pytest.approx(repeated.ood(new))
    assert weighted.tau == pytest.approx(repeated.tau)
    plain = Support.build(train, valid, space, default, 7)
    assert not np.allclose(weighted.ood(new), plain.ood(new))


def test_weights_of_training_rows_enter_the_scale() -> None:
    weight = np.random.default_rng(3).uniform(0.1, 5, 120)
    new = mixed_rows(4, 30)
    assert not np.allclose(build(train_weight=weight).novelty(new), build().novelty(new))


def test_without_validation_rows_there_is_nothing_to_compare_with() -> None:
    with pytest.raises(DataProblem, match="validation"):
        Support.build(mixed_rows(1, 20), np.empty((0, 4)), space, default, 7)


def test_unseen_labels_and_numbers_beyond_the_training_rows_are_told():
    space = Space(
        parameters=(
            Number(name="x", role=Role.KNOB, low=0, high=100),
            Category(name="gpu", role=Role.CONTEXT, values=("a", "b", "c")),
            Number(name="cap", role=Role.KNOB, low=0, high=100, optional=True),
            Number(name="constant", role=Role.CONTEXT, low=0, high=9),
        )
    )
    none = space["cap"].none_code
    rng = np.random.default_rng(0)
    train = np.column_stack(
        [rng.uniform(10, 20, 50), rng.integers(0, 2, 50), [none, 5.0] * 25, np.full(50, 4.0)]
    )
    support = Support.build(train, train[:10], space, default, 0)
    low, high = train[:, 0].min(), train[:, 0].max()
    asked = np.array(
        [
            [low, 1, none, 4.0],
            [high + 0.1, 0, 5.0, 4.0],
            [low - 0.1, 2, 5.0, 4.0],
            [low, 0, 5.0, 5.0],
        ]
    )
    assert support.unseen(asked) == [[], [], [1], [3]]
    assert support.outside(asked) == [[], [0], [0], []]
