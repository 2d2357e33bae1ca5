"""Rules with constant columns put in say the same about the others."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.expression import And, Expression, Implies, Not, Or
from compass.domain.space import Category, Number, Space
from compass.language import format_rule, parse_rule
from compass.rules.constants import settle, values_of
from compass.rules.definition import obeys

CONSTANTS = Space(
    parameters=(
        Category(name="app", values=("FT",)),
        Number(name="nodes", low=8, high=8),
        Number(name="ratio", low=0.5, high=0.5),
    )
)
FREE = Space(
    parameters=(
        Number(name="threads", low=1, high=4, step=1),
        Category(name="mode", values=("a", "b")),
    )
)
KNOWN = {p.name: p for p in (*CONSTANTS, *FREE)}
CONFIGS = [
    {"threads": threads, "mode": mode} for threads, mode in itertools.product(range(1, 5), "ab")
]
ATOMS = st.sampled_from(
    [
        "app == 'FT'",
        "nodes == 8",
        "nodes < 4",
        "threads <= 2",
        "threads <= nodes / 4",
        "threads * nodes > 16",
        "mode == 'a'",
        "nodes in {4, 8}",
        "threads >= -ratio",
    ]
).map(parse_rule)


def rules() -> st.SearchStrategy[Expression]:
    def longer(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        pair = st.tuples(inner, inner)
        return st.one_of(
            inner.map(Not),
            pair.map(And),
            pair.map(Or),
            pair.map(lambda two: Implies(*two)),
        )

    return st.recursive(ATOMS, longer, max_leaves=6)


def test_the_values() -> None:
    assert values_of(CONSTANTS) == {"app": "FT", "nodes": 8, "ratio": 0.5}


@given(rules())
def test_what_is_left_of_a_rule_says_the_same(rule: Expression) -> None:
    left = settle(rule, CONSTANTS)
    for config in CONFIGS:
        whole = obeys(rule, config | values_of(CONSTANTS), KNOWN)
        rest = left if isinstance(left, bool) else obeys(left, config, KNOWN)
        assert rest == whole


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("app == 'FT'", True),
        ("nodes <= 4", False),
        ("threads <= nodes / 4", "threads <= 8 / 4"),
        ("app == 'FT' -> threads <= 2", "threads <= 2"),
        ("threads <= 2 -> nodes < 4", "not threads <= 2"),
        ("nodes < 4 or threads <= 2", "threads <= 2"),
        ("nodes < 4 and threads <= 2", False),
        ("threads <= 2", "threads <= 2"),
    ],
)
def test_what_is_left_as_text(text: str, left: object) -> None:
    found = settle(parse_rule(text), CONSTANTS)
    assert (found if isinstance(found, bool) else format_rule(found)) == left
