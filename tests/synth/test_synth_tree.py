"""Trees with donors against a search of all splits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compass.synth.base import Floats
from compass.synth.tree import DonorTree, PartedTree, grow, grow_parted, mean_ranks


def best_by_hand(X: Floats, y: Floats, classes: int, least: int) -> float:
    """The least impurity that one split of these rows leaves: every threshold is tried."""

    def impurity(part: Floats) -> float:
        if classes:
            counts = np.bincount(part.astype(int), minlength=classes)
            return float(len(part) - (counts**2).sum() / len(part))
        return float(((part - part.mean()) ** 2).sum())

    found = impurity(y)
    for column in X.T:
        for edge in np.unique(column)[:-1]:
            left = column <= edge
            if min(left.sum(), (~left).sum()) >= least:
                found = min(found, impurity(y[left]) + impurity(y[~left]))
    return found


def leaves_of(tree: DonorTree) -> list[np.ndarray]:
    ends = zip(tree.feature, tree.start, tree.stop, strict=True)
    return [tree.donors[a:b] for f, a, b in ends if f < 0]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([0, 3]), st.integers(1, 6))
def test_every_node_is_cut_where_a_search_of_all_splits_cuts_it(
    seed: int, classes: int, least: int
) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(40, 4)), 1)
    X[:, 3] = rng.integers(0, classes, 40) if classes else X[:, 0] + rng.normal(size=40)
    tree = grow(X, 3, (0, 1, 2), (0, 0, 0, classes), least=least, gain=0.0)
    y = X[:, 3] if classes else mean_ranks(X[:, 3])
    for node, feature in enumerate(tree.feature):
        rows = tree.donors[tree.start[node] : tree.stop[node]]
        whole = best_by_hand(X[rows][:, :0], y[rows], classes, least)
        best = best_by_hand(X[rows][:, :3], y[rows], classes, least)
        if feature < 0:
            assert best == pytest.approx(whole, abs=1e-9)
            continue
        sides = [tree.left[node], tree.left[node] + 1]
        parts = [tree.donors[tree.start[one] : tree.stop[one]] for one in sides]
        assert min(map(len, parts)) >= least
        got = sum(best_by_hand(X[part][:, :0], y[part], classes, least) for part in parts)
        assert got == pytest.approx(best, abs=1e-9)


def test_rows_fall_into_the_leaves_that_keep_them() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 5, 300), rng.normal(size=300)])
    tree = grow(X, 2, (0, 1), (0, 5, 0), least=5, gain=0.0)
    found = tree.leaves(X)
    assert sum(len(rows) for rows in leaves_of(tree)) == 300
    for node in np.unique(found):
        kept = tree.donors[tree.start[node] : tree.stop[node]]
        assert sorted(np.flatnonzero(found == node)) == sorted(kept)


def test_labels_are_cut_by_what_they_mean_for_the_target_not_by_their_order() -> None:
    labels = np.tile(np.arange(6.0), 50)
    y = np.where(np.isin(labels, [0, 2, 4]), 1.0, 5.0)
    tree = grow(np.column_stack([labels, y]), 1, (0,), (6, 0), least=5, gain=1e-8)
    assert len(tree.feature) == 3
    assert all(len(np.unique(y[rows])) == 1 for rows in leaves_of(tree))


def test_neighbouring_floats_and_the_largest_numbers_are_parted() -> None:
    least = np.nextafter(1.0, 2.0)
    X = np.array([[1.0, 0.0], [least, 1.0], [-1.7e308, 5.0], [1.7e308, 9.0]])
    tree = grow(X, 1, (0,), (0, 0), least=1, gain=0.0)
    assert sorted(len(rows) for rows in leaves_of(tree)) == [1, 1, 1, 1]
    assert len(np.unique(tree.leaves(X))) == 4


def test_equal_numbers_share_their_rank() -> None:
    assert mean_ranks(np.array([3.0, 1.0, 1.0, 9.0])) == pytest.approx([1 / 6, -1 / 3, -1 / 3, 0.5])


def test_a_tree_for_each_label_is_that_of_its_rows_and_the_root_has_all() -> None:
    rng = np.random.default_rng(5)
    n = 600
    X = np.column_stack([rng.choice(4, n, p=[0.6, 0.3, 0.06, 0.04]), rng.normal(size=(n, 2))])
    X[:, 2] += np.where(X[:, 0] == 0, X[:, 1], -X[:, 1])
    tree = grow_parted(X, 2, (0, 1), (5, 0, 0), by=0, least=5, gain=0.0)
    assert isinstance(tree, PartedTree)
    assert len(tree.trees) == 3  # two of the labels are rare: one tree for both
    assert sorted(tree.donors) == list(range(n))
    assert (tree.start[0], tree.stop[0], tree.parent[0]) == (0, n, -1)
    leaf = tree.leaves(X)
    for row in range(n):
        donors = tree.donors[tree.start[leaf[row]] : tree.stop[leaf[row]]]
        assert row in donors
        rare = X[row, 0] >= 2
        assert ((X[donors, 0] >= 2) if rare else (X[donors, 0] == X[row, 0])).all()
    for place, label in enumerate((0, 1)):
        own = np.flatnonzero(X[:, 0] == label)
        alone = grow(X[own], 2, (0, 1), (5, 0, 0), least=5, gain=0.0)
        for a, b in zip(leaves_of(tree.trees[place]), leaves_of(alone), strict=True):
            np.testing.assert_array_equal(a, b)
    up = tree.parent[tree.first]
    np.testing.assert_array_equal(up, 0)
    # A label that no row has takes a donor from somewhere.
    unseen = np.array([[4.0, 0.0, np.nan]])
    assert 0 <= tree.leaves(unseen)[0] < len(tree.start)


def test_few_rows_of_every_label_have_one_tree() -> None:
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.integers(0, 3, 60), rng.normal(size=(60, 2))])
    assert isinstance(grow_parted(X, 2, (0, 1), (3, 0, 0), by=0, least=5, gain=0.0), DonorTree)
