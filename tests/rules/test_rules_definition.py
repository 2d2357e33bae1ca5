"""The definition of obeying a rule, and that arrays are judged the same."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_reference import SPACE, compiled, every_row, rule
from rules_strategies import rules

from compass.domain.expression import names_in
from compass.domain.space import Category, Number, Space
from compass.language import bind_rule, parse_rule
from compass.prepare.encode import Encoder
from compass.rules.definition import obeys
from property_examples import examples


def obeyed(text, space, **config):
    """Whether a configuration obeys the rule that a text states."""
    return obeys(bind_rule(parse_rule(text), space), config, {p.name: p for p in space})


def few(expression):
    return len(names_in(expression)) <= 3


@examples(80)
@given(rules().filter(few))
def test_arrays_are_judged_as_defined(expression):
    X = every_row(names_in(expression), missing=True)
    encoder = Encoder(SPACE)
    parameters = {p.name: p for p in SPACE}
    holds = rule(expression).holds(X)
    for row, found in zip(X, holds, strict=True):
        assert found == obeys(expression, encoder.decode(row), parameters), encoder.decode(row)


TENTHS = Space(
    parameters=(
        Number(name="p", low=-0.4, high=0.4, step=0.1),
        Number(name="q", low=0, high=0.9, allowed=(0, 0.1, 0.3, 0.7, 0.9)),
        Number(name="r", low=0.05, high=1.05, step=0.25),
    )
)
terms = st.lists(
    st.tuples(st.sampled_from([-3, -1, -0.5, 0.1, 1, 2]), st.sampled_from("pqr")),
    min_size=1,
    max_size=4,
)


@examples(120)
@given(
    terms,
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    st.sampled_from([0, 0.1, 0.3, -0.35, 0.7]),
    st.booleans(),
)
def test_sums_of_decimals_are_exact(parts, op, limit, other_way):
    """Moving terms from one side to the other does not change what a rule says."""
    sums = " + ".join(f"{factor} * {name}" for factor, name in parts)
    text = f"{sums} - {limit} {op} 0" if other_way else f"{sums} {op} {limit}"
    space = TENTHS.select(dict.fromkeys(name for _, name in parts))
    found = compiled(text, space)
    X = every_row(space.names, space)
    for row, holds in zip(X, found.holds(X), strict=True):
        exact = dict(zip(space.names, (Fraction(round(v * 100), 100) for v in row), strict=True))
        total = sum(Fraction(str(factor)) * exact[name] for factor, name in parts)
        gap = total - Fraction(str(limit))
        want = {
            "<": gap < 0,
            "<=": gap <= 0,
            ">": gap > 0,
            ">=": gap >= 0,
            "==": gap == 0,
            "!=": gap != 0,
        }[op]
        assert holds == want, (text, row)
        config = {name: float(value) for name, value in exact.items()}
        assert obeyed(text, space, **config) == want, (text, config)


MIXED = Space(
    parameters=(
        Number(name="n", low=-5, high=10**10, step=1),
        Number(name="big", low=0, high=10**9, step=0.1),
        Number(name="x", low=-1, high=1e6),
        Number(name="cap", low=1, high=400, step=1, optional=True),
        Category(name="kind", values=("u", "v", None, True)),
    )
)


@pytest.mark.parametrize(
    ("text", "config", "want"),
    [
        ("n > 0", {"n": 0}, False),
        ("not (n <= 0)", {"n": 0}, False),
        ("not (n <= 0)", {"n": 1}, True),
        ("n < 1000000001", {"n": 1000000000}, True),
        ("big < 1000000000", {"big": 999999999.9}, True),
        ("big < 1000000000", {"big": 1000000000}, False),
        ("x <= 300", {"x": 300.0000001}, True),  # real numbers: within 1e-9 of the larger one
        ("x < 300", {"x": 300.0000001}, False),
        ("x <= 300", {"x": 300.001}, False),
        ("x - 300 <= 0", {"x": 300 * (1 + 1e-13)}, True),
        ("big % 0.1 == 0", {"big": 0.3}, True),
        ("floor(big / 0.1) == 7", {"big": 0.7}, True),
        ("round(big * 100) == 58", {"big": 0.575}, True),
        ("n % 7 == 3", {"n": 9999999999}, 9999999999 % 7 == 3),
        ("n % 7 == 4", {"n": 9999999999}, 9999999999 % 7 == 4),
        ("cap <= 300", {"cap": None}, False),
        ("not cap <= 300", {"cap": None}, True),
        ("cap == none", {"cap": None}, True),
        ("cap <= 300", {}, False),
        ("not cap <= 300", {}, False),
        ("n / (n - n) > 0", {"n": 3}, False),
        ("not n / (n - n) > 0", {"n": 3}, False),
        ("kind == 'u' -> n > 0", {"kind": "v", "n": -1}, True),
        ("kind == 'u' -> n > 0", {"kind": "u", "n": 0}, False),
        ("kind in {'u', none}", {"kind": None}, True),
        ("kind != none", {}, False),
        ("log2(n) == 10", {"n": 1024}, True),
        ("sqrt(n) > 3", {"n": 9}, False),
        ("sqrt(n) > 3", {"n": -1}, False),
        ("n ** 2 == 100000000000000000000", {"n": 10**10}, True),
        ("pow(n, 0.5) <= 3", {"n": 9}, True),
        ("n ** n > 0", {"n": 10**10}, False),  # it has no value that a float could hold
    ],
)
def test_what_a_rule_says(text, config, want):
    space = MIXED.select(names_in(parse_rule(text)))
    assert obeyed(text, space, **config) == want
    encoded = Encoder(space).encode(config, partial=True)
    assert compiled(text, space).holds(encoded[None, :])[0] == want


def test_grids_have_decimals_for_points():
    from compass.prepare.legal import legal_values, snap

    tenths = TENTHS["p"]
    assert legal_values(tenths, 100).tolist() == [-0.4, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4]
    assert snap(tenths, np.array([0.29, -0.31])).tolist() == [0.3, -0.3]
