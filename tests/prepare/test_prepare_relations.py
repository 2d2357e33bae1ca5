"""How columns depend on each other, against brute force and on tables whose law is known."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.prepare.relations import Formula, explained, formulas, groups_of, ranks_of
from property_examples import examples

RNG = np.random.default_rng(11)


def test_few_values_are_groups_of_their_own_and_missing_cells_one_more() -> None:
    assert groups_of(np.array([4.0, 8.0, np.nan, 4.0])).tolist() == [0, 1, 2, 0]


def test_many_values_are_cut_into_bins_of_like_size() -> None:
    values = RNG.normal(size=1000)
    values[:50] = np.nan
    groups = groups_of(values)
    assert set(groups[:50]) == {groups.max()}
    sizes = np.bincount(groups[50:])
    assert len(sizes) == 10
    assert sizes.min() > 80
    assert (np.diff(groups[50:][np.argsort(values[50:])]) >= 0).all()


def test_ranks_are_standardised_and_equal_values_share_one() -> None:
    ranks = ranks_of(np.array([3.0, 1.0, 1.0, np.nan, 100.0]))
    assert ranks[1] == ranks[2] < ranks[0] < ranks[4]
    assert ranks[3] == 0
    known = ranks[[0, 1, 2, 4]]
    assert known.mean() == pytest.approx(0)
    assert known.std() == pytest.approx(1)
    assert not ranks_of(np.array([2.0, 2.0])).any()


def test_what_groups_explain_is_the_share_of_the_variance_between_them() -> None:
    codes = RNG.integers(0, 4, 500)
    values = np.column_stack([codes + RNG.normal(size=500), RNG.normal(size=500)])
    ranks = np.column_stack([ranks_of(column) for column in values.T])
    share, sure = explained([codes, codes], ranks, [0])
    means = np.array([ranks[codes == group].mean(axis=0) for group in range(4)])
    raw = (np.bincount(codes)[:, None] * means**2).sum(axis=0) / 500
    chance = 3 / 499
    assert share[0] == pytest.approx(np.clip((raw - chance) / (1 - chance), 0, 1), abs=1e-5)
    assert sure[0].tolist() == [True, False]


@pytest.mark.parametrize("rows", [30, 100, 400])
@pytest.mark.parametrize("levels", [2, 5, 8])
def test_independent_columns_are_seldom_said_to_depend(rows: int, levels: int) -> None:
    """Of a hundred pairs not one: chance goes beyond five deviations now and then."""
    rng, wrong = np.random.default_rng(rows * levels), 0
    for _ in range(100):
        codes = [rng.integers(0, levels, rows) for _ in range(5)]
        ranks = np.column_stack([ranks_of(rng.normal(size=rows)) for _ in range(5)])
        wrong += explained(codes, ranks, range(5))[1].sum()
    assert wrong / 2500 < 0.01


def brute(values: np.ndarray) -> set[tuple[str, int, frozenset[int]]]:
    """Every product and sum of two columns, by trying them all."""
    found = set()
    for a, b in combinations(range(values.shape[1]), 2):
        for c in set(range(values.shape[1])) - {a, b}:
            ratio = values[:, c] / (values[:, a] * values[:, b])
            if np.ptp(np.log(ratio)) < 1e-6:
                found.add(("product", c, frozenset((a, b))))
            if np.allclose(values[:, c], values[:, a] + values[:, b], rtol=1e-6):
                found.add(("sum", c, frozenset((a, b))))
    return found


@examples(25)
@given(st.integers(0, 10_000))
def test_formulas_are_those_that_brute_force_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    free = np.exp(rng.normal(size=(60, 4)))
    made = [3.6 * free[:, 0] * free[:, 1], free[:, 2] + free[:, 3], free[:, 0] / free[:, 2]]
    values = np.column_stack([free, *made])[:, rng.permutation(7)]
    found = {(one.kind, one.whole, frozenset(one.parts)) for one in formulas(values)}
    assert found == brute(values)
    assert len(found) == 3


def test_formulas_survive_rounding_and_missing_cells() -> None:
    time, power = np.exp(RNG.normal(size=(2, 300)))
    energy = np.array([float(f"{value:.4g}") for value in time * power])
    energy[::20] = np.nan
    found = formulas(np.column_stack([time, power, energy]))
    assert found == [Formula("product", 2, (0, 1))]


def test_a_total_is_the_sum_of_its_neighbours() -> None:
    phases = np.exp(RNG.normal(size=(100, 5)))
    values = np.column_stack([RNG.normal(size=100) ** 2 + 1, phases, phases.sum(axis=1)])
    assert Formula("sum", 6, (1, 2, 3, 4, 5)) in formulas(values)


def test_what_hardly_varies_is_in_no_formula() -> None:
    time = np.exp(RNG.normal(size=200))
    nearly = 1 + 1e-4 * RNG.normal(size=200)
    assert formulas(np.column_stack([time, nearly, time * 1.0001])) == []


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (5, 3), (30, 1), (30, 2)])
def test_tables_that_are_too_small_have_no_formulas(shape: tuple[int, int]) -> None:
    assert formulas(np.ones(shape)) == []
