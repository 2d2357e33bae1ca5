import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_reference import MISSING, SPACE, compiled, every_row, natural, one, rule, truth, value
from rules_strategies import rules

from compass.domain.errors import RuleProblem, UnknownName
from compass.domain.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Implies,
    Literal,
    Membership,
    Name,
    Not,
    Or,
    names_in,
)
from compass.domain.space import Category, Number, Space
from compass.language import parse_rule
from compass.rules import compile_rule
from property_examples import examples


def rows_of(expression):
    return every_row(names_in(expression)[:4], missing=True)


def small(expression):
    """A rule whose columns are few enough to try everything."""
    return len(names_in(expression)) <= 4


@examples(60)
@given(rules().filter(small))
def test_a_rule_means_the_same_as_row_by_row(expression):
    X = rows_of(expression)
    holds = rule(expression).holds(X)
    for row, found in zip(X, holds, strict=True):
        if not _around_the_circle(expression, natural(row)):
            assert found == (truth(expression, natural(row)) is True)


def _around_the_circle(expression, row):
    """Whether a residue sits on the seam of the circle, which the row by row reading ignores."""
    match expression:
        case Comparison(_, left, right):
            for side in (left, right):
                if isinstance(side, Arithmetic) and side.op == "%":
                    numbers = [value(n, row) for n in (side.left, side.right)]
                    if MISSING not in numbers and not all(
                        isinstance(n, float) and (2 * n).is_integer() for n in numbers
                    ):
                        return True
            return False
        case And(operands) | Or(operands):
            return any(_around_the_circle(o, row) for o in operands)
        case Not(operand):
            return _around_the_circle(operand, row)
        case Implies(a, b):
            return _around_the_circle(a, row) or _around_the_circle(b, row)
        case _:
            return False


@examples(60)
@given(rules().filter(small))
def test_the_violation_is_zero_exactly_where_the_rule_holds(expression):
    X = rows_of(expression)
    found = rule(expression)
    amount = found.violation(X)
    assert amount.dtype == np.float64
    assert amount.shape == (len(X),)
    assert np.isfinite(amount).all()
    np.testing.assert_array_equal(amount == 0, found.holds(X))
    assert (amount >= 0).all()


@examples(30)
@given(rules(), rules())
def test_de_morgan(first, second):
    pairs = [
        (Not(And((first, second))), Or((Not(first), Not(second)))),
        (Not(Or((first, second))), And((Not(first), Not(second)))),
        (Implies(first, second), Or((Not(first), second))),
        (Not(Not(first)), first),
    ]
    for one_way, other in pairs:
        if not small(one_way):
            continue
        X = rows_of(one_way)
        np.testing.assert_array_equal(rule(one_way).holds(X), rule(other).holds(X))
        np.testing.assert_array_equal(rule(one_way).violation(X), rule(other).violation(X))


@examples(30)
@given(rules().filter(small))
def test_a_rule_and_its_negation_never_both_hold(expression):
    X = rows_of(expression)
    positive, negative = rule(expression).holds(X), rule(Not(expression)).holds(X)
    assert not (positive & negative).any()


@pytest.mark.parametrize(
    ("text", "row", "amount"),
    [
        ("a <= b", {"a": 5, "b": 2}, 3),
        ("a < b", {"a": 2, "b": 2}, 1),
        ("a < b", {"a": 4, "b": 2}, 3),
        ("a >= 4 * b", {"a": 1, "b": 3}, 11),
        ("a == b", {"a": 1, "b": 4}, 3),
        ("a != b", {"a": 2, "b": 2}, 1),
        ("a in {1, 5}", {"a": 3}, 2),
        ("a in {1, 5}", {"a": 4}, 1),
        ("not a in {1, 5}", {"a": 5}, 1),
        ("a % 4 == 0", {"a": 3}, 1),
        ("a % 4 == 0", {"a": 2}, 2),
        ("a % 5 == 4", {"a": 0}, 1),
        ("kind == 'u'", {"kind": 1}, 1),
        ("a <= 1 and b <= 1", {"a": 3, "b": 4}, 5),
        ("a <= 1 or b <= 1", {"a": 3, "b": 4}, 2),
        ("a >= 2 -> b >= 3", {"a": 5, "b": 1}, 2),
        ("a >= 2 -> b >= 3", {"a": 2, "b": 1}, 1),
    ],
)
def test_how_far_a_rule_is_from_holding(text, row, amount):
    assert one(text, **row) == (False, amount)


def test_a_strict_bound_of_real_numbers_is_missed_at_equality():
    holds, amount = one("x < 1", x=1.0)
    assert not holds
    assert 0 < amount < 1e-3


