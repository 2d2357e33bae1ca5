"""The set found in a pool is compared with every set of the pool."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.generate import loss
from compass.generate.base import Floats
from compass.generate.least_set import least_set, spread_firsts
from compass.prepare.geometry import Geometry
from property_examples import examples

GEOMETRY = Geometry(
    scale=np.array([2.0, 1.0, 1.0]),
    weight=np.ones(3),
    category=np.array([False, False, True]),
    none=np.full(3, np.nan),
)


def pool(seed: int, size: int = 14) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 4, size=(size, 3)).astype(np.float64), axis=0)
    return X, rng.exponential(1.0, len(X))


def total(X: Floats, cost: Floats, chosen: tuple[int, ...], diversity: float) -> float:
    return float(cost[list(chosen)].sum()) - diversity * loss.diversity(X[list(chosen)], GEOMETRY)


@examples(60)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 4), diversity=st.sampled_from([0, 1, 6]))
def test_it_is_the_best_of_all_sets(seed: int, count: int, diversity: float) -> None:
    X, cost = pool(seed)
    firsts = spread_firsts(X, cost, np.arange(3), 16)
    chosen = least_set(X, cost, count, diversity, GEOMETRY, firsts)
    assert len(set(chosen.tolist())) == count
    every = [total(X, cost, some, diversity) for some in combinations(range(len(X)), count)]
    found = total(X, cost, tuple(chosen), diversity)
    # Replacing one member at a time may end in a set that is a little worse than the best.
    assert found <= min(every) + 0.02 * (max(every) - min(every))


def test_a_pool_that_is_too_small_is_the_set() -> None:
    X, cost = pool(3)
    assert sorted(least_set(X, cost, 50, 1.0, GEOMETRY)) == list(range(len(X)))


def test_without_diversity_it_is_the_cheapest() -> None:
    X, cost = pool(4)
    chosen = least_set(X, cost, 3, 0.0, GEOMETRY)
    assert cost[chosen].tolist() == sorted(cost)[:3]


def test_it_starts_from_what_it_is_given_and_never_gets_worse() -> None:
    X, cost = pool(5)
    first = [0, 1, 2]
    chosen = least_set(X, cost, 3, 4.0, GEOMETRY, [first])
    assert total(X, cost, tuple(chosen), 4.0) <= total(X, cost, tuple(first), 4.0)
    again = least_set(X, cost, 3, 4.0, GEOMETRY, [chosen.tolist()])
    assert sorted(again) == sorted(chosen)


@pytest.mark.parametrize("starts", [0, 4, 100])
def test_beginnings_are_places_in_the_pool(starts: int) -> None:
    X, cost = pool(6)
    firsts = spread_firsts(X, cost, np.arange(3), starts)
    assert firsts[0] == []
    assert all(0 <= place < len(X) for first in firsts for place in first)
