"""The set of answers: distinct, cheap, and never less diverse for more weight on diversity."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tasks import SETTINGS, everything, model, task

from compass.domain.target import Target
from compass.generate import loss
from compass.generate.search import LegalSearch
from compass.generate.task import SearchTask
from compass.prepare.geometry import column_distances
from compass.settings import LossWeights, SearchSettings, Settings
from property_examples import examples


def case(seed: int, count: int, diversity: float = 1.0, **more: object) -> SearchTask:
    fitted, observed = model(seed % 3)
    start = everything()[seed * 41 % 900]
    now = float(fitted.predict(start[None, :])[0, 0])
    target = Target(name="y", high=now + 5.0, scale=10.0)
    chosen = SETTINGS.model_copy(update={"loss": LossWeights(diversity=diversity)})
    made = task(fitted, observed, start, target, ("a + b <= 24",), count=count, settings=chosen)
    return replace(made, **more)  # type: ignore[arg-type]


def spread(found: np.ndarray, made: SearchTask) -> float:
    return loss.diversity(found, made.geometry)


@examples(6)
@given(st.integers(0, 300), st.integers(2, 9))
def test_more_weight_never_gives_a_less_diverse_set(seed: int, count: int) -> None:
    weights = (0.0, 0.5, 1.0, 3.0, 10.0, 90.0)
    sets = [LegalSearch.generate(case(seed, count, weight)) for weight in weights]
    found = [spread(one.X, case(seed, count)) for one in sets]
    assert all(b >= a - 1e-12 for a, b in pairwise(found))
    # The first one is the best whatever the weight.
    assert all(np.array_equal(one.X[0], sets[0].X[0]) for one in sets)


@pytest.mark.parametrize("seed", [1, 8, 15])
def test_a_hundred_at_weight_90_are_feasible_distinct_and_more_diverse(seed: int) -> None:
    made = case(seed, 100, 90.0)
    found = LegalSearch.generate(made)
    assert len(found.X) == 100
    assert found.meets.all()
    for rule in made.rules:
        assert rule.holds(found.X).all()
    apart = [
        column_distances(np.delete(found.X, i, axis=0), x, made.geometry).sum(axis=1).min()
        for i, x in enumerate(found.X)
    ]
    assert min(apart) >= made.settings.search.distinct
    plain = LegalSearch.generate(case(seed, 100, 1.0))
    assert spread(found.X, made) >= spread(plain.X, made)


@examples(15)
@given(st.integers(0, 300), st.integers(0, 3), st.floats(1.0, 20.0), st.floats(1.0, 20.0))
def test_a_dearer_parameter_never_moves_farther(
    seed: int, column: int, weight: float, factor: float
) -> None:
    def moved(cost: float) -> float:
        made = case(seed, 1)
        now = float(made.predict(made.start[None, :])["y"][0, 0])
        wanted = Target(name="y", high=0.7 * now, scale=10.0)
        weights = made.geometry.weight.copy()
        weights[column] = cost
        made = replace(made, targets=(wanted,), geometry=replace(made.geometry, weight=weights))
        found = LegalSearch.generate(made)
        return float(column_distances(found.X[:1], made.start, made.geometry)[0, column])

    assert moved(weight * factor) <= moved(weight) + 1e-12


def test_alternatives_near_past_runs_come_before_strange_ones() -> None:
    found = 0
    for seed in range(8):
        made = case(seed, 4)
        plain = LegalSearch.generate(made)
        strange = plain.X[1:]

        def familiar(X: np.ndarray, strange: np.ndarray = strange) -> np.ndarray:
            return ~(X[:, None, :] == strange[None, :, :]).all(axis=2).any(axis=1)

        chosen = LegalSearch.generate(replace(made, familiar=familiar))
        assert np.array_equal(chosen.X[0], plain.X[0])
        assert familiar(chosen.X).all()
        found += len(chosen.X) - 1
    assert found > 8


def test_a_small_budget_keeps_alternatives_cheap() -> None:
    made = case(6, 4)
    tight = SearchSettings(budget=0.05)
    cheap = replace(
        made, settings=Settings(surrogate="forest", forest=SETTINGS.forest, search=tight)
    )
    assert (
        LegalSearch.generate(cheap).proximity.sum()
        <= LegalSearch.generate(made).proximity.sum() + 1e-12
    )
