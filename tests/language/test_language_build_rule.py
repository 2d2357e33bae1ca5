"""What the words and signs of a rule become, tree by tree."""

import pytest

from compass.domain.errors import QuerySyntax
from compass.domain.expression import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Implies,
    Literal,
    Membership,
    Name,
    Negative,
    Not,
    Or,
)
from compass.domain.units import UNITS
from compass.language import parse_rule

a, b, c = Name("a"), Name("b"), Name("c")
small_a, small_b = Comparison("<", a, Literal(1)), Comparison("<", b, Literal(1))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a < 1", small_a),
        ("a ≤ b", Comparison("<=", a, b)),
        ("a ≥ b", Comparison(">=", a, b)),
        ("a ≠ b", Comparison("!=", a, b)),
        ("a = b", Comparison("==", a, b)),
        ("a: 3", Comparison("==", a, Literal(3))),
        ("a: big-mem", Comparison("==", a, Literal("big-mem"))),
        ("a: != 3", Comparison("!=", a, Literal(3))),
        ("1 < a <= 3", And((Comparison("<", Literal(1), a), Comparison("<=", a, Literal(3))))),
        ("a == b == c", And((Comparison("==", a, b), Comparison("==", b, c)))),
        ("a < 1 and b < 1 or a < 1", Or((And((small_a, small_b)), small_a))),
        ("not a < 1 and b < 1", And((Not(small_a), small_b))),
        ("a < 1 -> b < 1", Implies(small_a, small_b)),
        ("a -> not b", Implies(Comparison("==", a, Literal(True)),
                               Not(Comparison("==", b, Literal(True))))),
        ("a in [1, x]", Membership(a, (Literal(1), Literal("x")))),
        ("a not in {none}", Not(Membership(a, (Literal(None),)))),
        ("a + b in {1}", Membership(Arithmetic("+", a, b), (Literal(1),))),
        ("a + b * c == 0", Comparison("==", Arithmetic("+", a, Arithmetic("*", b, c)), Literal(0))),
        ("a / b % c < 1", Comparison("<", Arithmetic("%", Arithmetic("/", a, b), c), Literal(1))),
        ("a ^ b ** c < 1",
         Comparison("<", Arithmetic("**", a, Arithmetic("**", b, c)), Literal(1))),
        ("-a ** 2 < 1", Comparison("<", Negative(Arithmetic("**", a, Literal(2))), Literal(1))),
        ("+a < - -1", Comparison("<", a, Literal(1))),
        ("a == -true", Comparison("==", a, Negative(Literal(True)))),
        ("fits(a, 'x', 2 GB)", Call("fits", (a, Literal("x"), Literal(2, "GB")))),
        ("now() < a", Comparison("<", Call("now", ()), a)),
        ("not.a < 1", Comparison("<", Name("not.a"), Literal(1))),
    ],
)  # fmt: skip
def test_trees(text: str, tree: Expression) -> None:
    assert parse_rule(text) == tree


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("'mnist'", "mnist"),
        ('"mnist"', "mnist"),
        ('‘‘mnist"', "mnist"),
        ("‘‘mnist’’", "mnist"),
        ("“mnist”", "mnist"),
        ("‘mnist'", "mnist"),
        ("''", ""),
        (r"'it\'s'", "it's"),
        (r'"say \"x\""', 'say "x"'),
        ("'\"mnist\"'", '"mnist"'),
        (r"'a\\'", "a\\"),
        (r"'\\\''", "\\'"),
        ("'a\nb'", "a\nb"),
        ("'节点'", "节点"),
    ],
)
def test_quotes(written: str, label: str) -> None:
    assert parse_rule(f"a == {written}") == Comparison("==", a, Literal(label))


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_can_be_written(unit: str) -> None:
    assert parse_rule(f"a < 5 {unit}") == Comparison("<", a, Literal(5, unit))
    assert parse_rule(f"a < 5{unit}") == Comparison("<", a, Literal(5, unit))


@pytest.mark.parametrize(
    ("written", "unit"),
    [("gb", "GB"), ("kB", "KB"), ("ghz", "GHz"), ("KW", "kW"), ("Hours", "h"), ("secs", "s"),
     ("µs", "us"), ("μs", "us"), ("days", "d"), ("minute", "min"), ("microsecond", "us")],
)  # fmt: skip
def test_other_spellings_of_a_unit(written: str, unit: str) -> None:
    assert parse_rule(f"a < 5 {written}") == Comparison("<", a, Literal(5, unit))


@pytest.mark.parametrize("unit", ["mw", "Mw", "mj"])
def test_a_unit_that_only_case_could_tell_is_refused(unit: str) -> None:
    with pytest.raises(QuerySyntax, match="could be more than one unit"):
        parse_rule(f"a < 5 {unit}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a + 1", "this is a value, not a rule: a + 1"),
        ("5", "this is a value, not a rule: 5"),
        ("a < 1 and 'x'", "this is a value, not a rule: 'x'"),
        ("not 5", "this is a value, not a rule: 5"),
        ("a -> 5", "this is a value, not a rule: 5"),
        ("(a < 1) < 2", "cannot compare or calculate with a condition: a < 1"),
        ("(a < 1) + 1 < 2", "cannot compare or calculate with a condition: a < 1"),
        ("-(a < 1) < 2", "cannot compare or calculate with a condition: a < 1"),
        ("(a < 1) in {true}", "cannot compare or calculate with a condition: a < 1"),
        ("a: [1 s, 2 W]", "the range mixes s and W"),
        ("a < 1e999", "1e999 is too large"),
    ],
)
def test_what_cannot_be_a_rule(text: str, message: str) -> None:
    with pytest.raises(QuerySyntax) as caught:
        parse_rule(text)
    assert caught.value.message == message
    assert caught.value.hint
