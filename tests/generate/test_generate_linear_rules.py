"""Rules that are sums: judged together as one by one, and mended by moving single values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.space import Number, Space
from compass.generate.blocks import ColumnValues
from compass.generate.linear_rules import linear_rules_of
from compass.generate.repair_linear import repair_linear
from compass.language import bind_rule, parse_rule
from compass.rules import Rule, compile_rule
from property_examples import examples

SPACE = Space(
    parameters=(
        Number(name="a", low=0, high=20, step=1),
        Number(name="b", low=-5, high=5),
        Number(name="c", low=0, high=64, step=1),
    )
)
TEXTS = ("a <= 4", "c <= 3 * a", "a + b + c < 30", "c >= a", "a == 2 * c", "b > -2", "c - a > 1")


def rules(texts: list[str]) -> tuple[Rule, ...]:
    return tuple(
        compile_rule(bind_rule(parse_rule(t), SPACE), SPACE, SPACE.names, t) for t in texts
    )


def rows(seed: int, n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.integers(0, 21, n).astype(float),
            np.round(rng.uniform(-5, 5, n), int(seed % 4)),
            rng.integers(0, 65, n).astype(float),
        ]
    )


@examples(60)
@given(st.integers(0, 10_000), st.lists(st.sampled_from(TEXTS), min_size=1, unique=True))
def test_what_surely_holds_does_hold(seed: int, texts: list[str]) -> None:
    made, X = rules(texts), rows(seed)
    sure = linear_rules_of(made, SPACE.names).surely(X)
    for place, rule in enumerate(made):
        assert rule.holds(X[sure[:, place]]).all()
        if rule.linear is not None and rule.linear.op in ("<=", ">="):
            assert sure[rule.holds(X), place].mean() > 0.9 if rule.holds(X).any() else True


@examples(40)
@given(st.integers(0, 10_000), st.lists(st.sampled_from(TEXTS[:4]), min_size=1, unique=True))
def test_nudging_moves_only_to_known_values_and_mends(seed: int, texts: list[str]) -> None:
    made, X = rules(texts), rows(seed)
    values = {0: np.arange(21.0), 2: np.arange(65.0)}
    sums, listed = linear_rules_of(made, SPACE.names), ColumnValues.of(3, values)
    keep = np.zeros(X.shape, dtype=bool)
    chance = np.random.default_rng(seed).random(len(X))
    moved = repair_linear(sums, listed, X, keep, chance)
    assert np.array_equal(moved[:, 1], X[:, 1])
    assert np.isin(moved[:, [0, 2]], np.arange(65.0)).all()
    fine = np.all([rule.holds(X) for rule in made], axis=0)
    assert np.array_equal(moved[fine], X[fine])
    mended = np.all([rule.holds(moved) for rule in made], axis=0)
    assert mended.sum() >= fine.sum()
    assert mended.mean() > 0.5


def test_cells_that_must_stay_are_not_moved() -> None:
    made = rules(["c <= 3 * a"])
    X = np.array([[2.0, 0.0, 60.0]])
    sums = linear_rules_of(made, SPACE.names)
    listed = ColumnValues.of(3, {0: np.arange(21.0), 2: np.arange(65.0)})
    for kept, want in ((0, [2.0, 0.0, 6.0]), (2, [20.0, 0.0, 60.0])):
        keep = np.zeros((1, 3), dtype=bool)
        keep[0, kept] = True
        assert repair_linear(sums, listed, X, keep, np.array([0.3])).tolist() == [want]


def test_turns_say_where_a_sum_becomes_true() -> None:
    made = rules(["c <= 3 * a", "a + b + c < 30"])
    turns = linear_rules_of(made, SPACE.names).turns(np.array([4.0, 1.0, 20.0]))
    assert turns[0, 2] == 12.0
    assert turns[0, 0] == pytest.approx(20 / 3)
    assert np.isnan(turns[0, 1])
    assert turns[1].tolist() == [9.0, 6.0, 25.0]
