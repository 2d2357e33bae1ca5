"""Values that no past run has: their neighbours, and sentences about them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.query import Kind, Query, plus, set_to, times
from compass.domain.space import Category, Number, Space
from compass.evidence.unseen import in_words, unseen_value, unseen_values

DEPTH = Number(name="depth", low=2, high=9, allowed=(2, 5, 7, 9))
CAP = Number(name="cap", low=50, high=100)
SPACE = Space(parameters=(DEPTH, CAP, Category(name="app", values=("a", "b"))))


@given(st.integers(-20, 20))
def test_the_neighbours_are_the_nearest_seen_values(value: int) -> None:
    found = unseen_value(DEPTH, float(value))
    assert DEPTH.allowed is not None
    if value in DEPTH.allowed:
        assert found is None
        return
    assert found is not None
    smaller = [one for one in DEPTH.allowed if one < value]
    larger = [one for one in DEPTH.allowed if one > value]
    assert found.below == (smaller[-1] if smaller else None)
    assert found.above == (larger[0] if larger else None)
    assert found.interpolated == bool(smaller and larger)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (6, "depth = 6 was never run: it lies between 5 and 7, so the prediction is interpolated."),
        (12, "depth = 12 is above 9, the last value that was run: the prediction is extrapolated."),
        (1, "depth = 1 is below 2, the last value that was run: the prediction is extrapolated."),
    ],
)
def test_in_words(value: float, text: str) -> None:
    found = unseen_value(DEPTH, float(value))
    assert found is not None
    assert in_words(found) == text


def test_what_a_question_sets() -> None:
    change = {"depth": times(2), "cap": plus(10), "app": set_to("b")}
    query = Query(kind=Kind.WHAT_IF, change=change)
    found = unseen_values(query, SPACE, {"depth": 2, "cap": 95.0, "app": "a"})
    assert [(one.name, one.value, one.interpolated) for one in found] == [
        ("depth", 4.0, True),
        ("cap", 105.0, False),
    ]
    assert unseen_values(query, SPACE, None) == ()
    fixed = Query(kind=Kind.RECOMMEND, change={"depth": set_to(6), "cap": set_to(60)})
    assert [one.name for one in unseen_values(fixed, SPACE, None)] == ["depth"]