@pytest.mark.parametrize(
    ("text", "row", "holds"),
    [
        ("min(a, b) == 2", {"a": 2, "b": 4}, True),
        ("max(a, b, c) == 8", {"a": 2, "b": 4, "c": 8}, True),
        ("abs(x) == 1.5", {"x": -1.5}, True),
        ("log2(c) == 3", {"c": 8}, True),
        ("log(exp(x)) == x", {"x": 1.5}, True),
        ("log10(10 ** a) == a", {"a": 3}, True),
        ("sqrt(a) == 2", {"a": 4}, True),
        ("ceil(a / b) == 2", {"a": 3, "b": 2}, True),
        ("floor(a / b) == 1", {"a": 3, "b": 2}, True),
        ("round(x) == 2", {"x": 1.5}, True),
        ("pow(b, 2) == 9", {"b": 3}, True),
        ("-a == 0 - a", {"a": 3}, True),
        ("a / (b - 2) >= 0", {"a": 3, "b": 2}, False),
        ("not a / (b - 2) >= 0", {"a": 3, "b": 2}, False),
        ("a % (b - 2) == 0", {"a": 4, "b": 2}, False),
        ("log(x) <= 5", {"x": -1}, False),
        ("not log(x) <= 5", {"x": -1}, False),
        ("sqrt(x) >= 0", {"x": -1}, False),
        ("x ** 0.5 >= 0", {"x": -1}, False),
        ("exp(exp(exp(a))) > 0", {"a": 5}, False),
        ("b != 2 -> a / (b - 2) >= 0", {"a": 3, "b": 2}, True),
    ],
)
def test_functions_and_what_has_no_value(text, row, holds):
    assert one(text, **row)[0] == holds


def test_equality_of_real_numbers_forgives_rounding_and_whole_numbers_do_not():
    space = Space(
        parameters=(
            Number(name="p", low=0, high=1),
            Number(name="q", low=0, high=10),
            Number(name="id", low=0, high=1e12, step=1),
        )
    )
    assert one("p == 0.1 * q", space, p=0.3, q=3)[0]
    assert one("p >= 0.1 * q", space, p=0.3, q=3)[0]
    assert not one("p < 0.1 * q", space, p=0.3, q=3)[0]
    assert one("p % 0.1 == 0", space, p=0.3)[0]
    assert not one("p % 0.1 == 0", space, p=0.35)[0]
    assert not one("id == 10000000000", space, id=10_000_000_001)[0]
    assert one("id > 10000000000", space, id=10_000_000_001)[0]


def test_a_residue_that_cannot_be_reached_is_never_met():
    for a in range(6):
        assert not one("a % 4 == 5", a=a)[0]
        assert not one("a % 4 == 4", a=a)[0]
        assert one("a % 4 != 5", a=a)[0]


@pytest.mark.parametrize(
    ("text", "with_none", "with_2", "missing"),
    [
        ("cap == none", True, False, False),
        ("cap != none", False, True, False),
        ("cap <= 3", False, True, False),
        ("cap > 3", False, False, False),
        ("not cap <= 3", True, False, False),
        ("cap == 2", False, True, False),
        ("cap != 2", True, False, False),
        ("cap <= 3 -> a >= 4", True, False, False),
        ("cap in {2, none}", True, True, False),
        ("cap in {1, 2}", False, True, False),
        ("not cap in {1, 2}", True, False, False),
        ("cap + 1 <= 9", False, True, False),
        ("a != none", True, True, True),
        ("mode != none", True, True, True),
    ],
)
def test_the_level_none_equals_only_none(text, with_none, with_2, missing):
    none = SPACE["cap"].none_code
    assert one(text, cap=none, a=1, mode=0)[0] == with_none
    assert one(text, cap=2, a=1, mode=0)[0] == with_2
    assert one(text, cap=math.nan, a=1, mode=0)[0] == missing


def test_labels_of_two_categories_are_compared_by_name():
    assert one("kind == mode", kind=0, mode=1)[0]  # u, u
    assert not one("kind == mode", kind=0, mode=0)[0]  # u, v
    assert not one("kind == mode", kind=2, mode=2)[0]  # w, none
    assert one("kind != mode", kind=2, mode=2)[0]
    assert one("mode == none", mode=2)[0]


