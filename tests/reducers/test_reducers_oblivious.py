"""Symmetric trees: what they learn, and what they say against a slow walk."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reduce_case import members_of

from compass.reducers.oblivious import MEMBERS, Oblivious, learn
from property_examples import examples


def slow(trees: Oblivious, bins: np.ndarray) -> np.ndarray:
    return np.array([members_of(trees, row.tolist()) for row in bins.T]).T


@given(
    seed=st.integers(0, 1000),
    columns=st.integers(1, 5),
    rows=st.integers(1, 700),
    trees=st.integers(1, 12),
    depth=st.integers(1, 8),
    scale=st.sampled_from([1e-12, 1.0, 1e9]),
)
@examples(25)
def test_predictions_are_those_of_a_walk_through_each_tree(
    seed: int, columns: int, rows: int, trees: int, depth: int, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, 32, (columns, rows)).astype(np.uint8)
    y = scale * rng.standard_normal(rows)
    made = learn(bins, y, seed, trees=trees, depth=depth, rate=0.3)
    few = np.ascontiguousarray(bins[:, :40])
    np.testing.assert_allclose(made.members(few), slow(made, few), rtol=1e-12)
    # More rows than a block, and any cut of them, give the same sums.
    np.testing.assert_array_equal(made.sums(bins)[:40], made.sums(few))


def test_a_step_is_learnt_exactly_but_for_the_shrinking_of_leaves() -> None:
    rng = np.random.default_rng(1)
    bins = rng.integers(0, 16, (3, 4000)).astype(np.uint8)
    y = np.where(bins[1] > 6, 5.0, -3.0)
    made = learn(bins, y, 0, trees=40, depth=2, rate=0.5)
    assert made.features[0, 0] == 1
    assert made.borders[0, 0] == 6
    np.testing.assert_allclose(made.members(bins), np.tile(y, (MEMBERS, 1)), atol=0.02)


def test_a_sum_of_steps_in_two_columns_is_learnt() -> None:
    rng = np.random.default_rng(2)
    bins = rng.integers(0, 8, (2, 4000)).astype(np.uint8)
    y = 2.0 * (bins[0] > 3) - 1.0 * (bins[1] > 5) + 0.5 * ((bins[0] > 3) & (bins[1] > 5))
    made = learn(bins, y, 0, trees=40, depth=3, rate=0.5)
    assert np.abs(made.members(bins).mean(axis=0) - y).max() < 0.02


def test_a_column_without_effect_is_not_asked_about() -> None:
    rng = np.random.default_rng(3)
    bins = np.stack([np.full(500, 7), rng.integers(0, 4, 500)]).astype(np.uint8)
    made = learn(bins, np.ones(500), 0, trees=3, depth=3, rate=0.3)
    assert (made.borders == 255).all()  # nothing to explain: no question has a yes
    np.testing.assert_allclose(made.members(bins), 1.0)
    one = learn(bins, bins[1] * 1.0, 0, trees=3, depth=2, rate=0.3)
    assert (one.features[one.borders < 255] == 1).all()


def test_the_column_beyond_a_byte_is_found() -> None:
    rng = np.random.default_rng(4)
    bins = rng.integers(0, 4, (300, 1500)).astype(np.uint8)
    y = 10.0 * (bins[290] > 1)
    made = learn(bins, y, 0, trees=12, depth=1, rate=0.5)
    assert made.features[0, 0] == 290
    assert np.abs(made.members(bins).mean(axis=0) - y).max() < 0.1


def test_members_learn_from_other_rows_and_agree_where_there_are_many() -> None:
    rng = np.random.default_rng(5)
    many, few = 20_000, 12
    bins = np.concatenate([np.zeros(many), np.ones(few)]).astype(np.uint8)[None]
    y = rng.standard_normal(many + few)
    made = learn(np.ascontiguousarray(bins), y, 0, trees=1, depth=1, rate=1.0)
    spread = made.members(np.array([[0, 1]], dtype=np.uint8)).std(axis=0)
    assert 0 < spread[0] < spread[1]


@given(
    values=st.lists(
        st.lists(st.floats(-1e3, 1e3), min_size=8, max_size=8), min_size=1, max_size=64
    ),
    rows=st.integers(8, 60),
)
@examples(40)
def test_members_never_carry_into_each_other(values: list[list[float]], rows: int) -> None:
    """The largest leaf of every tree is below a lane, and so is the sum of all of them."""
    rng = np.random.default_rng(len(values))
    bins = rng.integers(0, 8, (2, rows)).astype(np.uint8)
    y = np.resize(np.array(values).ravel(), rows)
    made = learn(bins, y, 1, trees=len(values), depth=4, rate=1.0)
    lanes = np.array([(made.leaves >> np.uint64(16 * m)) & np.uint64(65535) for m in range(4)])
    assert int(lanes.max(axis=2).astype(np.int64).sum(axis=1).max()) <= 65535
    assert np.isfinite(made.members(bins)).all()


@pytest.mark.parametrize("outcome", [0.0, 1e-320, 1e150])
def test_extreme_outcomes_are_learnt(outcome: float) -> None:
    bins = np.tile(np.arange(4, dtype=np.uint8), 25)[None]
    made = learn(np.ascontiguousarray(bins), outcome * (bins[0] > 1), 0, trees=4, depth=2, rate=0.3)
    assert np.isfinite(made.members(bins)).all()
