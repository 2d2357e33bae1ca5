import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_reference import SPACE, codes, every_row, rule
from rules_strategies import rules

from compass import registry
from compass.domain.errors import ConflictingRules
from compass.domain.expression import And, names_in
from compass.domain.space import Category, Number, Space
from compass.language import bind_rule, parse_rule
from compass.rules import Domain, domains_of, narrow, propagate
from compass.rules.domains import fixed_at, listed, of_values
from property_examples import examples

JOBS = Space(
    parameters=(
        Number(name="nodes", low=1, high=64, step=1),
        Number(name="gpus", low=0, high=256, step=1),
        Number(name="cores", low=1, high=100_000, step=1),
        Number(name="ratio", low=0, high=10),
        Number(name="cap", low=100, high=400, unit="W", optional=True),
        Number(name="threads", low=1, high=64, allowed=(1, 4, 8, 16, 64)),
        Category(name="partition", values=("cpu", "gpu", "big")),
    )
)


def compiled(*texts, space=JOBS):
    return [rule(bind_rule(parse_rule(text), space), space) for text in texts]


def after(*texts, space=JOBS, fixed=None, **changed):
    domains = domains_of(space, space.names) | changed
    return propagate(compiled(*texts, space=space), domains, fixed or {})


def unlisted(space=SPACE):
    """The same domains as grids without a list, so that only intervals can narrow them."""
    found = domains_of(space, space.names)
    for name, domain in found.items():
        parameter = space[name]
        if isinstance(parameter, Number) and parameter.step is not None:
            found[name] = Domain(
                parameter.low, domain.high, None, parameter.step, parameter.low, domain.none
            )
    return found


def member(domain, value):
    if domain.values is not None:
        return bool(np.isclose(domain.values, value, rtol=1e-12, atol=1e-12).any())
    return value == domain.none or domain.low <= value <= domain.high


