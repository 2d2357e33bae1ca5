"""Values that past runs had together: counted by hand, and right about how often rules exist."""

from itertools import product

import numpy as np
import pytest

from compass.trust.together import SeenTogether


def rows_of(*columns: tuple[float, ...]) -> np.ndarray:
    return np.array(list(product(*columns)), dtype=float)


def test_what_was_run_can_be_run_again() -> None:
    X = rows_of((1, 2, 4), (1, 2, 4, 8), (0, 1))
    X = X[X[:, 0] * X[:, 1] <= 8]
    seen = SeenTogether.of(X, [0, 1, 2])
    assert (seen.chance(X) == 0).all()
    assert all(seen.worst(x) is None for x in X)


def test_a_pair_that_a_rule_forbids_stands_out() -> None:
    X = rows_of((1, 2, 4, 8), (1, 2, 4, 8), tuple(range(10)))
    X = X[X[:, 0] * X[:, 1] <= 16]
    seen = SeenTogether.of(X, [0, 1, 2])
    bad = np.array([8.0, 8.0, 3.0])
    assert seen.chance(bad[None, :])[0] > 0.8
    unseen = seen.worst(bad)
    assert unseen is not None
    assert unseen.columns == (0, 1)
    n, eights = len(X), np.sum(X[:, 0] == 8)
    assert unseen.expected == pytest.approx(eights * np.sum(X[:, 1] == 8) / n)


def test_a_rule_on_three_columns_that_no_pair_shows() -> None:
    X = rows_of((0, 1), (0, 1), (0, 1), tuple(range(12)))
    X = X[X[:, :3].sum(axis=1) % 2 == 0]
    seen = SeenTogether.of(X, [0, 1, 2, 3])
    odd = np.array([[1.0, 0.0, 0.0, 5.0]])
    assert seen.chance(odd)[0] > 0.8
    assert seen.worst(odd[0]).columns == (0, 1, 2)


def test_repeated_runs_are_no_further_evidence() -> None:
    X = rows_of((1, 2, 4), (1, 2, 4), (0, 1))
    X = X[X[:, 0] * X[:, 1] <= 8]
    once, often = (
        SeenTogether.of(X, [0, 1, 2]),
        SeenTogether.of(np.repeat(X, 50, axis=0), [0, 1, 2]),
    )
    bad = np.array([[4.0, 4.0, 0.0]])
    assert often.configurations == len(X)
    assert often.chance(bad)[0] == once.chance(bad)[0]


def test_what_the_baseline_combines_is_not_held_against_a_change_elsewhere() -> None:
    X = rows_of((1, 2, 4, 8), (1, 2, 4, 8), (0, 1, 2))
    X = X[X[:, 0] * X[:, 1] <= 16]
    seen = SeenTogether.of(X, [0, 1, 2])
    baseline, moved = np.array([8.0, 8.0, 0.0]), np.array([[8.0, 8.0, 1.0]])
    assert seen.chance(moved)[0] > 0.2
    assert seen.chance(moved, baseline)[0] == 0.0
    assert seen.worst(moved[0], baseline) is None


def test_a_new_value_is_unusual_only_where_runs_repeat_their_values() -> None:
    rng = np.random.default_rng(3)
    grid = rng.choice([16.0, 32.0, 64.0, 128.0], 40)
    X = np.column_stack([grid, rng.uniform(0, 1, 40)])
    seen = SeenTogether.of(X, [0, 1])
    assert seen.chance(np.array([[48.0, 0.5]]))[0] > 0.2
    assert seen.chance(np.array([[64.0, 0.5]]))[0] == 0.0  # 0.5 is new too, but there all are
    assert seen.chance(np.array([[48.0, 0.5]]))[0] <= 0.5  # it may well lie between others


def test_without_rules_hardly_any_missing_pair_is_held_to_be_impossible() -> None:
    rng = np.random.default_rng(0)
    held = []
    for _ in range(60):
        X = rng.integers(0, 8, (50, 4)).astype(float)
        grid = rng.integers(0, 8, (200, 4)).astype(float)
        held.append(np.mean(SeenTogether.of(X, [0, 1, 2, 3]).chance(grid) > 0.5))
    assert np.mean(held) < 0.05


def test_stated_chances_are_about_right_where_rules_exist() -> None:
    """Random tables; in half of them some pairs cannot be run, and are not."""
    rng = np.random.default_rng(1)
    stated, cannot = [], []
    for _ in range(300):
        a, b = rng.integers(3, 9, 2)
        forbidden = (rng.random((a, b)) < 0.3) if rng.random() < 0.5 else np.zeros((a, b), bool)
        X = np.column_stack([rng.integers(0, a, 120), rng.integers(0, b, 120)])
        X = X[~forbidden[X[:, 0], X[:, 1]]][:60]
        runs = np.column_stack([X, rng.random(len(X))])  # different configurations
        for x, y in product(np.unique(X[:, 0]), np.unique(X[:, 1])):
            chance = SeenTogether.of(runs, [0, 1, 2]).chance(np.array([[x, y, 0.5]]))[0]
            if chance > 0:
                stated.append(chance)
                cannot.append(forbidden[x, y])
    told, true = np.array(stated), np.array(cannot)
    assert abs(told.mean() - true.mean()) < 0.15
    shares = [
        true[(told >= low) & (told < high)].mean()
        for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 1.0))
    ]
    assert shares == sorted(shares)
    assert shares[0] < 0.3
    assert shares[2] > 0.75


def test_nothing_to_see() -> None:
    empty = SeenTogether.of(np.empty((0, 2)), [0, 1])
    assert empty.chance(np.ones((3, 2))).tolist() == [0, 0, 0]
    none = SeenTogether.of(np.ones((5, 2)), [])
    assert none.chance(np.ones((2, 2))).tolist() == [0, 0]
    assert none.worst(np.ones(2)) is None
