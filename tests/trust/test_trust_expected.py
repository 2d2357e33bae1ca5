"""Expected errors: what they are learnt from, checked one run and one tree at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trust_reference import mixed_rows, mixed_space, walk

from compass.model.base import Task
from compass.settings import Settings, TrustSettings
from compass.trust.expected import expected, learn_errors, missed, size_of
from compass.trust.spread import Perturbed
from property_examples import examples

space = mixed_space()
chosen = Settings(trust=TrustSettings(trees=3))


def outcome(X: np.ndarray, seed: int) -> np.ndarray:
    return X[:, 0] * (1 + X[:, 3]) + np.random.default_rng(seed).normal(size=len(X))


@examples(8)
@given(st.integers(0, 2**31))
def test_it_is_the_geometric_mean_of_errors_nearby_and_of_the_spread_of_trees(seed: int) -> None:
    X, new = mixed_rows(seed, 60), mixed_rows(seed + 1, 5)
    y = outcome(X, seed)
    made = Perturbed.fit(X, {"y": y}, {"y": Task()}, space, chosen, 7, X_valid=X[:20])
    least = size_of(y, Task())
    forest, errors = made.forests[0], made.errors[0]
    for x, found in zip(new, made.error(new), strict=True):
        said = [walk(forest, tree, x)[0] for tree in range(forest.trees)]
        apart = np.std(said) / max(abs(np.mean(said)), least)
        similar = np.mean([walk(errors, t, x)[0] for t in range(errors.trees)])
        assert found == pytest.approx(np.sqrt(similar * (apart + 1e-4)), rel=1e-6, abs=1e-12)


def test_errors_are_shares_of_the_outcome_and_of_classes_what_the_score_lacks() -> None:
    y, said = np.array([10.0, -4.0, 0.0]), np.array([[12.0], [-5.0], [0.5]])
    assert missed(y, said, Task(), 0.1) == pytest.approx([0.2, 0.25, 5.0])
    scores = np.array([[0.7, 0.3], [0.4, 0.6]])
    assert missed(np.array([0.0, 0.0]), scores, Task(2), np.nan) == pytest.approx([0.3, 0.6])
    assert np.isnan(size_of(y, Task(2)))


def test_only_runs_that_a_model_has_not_seen_count() -> None:
    X = np.repeat([[1.0, 0.0, 10.0, 0.0], [8.0, 1.0, 12.0, 2.0]], 30, axis=0)
    y = np.full(60, 10.0)
    right, wrong = np.full((60, 1), 10.0), np.full((60, 1), 20.0)
    first = np.arange(60) < 30
    # The first model is wrong about everything but has seen the second half, and so on.
    made = learn_errors(
        X, y, [wrong, right], np.array([first, ~first]), task=Task(), least=0.1, weight=None,
        seed=7, settings=chosen,
    )  # fmt: skip
    assert walk(made, 0, X[0])[0] == pytest.approx(1.0)
    assert walk(made, 0, X[-1])[0] == pytest.approx(0.0)


def test_when_every_model_saw_every_run_all_count() -> None:
    X, y = mixed_rows(1, 20), np.full(20, 10.0)
    made = learn_errors(
        X, y, [np.full((20, 1), 15.0)], np.zeros((1, 20), dtype=bool), task=Task(), least=0.1,
        weight=None, seed=7, settings=chosen,
    )  # fmt: skip
    assert made.value.max() == pytest.approx(0.5)


def test_runs_without_weight_teach_no_errors() -> None:
    X, y = mixed_rows(1, 40), np.full(40, 10.0)
    odd = np.arange(40) % 2 == 1
    said = np.where(odd, 1e6, 11.0)[:, np.newaxis]
    made = learn_errors(
        X, y, [said], np.ones((1, 40), dtype=bool), task=Task(), least=0.1,
        weight=np.where(odd, 0.0, 1.0), seed=7, settings=chosen,
    )  # fmt: skip
    assert made.value.max() == pytest.approx(0.1)


def test_runs_of_one_configuration_and_outcome_are_judged_without_dividing_by_zero() -> None:
    X = np.repeat(mixed_rows(1, 1), 12, axis=0)
    made = Perturbed.fit(X, {"y": np.zeros(12)}, {"y": Task()}, space, chosen, 7, X_valid=X[:3])
    assert made.error(X).tolist() == [0.0] * 12
    assert made.risk(X).tolist() == [0.0] * 12


def test_a_class_is_uncertain_where_trees_vote_differently() -> None:
    X = mixed_rows(1, 200)
    y = (X[:, 3] == 1).astype(float)
    y[X[:, 3] == 2] = np.random.default_rng(2).integers(0, 2, (X[:, 3] == 2).sum())
    made = Perturbed.fit(X, {"s": y}, {"s": Task(2)}, space, chosen, 7, X_valid=X[:60])
    e = expected(made.forests[0], made.errors[0], float("nan"), X)
    assert e[X[:, 3] == 2].mean() > 5 * e[X[:, 3] != 2].mean()
