from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_reference import SPACE, codes, every_row, rule
from rules_strategies import rules
from test_rules_propagate import JOBS, compiled

from compass.domain.expression import And, names_in
from compass.domain.space import Number, Space
from compass.rules import components, domains_of, legal_tuples
from compass.rules.solve import solvable, solve
from property_examples import examples

GRID = (1, 2, 4, 8, 16, 32, 64)


def grid_space(**columns):
    return Space(
        parameters=tuple(
            Number(name=name, low=values[0], high=values[-1], allowed=values)
            for name, values in columns.items()
        )
    )


@examples(50)
@given(st.lists(rules(), min_size=1, max_size=3), st.data())
def test_exactly_the_combinations_that_obey_are_listed(expressions, data):
    names = names_in(And(tuple(expressions)))[:4]
    compiled_rules = [rule(e) for e in expressions]
    fixed = {}
    if len(names) > 1 and data.draw(st.booleans()):
        fixed = {names[-1]: data.draw(st.sampled_from(codes(SPACE[names[-1]])))}
    free = [name for name in names if name not in fixed]
    X = every_row(names)
    for name, value in fixed.items():
        X = X[X[:, SPACE.names.index(name)] == value]
    for one in compiled_rules:
        if set(one.names) <= set(names):
            X = X[one.holds(X)]
    expected = sorted(map(tuple, X[:, [SPACE.names.index(name) for name in free]]))
    found = legal_tuples(compiled_rules, free, domains_of(SPACE, free), fixed, 100_000)
    assert found is not None
    assert found.shape == (len(expected), len(free))
    np.testing.assert_allclose(found, np.array(expected).reshape(found.shape))


def test_a_product_over_a_large_grid():
    space = grid_space(P=GRID, Q=GRID, R=GRID, ppn=GRID, nodes=GRID)
    rules_ = compiled("P * Q * R == ppn * nodes", space=space)
    found = legal_tuples(rules_, space.names, domains_of(space, space.names), {}, 20_000)
    expected = [t for t in product(GRID, repeat=5) if t[0] * t[1] * t[2] == t[3] * t[4]]
    assert found is not None
    np.testing.assert_array_equal(found, np.array(sorted(expected)))


def test_an_equality_is_solved_instead_of_tried():
    whole = {n: Number(name=n, low=1, high=4096, step=1) for n in ("P", "Q", "R")}
    space = Space(parameters=(*whole.values(), Number(name="ppn", low=1, high=4096, step=1)))
    rules_ = compiled("P * Q * R == ppn", space=space)
    found = legal_tuples(
        rules_, ("P", "Q", "R"), domains_of(space, space.names), {"ppn": 256.0}, 100_000
    )
    assert found is not None
    assert len(found) == 45  # 2 ** 8 as an ordered product of three
    assert (found.prod(axis=1) == 256).all()


def test_the_table_and_not_the_raw_product_is_limited():
    space = grid_space(P=GRID, Q=GRID, R=GRID, ppn=GRID)
    rules_ = compiled("P == Q", "Q == R", "R == ppn", space=space)
    domains = domains_of(space, space.names)
    assert len(legal_tuples(rules_, space.names, domains, {}, 50)) == 7
    assert legal_tuples([], space.names, domains, {}, 2400) is None
    assert len(legal_tuples([], space.names, domains, {}, 2401)) == 2401


def test_a_range_without_end_cannot_be_listed():
    assert legal_tuples([], ("ratio",), domains_of(JOBS, ["ratio"]), {}, 1000) is None
    rules_ = compiled("ratio in {1, 2.5}")
    found = legal_tuples(rules_, ("ratio",), domains_of(JOBS, ["ratio"]), {}, 1000)
    assert found.tolist() == [[1.0], [2.5]]


def test_only_rules_about_these_columns_count():
    domains = domains_of(JOBS, JOBS.names)
    rules_ = compiled("nodes <= 2", "gpus <= nodes", "cores <= gpus")
    assert legal_tuples(rules_, ("nodes",), domains, {}, 100).tolist() == [[1.0], [2.0]]
    found = legal_tuples(rules_, ("nodes",), domains, {"gpus": 2.0}, 100)
    assert found.tolist() == [[2.0]]
    assert legal_tuples(rules_, ("nodes",), domains, {"gpus": 3.0}, 100).shape == (0, 1)


def test_no_columns_at_all():
    rules_ = compiled("nodes <= 2")
    assert legal_tuples(rules_, (), {}, {"nodes": 1.0}, 10).shape == (1, 0)
    assert legal_tuples(rules_, (), {}, {"nodes": 3.0}, 10).shape == (0, 0)


def test_a_table_that_runs_empty_half_way():
    space = grid_space(p=(2, 3), q=(2, 3), r=(2, 3), s=(1, 2))
    rules_ = compiled("p != q", "q != r", "p != r", "s <= p", space=space)
    found = legal_tuples(rules_, space.names, domains_of(space, space.names), {}, 100)
    assert found.shape == (0, 4)


def test_the_level_none_is_a_value():
    rules_ = compiled("cap in {1, none}", space=SPACE)
    found = legal_tuples(rules_, ("cap",), domains_of(SPACE, ["cap"]), {}, 10)
    assert found.tolist() == [[1.0], [SPACE["cap"].none_code]]


def test_columns_that_share_rules_belong_together():
    rules_ = compiled("nodes <= gpus", "cores <= ratio", "gpus <= 4", "threads <= nodes")
    free = ["threads", "cores", "gpus", "ratio", "nodes", "cap"]
    assert components(rules_, free) == [
        ("threads", "gpus", "nodes"),
        ("cores", "ratio"),
        ("cap",),
    ]
    assert components(rules_, ["threads", "gpus"]) == [("threads",), ("gpus",)]
    assert components([], []) == []


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("a * b == c", "a", True),
        ("a - b == -c", "c", True),
        ("c == 2 * (a + 1)", "a", True),
        ("a * a == c", "a", False),
        ("a % b == 0", "a", False),
        ("a * x == c", "a", False),
        ("a == cap", "a", False),
        ("a <= b", "a", False),
        ("a / b == 2", "a", False),
    ],
)
def test_what_can_be_solved(text, name, expected):
    (one,) = compiled(text, space=SPACE)
    assert solvable(one, name) == expected


def test_solving_says_where_anything_goes():
    (one,) = compiled("a * b == c", space=SPACE)
    wanted, anything = solve(one, "b", {"a": np.array([0.0, 2.0]), "c": np.array([0.0, 8.0])})
    assert anything.tolist() == [True, False]
    assert wanted[1] == 4


@pytest.mark.parametrize(
    "text", ["a * b == c", "a - b == c - 2", "c == 2 * (a + b)", "a * b == 0 * c", "-a == b - c"]
)
def test_solved_equalities_give_what_trying_gives(text):
    (one,) = compiled(text, space=SPACE)
    X = every_row(("a", "b", "c"))
    expected = X[one.holds(X)][:, :3]
    found = legal_tuples([one], ("a", "b", "c"), domains_of(SPACE, ("a", "b", "c")), {}, 10_000)
    np.testing.assert_array_equal(found, expected)
