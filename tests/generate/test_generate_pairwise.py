"""PairwiseSearch against brute force: every point of a plane predicted and judged on its own."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tasks import SPACE, everything, model, task

from compass.domain.target import Target
from compass.generate import loss
from compass.generate.base import Floats
from compass.generate.blocks import blocks
from compass.generate.pairwise import pairwise_search, reaching
from compass.generate.score import order, score
from compass.generate.task import SearchTask
from compass.prepare.geometry import column_costs
from property_examples import examples

RULES = ("a + b <= 20", "c == 'x' -> d >= 1", "a % 2 == 0 or b >= 2")


def cases(seed: int, rules: tuple[str, ...] = (), **more: object) -> SearchTask:
    fitted, observed = model(seed % 3)
    start = everything()[seed * 37 % 900]
    now = float(fitted.predict(start[None, :])[0, 0])
    target = Target(name="y", high=0.6 * now, scale=10.0)
    return task(fitted, observed, start, target, rules, **more)  # type: ignore[arg-type]


def points(x: Floats, a: int, b: int) -> Floats:
    """Every legal configuration that differs from x in the columns a and b alone."""
    rest = [c for c in range(4) if c not in (a, b)]
    return everything()[(everything()[:, rest] == x[rest]).all(axis=1)]


def key(case: SearchTask, X: Floats) -> tuple[float, ...]:
    scored = score(case, X)
    best = order(case, scored)[0]
    return (
        float(scored.violation[best]),
        float(scored.valid[best]),
        float(scored.preference[best]),
        float(scored.proximity[best]),
    )


@examples(25)
@given(st.integers(0, 200), st.lists(st.sampled_from(RULES), unique=True))
def test_the_best_of_every_plane_is_what_brute_force_finds(seed: int, rules: list[str]) -> None:
    case = cases(seed, tuple(rules))
    search = pairwise_search(case, blocks(case))
    assert search is not None
    moved = search.around(case.start)
    for a, b in combinations(range(4), 2):
        brute = points(case.start, a, b)
        brute = brute[score(case, brute).violation == 0]
        rest = [c for c in range(4) if c not in (a, b)]
        mine = moved[(moved[:, rest] == case.start[rest]).all(axis=1)]
        if len(brute):
            assert len(mine)
            assert key(case, mine) <= tuple(np.add(key(case, brute), 1e-9))


@examples(20)
@given(st.integers(0, 200), st.lists(st.sampled_from(RULES), unique=True))
def test_the_best_of_every_line_is_what_brute_force_finds(seed: int, rules: list[str]) -> None:
    case = cases(seed, tuple(rules))
    search = pairwise_search(case, blocks(case))
    assert search is not None
    moved = search.along(case.start)
    assert ((moved != case.start).sum(axis=1) <= 1).all()
    for column in range(4):
        rest = [c for c in range(4) if c != column]
        brute = everything()[(everything()[:, rest] == case.start[rest]).all(axis=1)]
        brute = brute[score(case, brute).violation == 0]
        mine = moved[(moved[:, rest] == case.start[rest]).all(axis=1)]
        if len(brute):
            assert len(mine)
            assert key(case, mine) <= tuple(np.add(key(case, brute), 1e-9))


@examples(15)
@given(st.integers(0, 200))
def test_a_reach_leaves_out_what_costs_as_much(seed: int) -> None:
    case = cases(seed)
    search = pairwise_search(case, blocks(case))
    assert search is not None
    near = loss.proximity(search.around(case.start, 0.7), case.start, case.geometry)
    assert (near < 0.7).all()


@examples(15)
@given(st.integers(0, 200), st.sampled_from([(), RULES[:1], RULES]))
def test_after_a_descent_no_two_parameters_improve(seed: int, rules: tuple[str, ...]) -> None:
    case = cases(seed, rules)
    legal = everything()[score(case, everything()).violation == 0]
    incumbent = score(case, legal[seed % len(legal)][None, :])
    search = pairwise_search(case, blocks(case))
    assert search is not None
    end = search.descend(incumbent)
    assert end.violation[0] == 0
    for a, b in combinations(range(4), 2):
        assert key(case, end.X) <= tuple(np.add(key(case, points(end.X[0], a, b)), 1e-9))


def test_classes_maximum_and_margins_are_judged_as_in_a_full_score() -> None:
    case = cases(3)
    for target, proximity in [
        (Target(name="y", direction="maximize", scale=10.0), True),
        (Target(name="y", direction="minimize", scale=10.0), False),
        (Target(name="y", low=20.0, high=60.0, scale=10.0), False),
    ]:
        here = replace(case, targets=(target,), proximity=proximity)
        search = pairwise_search(here, blocks(here))
        assert search is not None
        moved = search.around(here.start)
        brute = np.concatenate([points(here.start, *p) for p in combinations(range(4), 2)])
        both = score(here, np.concatenate([moved, brute]))
        assert order(here, both)[0] < len(moved) or np.isclose(
            score(here, moved).preference.min(), score(here, brute).preference.min()
        )


def test_reaching_asks_for_the_best_value_within_the_tolerance() -> None:
    case = replace(cases(5), targets=(Target(name="y", direction="minimize", scale=10.0),))
    best = score(case, everything())
    best = best.take(order(case, best)[:1])
    (target,) = reaching(case, best).targets
    value = float(case.predict(best.X)["y"][0, 0])
    assert target.direction is None
    assert target.high == pytest.approx(value + 0.01 * abs(value))


@examples(20)
@given(st.integers(0, 899), st.integers(0, 3))
def test_column_costs_add_up_to_the_proximity(row: int, column: int) -> None:
    case = cases(11, weight=(1.0, 2.0, 0.5, 3.0))
    x = case.start.copy()
    x[column] = everything()[row, column]
    want = loss.proximity(x[None, :], case.start, case.geometry)
    assert column_costs(x[[column]], case.start, column, case.geometry) == pytest.approx(want)


def test_a_model_without_trees_has_no_planes() -> None:
    case = cases(2)

    class Formula:
        parts = None

        def __call__(self, X: Floats) -> dict[str, Floats]:
            return {"y": X[:, :1]}

        def edges(self, column: int) -> None:
            return None

    bare = replace(case, predict=Formula())
    assert pairwise_search(bare, blocks(bare)) is None
    assert SPACE.names == case.space.names
