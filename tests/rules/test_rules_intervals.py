import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compass.rules import intervals
from compass.rules.functions import BUILT_IN
from compass.rules.intervals import BACKWARD, EVERYTHING, FORWARD
from compass.rules.trees import _ARITHMETIC
from compass.rules.values import _COMPUTE
from property_examples import examples

reals = st.one_of(st.integers(-6, 6).map(float), st.floats(-50, 50))
spans = st.tuples(reals, reals).map(lambda pair: (min(pair), max(pair)))
shares = st.floats(0, 1)


def inside(span, share):
    return min(max(span[0] + share * (span[1] - span[0]), span[0]), span[1])


def computed(function, *values):
    with np.errstate(all="ignore"):
        return float(function(*(np.asarray(v) for v in values)))


@examples(150)
@given(st.sampled_from(["+", "-", "*", "/", "%", "**"]), spans, spans, shares, shares)
def test_arithmetic_stays_inside_its_interval(op, a, b, s, t):
    x, y = inside(a, s), inside(b, t)
    result = computed(_COMPUTE[op], x, y)
    assume(math.isfinite(result))
    found = _ARITHMETIC[op](a, b)
    assert found is not None
    assert found[0] <= result <= found[1]


@examples(150)
@given(st.sampled_from(sorted(FORWARD)), spans, shares)
def test_functions_stay_inside_their_interval_and_lead_back(name, a, s):
    x = inside(a, s)
    result = computed(BUILT_IN[name].compute, x)
    assume(math.isfinite(result))
    found = FORWARD[name](a)
    assert found is not None
    assert found[0] <= result <= found[1]
    back = BACKWARD[name]((result, result))
    assert back is not None
    assert back[0] <= x <= back[1]


@examples(100)
@given(spans, spans, shares, shares)
def test_a_factor_leads_back(a, b, s, t):
    x, y = inside(a, s), inside(b, t)
    assume(x == 0 or abs(x * y) > 1e-200 or y == 0)
    found = intervals.factor((x * y, x * y), b)
    assert found is not None
    assert found[0] <= x <= found[1]


@examples(100)
@given(spans, shares, st.sampled_from([-3.0, -2.0, -1.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]))
def test_a_base_leads_back(a, s, exponent):
    x = inside(a, s)
    result = computed(np.power, x, exponent)
    assume(math.isfinite(result) and abs(result) > 1e-200)
    found = intervals.base((result, result), exponent, a)
    assert found is not None
    assert found[0] <= x <= found[1]


@examples(100)
@given(st.sampled_from([0.25, 0.5, 2.0, 10.0]), st.floats(-20, 20))
def test_an_exponent_leads_back(constant, x):
    result = constant**x
    found = intervals.exponent_of((result, result), constant)
    assert found is not None
    assert found[0] <= x <= found[1]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (intervals.multiply((2, 3), (-1, 4)), (-3, 12)),
        (intervals.multiply((0, math.inf), (0, 0)), (0, 0)),
        (intervals.add((-math.inf, 1), (2, math.inf)), EVERYTHING),
        (intervals.divide((1, 2), (0, 0)), None),
        (intervals.divide((1, 2), (-1, 1)), EVERYTHING),
        (intervals.divide((4, 8), (2, 4)), (1, 4)),
        (intervals.modulo((0, 2), (4, 8)), (0, 2)),
        (intervals.modulo((0, 20), (4, 8)), (0, 8)),
        (intervals.modulo((-5, 5), (-3, -2)), (-3, 0)),
        (intervals.modulo((1, 2), (0, 0)), None),
        (intervals.meet((0, 1), (2, 3)), None),
        (intervals.absolute((-3, 2)), (0, 3)),
        (FORWARD["log"]((-2, -1)), None),
        (FORWARD["sqrt"]((-2, -1)), None),
        (BACKWARD["abs"]((-2, -1)), None),
        (intervals.power((-2, -1), (0.5, 0.5)), None),
        (intervals.power((-2, 1), (0, 2)), EVERYTHING),
        (intervals.base((-4, -1), 2.0, EVERYTHING), None),
        (intervals.exponent_of((-4, -1), 2.0), None),
    ],
)
def test_particular_intervals(found, expected):
    assert found == expected


def test_dividing_by_what_touches_zero_is_open_on_one_side():
    low, high = intervals.divide((4, 8), (0, 2))
    assert low == pytest.approx(2)
    assert high == math.inf


def test_bounds_too_large_for_a_number_are_infinite():
    assert BACKWARD["sqrt"]((1e200, math.inf)) == (math.inf, math.inf)
    assert BACKWARD["sqrt"]((0.0, 1e200)) == (0.0, math.inf)
    assert BACKWARD["log"]((0.0, 1e6))[1] == math.inf
