"""Loops behind proofs: the best leaf in a cell of an axis, and below a node."""

import numpy as np
import pytest

from compass.native import kernel


@pytest.mark.parametrize("seed", range(5))
def test_the_least_leaf_that_reaches_a_cell_within_the_budget(seed: int) -> None:
    rng = np.random.default_rng(seed)
    leaves, cells, trees, budget = 40, 9, 5, 1.2
    tree, value = rng.integers(0, trees, leaves), rng.normal(size=leaves)
    low = rng.integers(0, cells, leaves)
    high = np.minimum(low + rng.integers(0, 4, leaves), cells - 1)
    others, cost = rng.random(leaves), rng.random(cells)
    least = np.full((cells, trees), np.inf)
    kernel("cover")(tree, value, low, high, others, cost, budget, least)
    for cell in range(cells):
        reaches = (low <= cell) & (cell <= high) & (others + cost[cell] <= budget)
        for t in range(trees):
            assert least[cell, t] == value[reaches & (tree == t)].min(initial=np.inf)


def test_the_least_leaf_below_every_node() -> None:
    # 0 -> (1, 2), 1 -> (3, 4); another tree is a single leaf.
    feature = np.array([2, 0, -1, -1, -1, -1], np.int32)
    left, right = np.array([[1, 3, -1, -1, -1, -1], [2, 4, -1, -1, -1, -1]], np.int32)
    value = np.array([np.nan, np.nan, 5.0, 7.0, 6.0, -1.0])
    kernel("below")(feature, left, right, value)
    assert value.tolist() == [5.0, 6.0, 5.0, 7.0, 6.0, -1.0]
