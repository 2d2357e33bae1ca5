"""The dominated volume against inclusion and exclusion, a grid, and what Optuna computes."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.pareto.hypervolume import Floats, contributions, hypervolume, sampled
from property_examples import examples


def by_inclusion(points: Floats, reference: Floats) -> float:
    """The volume of a union of boxes: plus each, minus each two, plus each three, and so on."""
    inside = points[(points < reference).all(axis=1)]
    total = 0.0
    for size in range(1, len(inside) + 1):
        for some in combinations(inside, size):
            corner = np.max(some, axis=0)
            total -= (-1) ** size * float(np.prod(reference - corner))
    return total


def by_cells(points: Floats, reference: Floats) -> float:
    """The number of cells of a whole-numbered grid that some point dominates."""
    axes = [np.arange(int(size)) for size in reference]
    cells = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(reference))
    return float((points[None] <= cells[:, None]).all(axis=2).any(axis=1).sum())


def random_points(n: int, k: int, seed: int) -> Floats:
    return np.random.default_rng(seed).random((n, k)) * 1.2


def test_one_point_covers_a_box() -> None:
    assert hypervolume(np.array([[1.0, 2.0]]), np.array([3.0, 5.0])).value == 6.0
    assert hypervolume(np.array([[1.0, 2.0, 0.0]]), np.array([3.0, 5.0, 2.0])).value == 12.0


def test_what_is_not_better_than_the_reference_covers_nothing() -> None:
    points = np.array([[1.0, 5.0], [3.0, 0.0], [4.0, 4.0]])
    assert hypervolume(points, np.array([3.0, 5.0])) == (0.0, 0.0)
    assert hypervolume(np.empty((0, 3)), np.ones(3)).value == 0.0


@examples(60)
@given(k=st.integers(1, 5), n=st.integers(1, 8), seed=st.integers(0, 10_000))
def test_it_is_what_inclusion_and_exclusion_give(k: int, n: int, seed: int) -> None:
    points, reference = random_points(n, k, seed), np.ones(k)
    found = hypervolume(points, reference)
    assert found.error == 0
    assert found.value == pytest.approx(by_inclusion(points, reference), abs=1e-12)


@examples(40)
@given(k=st.integers(2, 4), n=st.integers(1, 12), seed=st.integers(0, 10_000))
def test_points_that_tie_are_counted_once(k: int, n: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 6, (n, k)).astype(float)
    reference = np.full(k, 6.0)
    assert hypervolume(points, reference).value == by_cells(points, reference)


@pytest.mark.parametrize(("n", "k"), [(200, 2), (150, 3), (40, 4), (15, 5)])
def test_optuna_computes_the_same(n: int, k: int) -> None:
    compute = pytest.importorskip("optuna._hypervolume").compute_hypervolume
    points, reference = random_points(n, k, seed=n), np.ones(k)
    inside = points[(points < reference).all(axis=1)]
    assert hypervolume(points, reference).value == pytest.approx(compute(inside, reference))


def test_many_points_of_three_outcomes_are_worked_out_in_parts() -> None:
    rng = np.random.default_rng(5)
    points = np.abs(rng.normal(size=(3000, 3)))
    points /= np.sqrt((points**2).sum(axis=1, keepdims=True))
    reference = np.full(3, 1.5)
    found = hypervolume(1 - points / 2, reference)
    drawn = sampled(1 - points / 2, reference, 20_000, rng)
    assert abs(found.value - drawn.value) <= 4 * drawn.error


def test_a_sampled_volume_tells_its_error() -> None:
    points = np.array([[0.0, 0.5, 0.5, 0.5], [0.5, 0.0, 0.5, 0.5]])
    reference = np.ones(4)
    truth = by_inclusion(points, reference)
    misses = []
    for seed in range(40):
        found = sampled(points, reference, 4000, np.random.default_rng(seed))
        assert found.error > 0
        misses.append((found.value - truth) / found.error)
    assert np.abs(misses).max() < 4
    assert 0.7 < np.std(misses) < 1.4


def test_too_many_points_of_five_outcomes_are_sampled() -> None:
    rng = np.random.default_rng(3)
    points = rng.dirichlet(np.ones(5), 300)
    found = hypervolume(points, np.ones(5))
    assert 0 < found.error < 0.01 * found.value
    assert hypervolume(points, np.ones(5)) == found


def test_a_point_contributes_what_is_lost_without_it() -> None:
    points = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0], [3.0, 3.0], [1.0, 3.0]])
    assert contributions(points, np.array([4.0, 4.0])).tolist() == [0.0, 1.0, 1.0, 0.0, 0.0]