@examples(100)
@given(
    st.lists(rules(), min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([0, 20_000]),
    st.data(),
)
def test_nothing_that_obeys_all_rules_is_removed(expressions, as_list, cells, data):
    names = names_in(And(tuple(expressions)))[:4]
    expressions = [e for e in expressions if set(names_in(e)) <= set(names)]
    compiled_rules = [rule(e) for e in expressions]
    fixed = {}
    if data.draw(st.booleans()) and names:
        fixed = {names[0]: data.draw(st.sampled_from(codes(SPACE[names[0]])))}
    X = every_row(names)
    for name, value in fixed.items():
        X = X[X[:, SPACE.names.index(name)] == value]
    for one in compiled_rules:
        X = X[one.holds(X)]
    domains = domains_of(SPACE, names) if as_list else {n: unlisted()[n] for n in names}
    before = narrow.CELLS
    narrow.CELLS = cells
    try:
        found = narrow.narrow(compiled_rules, domains, fixed)
    finally:
        narrow.CELLS = before
    if found is None:
        assert len(X) == 0
        return
    for name in names:
        for value in np.unique(X[:, SPACE.names.index(name)]):
            assert member(found[name], value), (name, value)


@examples(40)
@given(rules())
def test_listed_values_of_one_column_are_filtered_exactly(expression):
    names = names_in(expression)
    if len(names) != 1:
        return
    (name,) = names
    X = every_row(names)
    legal = np.unique(X[rule(expression).holds(X)][:, SPACE.names.index(name)])
    found = narrow.narrow([rule(expression)], domains_of(SPACE, names), {})
    left = np.array([]) if found is None else found[name].values
    np.testing.assert_allclose(left, legal)


def test_bounds_move_through_sums_and_products():
    found = after("gpus <= 4 * nodes", "cores == 32 * nodes", fixed={"gpus": 15.0})
    assert (found["nodes"].low, found["nodes"].high) == (4, 64)
    assert (found["cores"].low, found["cores"].high) == (128, 2048)


@pytest.mark.parametrize(
    ("text", "name", "low", "high"),
    [
        ("nodes < 4", "nodes", 1, 3),
        ("nodes > 60.5", "nodes", 61, 64),
        ("2 * cores + 3 <= 100", "cores", 1, 48),
        ("100 - cores >= 30", "cores", 1, 70),
        ("cores / 4 <= 25", "cores", 1, 100),
        ("1000 / cores >= 10", "cores", 1, 100),
        ("cores ** 2 <= 100", "cores", 1, 10),
        ("2 ** cores <= 1024", "cores", 1, 10),
        ("log2(cores) >= 10", "cores", 1024, 100_000),
        ("sqrt(cores) <= 5", "cores", 1, 25),
        ("min(cores, 50) >= 20", "cores", 20, 100_000),
        ("max(cores, 50) <= 70", "cores", 1, 70),
        ("abs(cores - 50) <= 10", "cores", 40, 60),
        ("ceil(cores / 10) == 3", "cores", 21, 30),
        ("floor(cores / 10) == 3", "cores", 30, 39),
        ("cores % 1000 >= 500", "cores", 500, 100_000),
        ("cores in {5, 7, 9}", "cores", 5, 9),
        ("cores + nodes == 2", "cores", 1, 1),
        ("nodes % cores == 0", "cores", 1, 64),
        ("nodes >= 60 and cores <= nodes", "cores", 1, 64),
        ("cores <= 10 or cores <= 20", "cores", 1, 20),
        ("not cores > 10", "cores", 1, 10),
        ("not (cores > 10 or nodes > 3)", "nodes", 1, 3),
        ("nodes >= 1 -> cores <= 7", "cores", 1, 7),
        ("cores <= 7 -> nodes > 64", "cores", 8, 100_000),
        ("ratio <= 2.5", "ratio", 0, 2.5),
        ("ratio == 0.1 * nodes and nodes == 3", "ratio", 0.1 * 3, 0.1 * 3),
        ("ratio in {0.5, 1.5, 99}", "ratio", 0.5, 1.5),
        ("-ratio >= -2", "ratio", 0, 2),
        ("exp(ratio) <= 1", "ratio", 0, 0),
    ],
)
def test_how_a_rule_narrows_a_column(text, name, low, high):
    found = after(text)[name]
    assert found.low == pytest.approx(low, abs=1e-6)
    assert found.high == pytest.approx(high, abs=1e-6)


def test_labels_follow_from_numbers_and_back():
    texts = ("partition == 'cpu' -> gpus == 0", "partition == 'gpu' -> gpus >= 1")
    assert after(*texts, fixed={"gpus": 0.0})["partition"].values.tolist() == [0, 2]
    assert after(*texts, fixed={"partition": 0.0})["gpus"].values.tolist() == [0]
    assert after(*texts, fixed={"partition": 1.0})["gpus"].low == 1


def test_the_level_none_goes_when_a_number_is_needed():
    assert after("cap <= 300")["cap"].none is None
    assert after("cap <= 300")["cap"].high == 300
    assert after("cap != none")["cap"].none is None
    only = after("cap == none")["cap"]
    assert only.values.tolist() == [JOBS["cap"].none_code]
    kept = after("not cap <= 300")["cap"]
    assert kept.none == JOBS["cap"].none_code
    assert after("cap <= 300 -> nodes <= 4", fixed={"cap": kept.none})["nodes"].high == 64
    assert after("cap <= 300 -> nodes <= 4", fixed={"cap": 200.0})["nodes"].high == 4
    assert after("cap + 10 != none")["cap"].none is None
    both = after("cap in {200, none}")["cap"]
    assert both.none is not None


def test_a_column_without_a_domain_may_be_anything():
    rules_ = compiled("cores <= ratio * nodes")
    found = propagate(rules_, domains_of(JOBS, ["nodes"]), {"cores": 50.0})
    assert list(found) == ["nodes"]
    assert (found["nodes"].low, found["nodes"].high) == (1, 64)


def test_a_missing_fixed_value_makes_its_rule_impossible():
    with pytest.raises(ConflictingRules, match="gpus is missing, so gpus <= nodes cannot hold"):
        after("gpus <= nodes", fixed={"gpus": math.nan})
    assert after("gpus <= nodes or cores <= 4", fixed={"gpus": math.nan})["cores"].high == 4


def test_registered_rules_are_tried_where_values_are_listed():
    @registry.add("rule", "odd")
    def odd(values):
        return values % 2 == 1

    try:
        assert after("odd(nodes)")["nodes"].values.tolist() == list(range(1, 65, 2))
        assert after("odd(cores)")["cores"].high == 100_000
    finally:
        registry.remove("rule", "odd")


def test_a_chase_of_bounds_stops():
    found = after("cores < ratio * 10000", "ratio * 10000 < cores + 0.001")
    assert found["cores"].low <= found["cores"].high


def test_grids_are_written_in_decimals_and_rounded_inwards():
    space = Space(parameters=(Number(name="f", low=0.1, high=2.0, step=0.1),))
    domain = domains_of(space, ["f"])["f"]
    assert domain.values.tolist()[:4] == [0.1, 0.2, 0.3, 0.4]
    assert len(domain.values) == 20
    assert domain.clip((0.25, 0.65)).values.tolist() == [0.3, 0.4, 0.5, 0.6]
    wide = Domain(0, math.inf, None, 3.0, 1.0)
    assert (wide.clip((2, 20_000)).low, wide.clip((2, 20_000)).high) == (4, 19_999)
    assert wide.clip((2, 11)).values.tolist() == [4, 7, 10]


def test_domains_count_list_and_join():
    assert Domain(0, 1).count == math.inf
    assert Domain(2, 2).count == 1
    assert listed(Domain(2, 2, none=9.0)).values.tolist() == [2, 9]
    assert Domain(1, 0, none=9.0).count == 1
    assert Domain(1, 10, step=1.0, origin=1.0).count == 10
    assert of_values(np.array([]), None).empty
    joined = of_values(np.array([1.0, 2.0]), None).join(of_values(np.array([2.0, 9.0]), 9.0))
    assert joined.values.tolist() == [1, 2, 9]
    assert (joined.low, joined.high, joined.none) == (1, 2, 9)
    mixed = Domain(5, 10, step=1.0).join(of_values(np.array([1.0]), None))
    assert (mixed.low, mixed.high, mixed.values) == (1, 10, None)
    assert fixed_at(7.0, SPACE["cap"]).none is None
    assert fixed_at(SPACE["cap"].none_code, SPACE["cap"]).none == SPACE["cap"].none_code


def test_allowed_values_and_none_are_listed():
    space = Space(parameters=(Number(name="t", low=2, high=8, allowed=(2, 4, 8), optional=True),))
    domain = domains_of(space, ["t"])["t"]
    assert domain.values.tolist() == [2, 4, 8, space["t"].none_code]
    assert (domain.low, domain.high, domain.none) == (2, 8, space["t"].none_code)
