"""Numbers as people write them: the table that the page is tested with too, and reading back."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain import quantity as q
from compass.domain.goal import Within
from compass.domain.units import UNITS
from compass.language import parse_query
from property_examples import examples

TABLE = json.loads((Path(__file__).parent / "quantities.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", TABLE["quantities"], ids=str)
def test_values_read_as_in_the_table(case: dict[str, Any]) -> None:
    assert q.quantity(case["value"], case["unit"]) == case["quantity"]
    assert q.setting(case["value"], case["unit"]) == case["setting"]


@pytest.mark.parametrize("case", TABLE["estimates"], ids=str)
def test_intervals_read_as_in_the_table(case: dict[str, Any]) -> None:
    text, ends = q.estimate(case["value"], case["low"], case["high"], case["unit"])
    assert (text, list(ends or ())) == (case["text"], case["ends"])


def test_what_is_no_number_and_what_has_no_end() -> None:
    assert q.setting(True) == "true"
    assert q.quantity(None, "s") == "none"
    assert q.quantity(math.inf, "s") == "∞ s"
    assert q.quantity(math.nan) == "unknown"
    assert q.estimate(3.0, -math.inf, math.inf, "s") == ("3 s", None)


def typed(text: str) -> float:
    """What a goal means that is typed in this form, in the base unit of its dimension."""
    query = f"Recommend X = {{nodes: ?}} to achieve Y = {{y: <= {text.replace(',', '')}}}"
    goal = parse_query(query).goals["y"]
    assert isinstance(goal, Within)
    assert goal.high is not None
    assert goal.unit is not None
    return goal.high * UNITS[goal.unit][1]


@examples(300)
@given(st.floats(1e-9, 1e12), st.sampled_from(sorted(UNITS)))
def test_a_setting_typed_back_is_the_same_and_a_prediction_about_the_same(
    value: float, unit: str
) -> None:
    meant = value * UNITS[unit][1]
    assert typed(q.setting(value, unit)) == pytest.approx(meant, rel=1e-11)
    assert typed(q.quantity(value, unit)) == pytest.approx(meant, rel=0.005)


@examples(200)
@given(st.integers(60, 10**9))
def test_whole_seconds_survive(seconds: int) -> None:
    assert typed(q.setting(seconds, "s")) == seconds


@pytest.mark.parametrize("text", ["", "5", "4 min", "12 s", "4 min 12", "1:30", "2024-01-01"])
def test_what_is_no_duration(text: str) -> None:
    assert q.read_duration(text) is None


def test_a_range_of_times_is_typed_as_it_is_shown() -> None:
    query = "Recommend X = {n: ?} to achieve Y = {y: [4 min, 4 min 20.5 s]} where t <= 1-00:00"
    goal = parse_query(query).goals["y"]
    assert goal == Within(low=240, high=260.5, unit="s")