def test_a_flag_is_true_or_one():
    space = Space(
        parameters=(
            Category(name="padded", values=(False, True)),
            Number(name="cached", low=0, high=1, step=1),
            Number(name="nodes", low=1, high=4, step=1),
        )
    )
    assert one("padded", space, padded=1)[0]
    assert one("not padded", space, padded=0)[0]
    assert one("cached", space, cached=1)[0]
    assert not one("cached == true", space, cached=0)[0]
    with pytest.raises(RuleProblem, match="true is not a number"):
        compiled("nodes == true", space)


def test_a_rule_without_columns_and_an_empty_matrix():
    always = compile_rule(Literal(True), SPACE, SPACE.names)
    X = every_row(("a",))
    assert always.holds(X).all()
    assert compiled("1 < 0").violation(X).tolist() == [2.0] * len(X)
    assert compiled("a <= b").holds(np.empty((0, len(SPACE)))).shape == (0,)


def test_columns_may_stand_in_any_order():
    found = compiled("a <= b", columns=("b", "a"))
    assert found.holds(np.array([[1.0, 2.0], [2.0, 1.0]])).tolist() == [False, True]
    assert found.names == ("a", "b")
    assert found.text == "a <= b"


def test_text_may_be_given():
    assert compile_rule(parse_rule("a<=b"), SPACE, SPACE.names, "as written").text == "as written"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("kind < 'u'", "kind is a category: its labels have no order", "kind =="),
        ("kind + 1 <= 2", "kind is a category: it cannot be used as a number", "label"),
        ("kind == a", "kind is a category and a is a number", "labels"),
        ("a == 'many'", "'many' is not a number", "numbers"),
        ("a in {'many'}", "'many' is not a number", "numbers"),
        ("nosuch(a) <= 1", "no function named 'nosuch'", "there are: min, max"),
        ("mn(a) <= 1", "no function named 'mn'", "did you mean min"),
        ("sqrt(a, b) <= 1", "sqrt takes 1 value, not 2", "sqrt"),
        ("pow(a) <= 1", "pow takes 2 values, not 1", "pow(x, 2)"),
        ("min() <= 1", "min takes at least 1 value, not 0", "min(x, y)"),
        ("abs(a)", "abs(a) is a value, not a rule", "compare"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(text, message, hint):
    with pytest.raises(RuleProblem) as caught:
        rule(parse_rule(text))
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (Comparison("~", Name("a"), Literal(1)), "not a comparison"),
        (Comparison("<", Arithmetic("@", Name("a"), Literal(1)), Literal(1)), "not arithmetic"),
        (Comparison("<", Name("a"), Literal(1, "s")), "unit"),
        (Comparison("<", Comparison("<", Name("a"), Literal(1)), Literal(1)), "is a condition"),
        (Membership(Name("a"), ()), "can never hold"),
        (Name("kind"), "is a value, not a rule"),
    ],
)
def test_a_tree_that_makes_no_sense_is_refused(expression, message):
    with pytest.raises(RuleProblem, match=message):
        rule(expression)


def test_unknown_labels_and_columns_offer_the_nearest():
    with pytest.raises(UnknownName) as caught:
        rule(Comparison("==", Name("kind"), Literal("uu")))
    assert caught.value.message == "no value of kind named 'uu'"
    assert caught.value.hint == "did you mean u?"
    with pytest.raises(UnknownName, match="no value of kind named 'z'"):
        rule(Membership(Name("kind"), (Literal("z"),)))
    with pytest.raises(UnknownName, match="no column named 'capp'"):
        rule(Comparison("==", Name("capp"), Literal(1)))
    with pytest.raises(UnknownName, match="no column named 'b'"):
        compiled("a <= b", columns=("a",))


def test_a_matrix_with_other_columns_is_refused():
    with pytest.raises(RuleProblem, match="does not have the 7 columns"):
        compiled("a <= b").holds(np.zeros((2, 3)))


@examples(30)
@given(st.floats(-1e308, 1e308), st.floats(-1e308, 1e308))
def test_amounts_stay_finite_however_large_the_numbers(p, q):
    space = Space(
        parameters=(
            Number(name="p", low=-1e308, high=1e308),
            Number(name="q", low=-1e308, high=1e308),
        )
    )
    for op in ("<", "<=", "==", "!="):
        text = f"p {op} q and p {op} q + 1"
        holds, amount = one(text, space, p=p, q=q)
        assert math.isfinite(amount)
        assert holds == (amount == 0)


def test_calls_inside_conditions_see_whole_tables():
    expression = Comparison("<=", Call("max", (Name("a"), Name("b"))), Literal(3))
    X = every_row(("a", "b"))
    expected = np.maximum(X[:, 0], X[:, 1]) <= 3
    np.testing.assert_array_equal(rule(expression).holds(X), expected)
