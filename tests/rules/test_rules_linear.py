import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_reference import SPACE, every_row, rule
from rules_strategies import ORDER, comparisons

from compass.domain.expression import Arithmetic, Comparison, Literal, Name, Negative, Not, names_in
from compass.language import parse_rule
from compass.rules import LinearForm, linear_form
from property_examples import examples

WHOLE = ("a", "b", "c")
COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def says(form, X):
    """What a linear form says about each row."""
    total = np.full(len(X), form.constant)
    for name, coefficient in form.coefficients.items():
        total = total + coefficient * X[:, SPACE.names.index(name)]
    return COMPARE[form.op](total, 0.0)


terms = st.recursive(
    st.one_of(st.sampled_from(WHOLE).map(Name), st.integers(-4, 4).map(Literal)),
    lambda inner: st.one_of(
        st.builds(Arithmetic, st.sampled_from(["+", "-"]), inner, inner),
        st.builds(lambda k, n: Arithmetic("*", Literal(k), n), st.integers(-3, 3), inner),
        st.builds(lambda k, n: Arithmetic("*", n, Literal(k)), st.integers(-3, 3), inner),
        st.builds(lambda k, n: Arithmetic("/", n, Literal(k)), st.sampled_from([1, 2, 4]), inner),
        st.builds(Negative, inner),
    ),
    max_leaves=6,
)


@examples(50)
@given(st.sampled_from(ORDER), terms, terms)
def test_a_sum_has_a_linear_form_that_agrees(op, left, right):
    X = every_row(WHOLE)
    for expression in (Comparison(op, left, right), Not(Comparison(op, left, right))):
        form = linear_form(expression, SPACE)
        assert form is not None
        np.testing.assert_array_equal(says(form, X), rule(expression).holds(X))


@examples(80)
@given(comparisons(WHOLE))
def test_whatever_has_a_linear_form_agrees_with_it(expression):
    form = linear_form(expression, SPACE)
    if form is None:
        return
    X = every_row(WHOLE)
    wanted = rule(expression).holds(X)
    # Coefficients like 0.1 round: look only where the form is clearly on one side.
    total = form.constant + sum(
        c * X[:, SPACE.names.index(name)] for name, c in form.coefficients.items()
    )
    clear = np.broadcast_to(np.abs(total) > 1e-6, len(X))
    np.testing.assert_array_equal(says(form, X)[clear], wanted[clear])
    assert set(form.coefficients) <= set(names_in(expression))


def test_constants_are_folded():
    form = linear_form(parse_rule("gpus <= min(2, 3) ** 2 * nodes / 8 + 1"), _jobs())
    assert form == LinearForm({"gpus": 1.0, "nodes": -0.5}, -1.0, "<=")


def _jobs():
    from compass.domain.space import Number, Space

    return Space(
        parameters=(
            Number(name="gpus", low=0, high=64, step=1),
            Number(name="nodes", low=1, high=16, step=1),
        )
    )


def test_columns_that_cancel_disappear():
    assert linear_form(parse_rule("a + b - a <= 3"), SPACE) == LinearForm({"b": 1.0}, -3.0, "<=")


@pytest.mark.parametrize(
    "text",
    [
        "a * b <= 3",
        "a / b <= 3",
        "a / 0 <= 3",
        "a % 2 == 0",
        "a ** 2 <= 3",
        "max(a, b) <= 3",
        "cap <= 3",
        "kind == 'u'",
        "a in {1, 2}",
        "a <= 3 and b <= 3",
        "a <= 3 -> b <= 3",
        "a <= 1e308 * 1e308",
    ],
)
def test_what_is_not_linear_has_no_form(text):
    assert linear_form(parse_rule(text), SPACE) is None
