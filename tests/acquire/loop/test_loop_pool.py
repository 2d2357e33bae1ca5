"""The pool against enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_cases import KERNEL, TILES, TOGETHER, rules_of, space_of

from compass.acquire.loop.pool import Pool, distinct
from compass.domain.errors import ConflictingRules
from property_examples import examples

CHOICES = (
    "a * b <= 8",
    "a % b == 0",
    "a + b <= c",
    "a == b * c",
    "mode == 'x' => a >= 4",
    "b != c",
    "a / b >= 2 or c > 4",
)
SMALL = space_of(a=(1.0, 2.0, 4.0, 8.0), b=(1.0, 2.0, 3.0), c=(0.0, 4.0, 8.0), mode=["x", "y"])


def brute(space, rules):
    values = [range(len(p.values)) if p.kind == "category" else p.allowed for p in space.parameters]
    X = np.array(list(product(*values)), dtype=float)
    for rule in rules:
        X = X[rule.holds(X)]
    return X


@examples(30)
@given(st.lists(st.sampled_from(CHOICES), max_size=3, unique=True))
def test_a_complete_pool_is_what_enumeration_finds(texts):
    rules = rules_of(SMALL, *texts)
    expected = brute(SMALL, rules)
    if not len(expected):
        with pytest.raises(ConflictingRules):
            Pool.of(SMALL, rules, 1000)
        return
    pool = Pool.of(SMALL, rules, 1000)
    assert pool.complete
    np.testing.assert_array_equal(pool.X, expected)


def test_configurations_are_found_in_the_pool():
    pool = Pool.of(KERNEL, rules_of(KERNEL, *TOGETHER), 10_000)
    places = np.array([5, 0, len(pool.X) - 1])
    np.testing.assert_array_equal(pool.find(pool.X[places]), places)
    assert pool.find(np.array([[32.0, 32.0, 1.0, 0.0]])).tolist() == [-1]


def test_neighbours_differ_in_one_parameter_and_are_all_there():
    rules = rules_of(KERNEL, *TOGETHER)
    whole = Pool.of(KERNEL, rules, 10_000)
    drawing = Pool.of(KERNEL, rules, 10)
    assert not drawing.complete
    x = whole.X[40]
    expected = whole.X[(x != whole.X).sum(axis=1) == 1]
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(whole.neighbours(x, rng), expected)
    found = drawing.neighbours(x, rng)
    assert {tuple(row) for row in expected} == {tuple(row) for row in found}


def test_draws_are_legal_and_distinct_where_not_all_can_be_listed():
    space = space_of(
        p=tuple(float(2**k) for k in range(11)),
        q=tuple(float(2**k) for k in range(11)),
        n={"low": 1, "high": 4096, "step": 1},
        share={"low": 0.0, "high": 1.0},
        rate={"low": 1e-6, "high": 1.0},
        mode=["a", "b"],
    )
    rules = rules_of(space, "p * q == n", "share + rate <= 1", "mode == 'b' => n % 3 == 1")
    pool = Pool.of(space, rules, 200)
    assert not pool.complete
    X = pool.draws(300, np.random.default_rng(1))
    assert len(X) > 50
    assert pool.legal(X).all()
    assert len(distinct(X)) == len(X)
    near = pool.neighbours(X[0], np.random.default_rng(2))
    assert len(near)
    assert pool.legal(near).all()


def test_a_space_that_contradicts_its_rules_is_refused():
    space = space_of(a=TILES, b=TILES)
    with pytest.raises(ConflictingRules):
        Pool.of(space, rules_of(space, "a * b > 4096"), 1000)
