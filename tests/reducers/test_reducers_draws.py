"""Random numbers of rows, and the probabilities that keep a share."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reduce_case import number_of
from scipy import stats

from compass.domain.errors import BadInput
from compass.reducers.draws import check_share, choose, key_of, numbers, proportional
from property_examples import examples


@given(
    seed=st.integers(0, 2**32),
    place=st.lists(st.text(max_size=5), max_size=3),
    first=st.integers(0, 2**40),
)
@examples(50)
def test_numbers_are_those_of_whole_numbers_in_python(
    seed: int, place: list[str], first: int
) -> None:
    fast = numbers(key_of(seed, *place), first, 5)
    assert fast.tolist() == [number_of(first + n, seed, *place) for n in range(5)]


@pytest.mark.parametrize("seed", range(5))
def test_numbers_are_uniform_and_without_memory(seed: int) -> None:
    found = numbers(key_of(seed, "file", 0), 0, 100_000)
    assert found.min() >= 0
    assert found.max() < 1
    assert stats.kstest(found, "uniform").pvalue > 1e-3
    # Pairs of neighbours fill the square evenly.
    pairs = np.histogram2d(found[:-1:2], found[1::2], bins=16, range=[[0, 1], [0, 1]])[0]
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-3
    # The lowest bits are as good as the highest.
    low = (found * 2**53).astype(np.int64) % 64
    assert stats.chisquare(np.bincount(low, minlength=64)).pvalue > 1e-3


def test_numbers_of_close_keys_have_nothing_to_do_with_each_other() -> None:
    rows = [numbers(key, 0, 20_000) for key in (0, 1, 2, 3, 2**63)]
    apart = np.corrcoef(rows)[np.triu_indices(5, 1)]
    assert np.abs(apart).max() < 4.5 / np.sqrt(20_000)


@given(cuts=st.lists(st.integers(0, 300), max_size=6))
@examples(30)
def test_numbers_do_not_depend_on_where_batches_are_cut(cuts: list[int]) -> None:
    key = key_of(3, "file")
    edges = [0, *sorted(cuts), 300]
    pieces = [numbers(key, a, b - a) for a, b in pairwise(edges)]
    np.testing.assert_array_equal(np.concatenate(pieces), numbers(key, 0, 300))


def test_keys_tell_places_apart() -> None:
    places = [(1, "ab"), (1, "a", "b"), (11, "b"), (1, "b"), (1,), (1, "a", 1), (1, "a", 11)]
    assert len({key_of(*place) for place in places}) == len(places)


def test_rows_are_kept_that_are_usable_and_drew_a_small_number() -> None:
    rng = np.random.default_rng(0)
    chance, usable = rng.uniform(0.01, 1, 500), (rng.random(500) < 0.7).astype(np.uint8)
    key = key_of(1, "x")
    rows, weights, expected = choose(chance, usable, key, 40)
    wanted = [r for r in range(500) if usable[r] and number_of(40 + r, 1, "x") < chance[r]]
    assert rows.tolist() == wanted
    np.testing.assert_allclose(weights, 1 / chance[wanted])
    assert expected == pytest.approx(chance[usable == 1].sum())


def test_a_chance_of_one_always_keeps() -> None:
    usable = np.ones(10_000, dtype=np.uint8)
    rows, _, _ = choose(np.ones(10_000), usable, key_of(0), 0)
    assert len(rows) == 10_000


@given(
    scores=st.lists(st.floats(0, 1e6), min_size=1, max_size=60),
    keep=st.floats(0.001, 1),
    floor=st.floats(0.05, 1),
)
@examples(150)
def test_chances_have_the_wanted_mean_and_a_floor(
    scores: list[float], keep: float, floor: float
) -> None:
    found = np.array(scores)
    a, b = proportional(found, keep, floor)
    chance = np.minimum(1.0, a + b * found)
    assert chance.mean() == pytest.approx(keep, rel=1e-6)
    assert chance.min() >= floor * keep * (1 - 1e-9)
    assert (np.diff(chance[np.argsort(found)]) >= -1e-12).all()


@pytest.mark.parametrize("keep", [0.0, -0.1, 1.0001, float("nan"), float("inf")])
def test_what_is_no_share_is_told(keep: float) -> None:
    with pytest.raises(BadInput, match="share of rows to keep"):
        check_share(keep)
