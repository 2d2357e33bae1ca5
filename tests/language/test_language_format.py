"""Text is the inverse of objects: whatever can be built prints, and reads back as the same."""

import pytest
from hypothesis import assume, example, given
from language_strategies import names, normal, positive, queries, rules, values

from compass.domain.constraint import Constraint
from compass.domain.expression import (
    And,
    Arithmetic,
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
from compass.domain.goal import Change, Observe, Same, Within
from compass.domain.query import Kind, Query
from compass.language import format_goal, format_query, format_rule, format_value, parse_query
from compass.language.format import format_name, format_number, format_percent
from compass.language.parse import LONGEST_TEXT, parse_rule
from property_examples import examples

a, b, c = (Comparison("<", Name(name), Literal(1)) for name in "abc")


@given(rules)
@examples(80)
def test_a_rule_reads_back_as_the_same_tree(rule: Expression) -> None:
    text = format_rule(rule)
    again = parse_rule(text)
    assert again == normal(rule)
    assert format_rule(again) == format_rule(normal(rule))


@given(queries())
@examples(80)
@example(Query(kind=Kind.WHAT_IF))
@example(Query(kind=Kind.WHAT_IF, goals={"a": Observe(), "t": Observe()}, stated={"t": None}))
@example(Query(kind=Kind.WHAT_IF, where=(Constraint(text="max(a, `where`) < 1"),)))
def test_a_query_reads_back_from_text_and_json(query: Query) -> None:
    text = format_query(query)
    assume(len(text) <= LONGEST_TEXT)
    again = parse_query(text)
    assert again == query
    assert format_query(again) == text
    assert Query.model_validate_json(query.model_dump_json()) == query


@given(values)
@examples(100)
def test_a_value_reads_back_as_itself_and_of_its_kind(value: object) -> None:
    rule = parse_rule(f"a == {format_value(value)}")  # type: ignore[arg-type]
    assert isinstance(rule, Comparison)
    assert isinstance(rule.right, Literal)
    assert rule.right.value == value
    assert isinstance(rule.right.value, bool) == isinstance(value, bool)


@given(names)
@examples(100)
def test_a_name_reads_back_in_rules_and_in_queries(name: str) -> None:
    written = format_name(name)
    assert parse_rule(f"{written} < 1") == Comparison("<", Name(name), Literal(1))
    assert parse_query(f"What if we change X = {{{written}: ?}}").ask == (name,)


@given(positive)
@examples(100)
@example(0.07)
@example(0.1 + 0.2)
@example(1 / 3)
def test_a_share_reads_back_exactly(share: float) -> None:
    query = parse_query(f"Reconfigure {{}} to get {{t: reduce by {format_percent(share)}}}")
    assert query.goals["t"] == Change(direction="reduce", by=share)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.1, "10%"), (0.07, "7%"), (1.0, "100%"), (0.125, "12.5%"), (0.001, "0.1%"), (12.0, "1200%")],
)
def test_a_share_prints_without_noise(share: float, text: str) -> None:
    assert format_percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "5"),
        (5.0, "5"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e14, "100000000000000"),
        (1e22, "1e+22"),
        (2**70, "1180591620717411303424"),
        (1e-300, "1e-300"),
    ],
)
def test_numbers_print_as_people_write_them(value: float, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "none"), (True, "true"), (False, "false"), ("a'b\\", "'a\\'b\\\\'"), (1.5, "1.5")],
)
def test_values_print_as_literals(value: object, text: str) -> None:
    assert format_value(value) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nodes", "nodes"),
        ("job.state", "job.state"),
        ("min", "min"),
        ("in", "`in`"),
        ("True", "`True`"),
        ("core 0", "`core 0`"),
        ("Time[s]", "`Time[s]`"),
        ("a`b", "`a``b`"),
        ("2nd", "`2nd`"),
    ],
)
def test_names_have_backticks_only_where_they_need_them(name: str, text: str) -> None:
    assert format_name(name) == text


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Arithmetic("-", Name("a"), Arithmetic("-", Name("b"), Name("c"))), "a - (b - c)"),
        (Arithmetic("-", Arithmetic("-", Name("a"), Name("b")), Name("c")), "a - b - c"),
        (Arithmetic("*", Arithmetic("+", Name("a"), Name("b")), Name("c")), "(a + b) * c"),
        (Arithmetic("**", Literal(-1), Literal(2)), "(-1) ** 2"),
        (Arithmetic("**", Name("a"), Arithmetic("**", Name("b"), Name("c"))), "a ** b ** c"),
        (Negative(Arithmetic("+", Name("a"), Literal(1))), "-(a + 1)"),
        (Negative(Negative(Name("a"))), "-(-a)"),
        (Not(And((a, b))), "not (a < 1 and b < 1)"),
        (And((a, Or((b, c)))), "a < 1 and (b < 1 or c < 1)"),
        (Or((a, And((b, c)))), "a < 1 or b < 1 and c < 1"),
        (Implies(Implies(a, b), c), "(a < 1 -> b < 1) -> c < 1"),
        (Not(Membership(Name("a"), (Literal(1), Literal("b")))), "not a in {1, 'b'}"),
        (Comparison("<=", Name("m"), Literal(64, "GB")), "m <= 64 GB"),
    ],
)
def test_rules_have_brackets_only_where_they_need_them(tree: Expression, text: str) -> None:
    assert format_rule(tree) == text


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        (Within(low=1, unit="h"), ">= 1 h"),
        (Within(low=-1, high=2.5), "[-1, 2.5]"),
        (Change(direction="increase", by=2, relative=False, unit="W"), "increase by 2 W"),
        (Same(tolerance=0.03), "same within 3%"),
        (Same(tolerance=0.03, beyond="less"), "same or less within 3%"),
        (Same(beyond="more"), "same or more"),
        (Observe(), "?"),
    ],
)
def test_a_goal_prints_as_it_stands_behind_the_colon(goal: object, text: str) -> None:
    assert format_goal(goal) == text  # type: ignore[arg-type]
