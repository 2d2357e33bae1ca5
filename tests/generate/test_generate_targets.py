"""Goals into ranges, by hand."""

import math

import pytest

import compass as cp
from compass.domain.goal import Goal, Same
from compass.generate.targets import resolve


@pytest.mark.parametrize(
    ("goal", "low", "high"),
    [
        (cp.same, 95.0, 105.0),
        (Same(tolerance=0.2), 80.0, 120.0),
        (cp.no_more(), -math.inf, 105.0),
        (cp.no_more(0.01), -math.inf, 101.0),
        (cp.no_less(), 95.0, math.inf),
        (cp.no_less(0.2), 80.0, math.inf),
        # A change is told against what was measured; staying compares predictions.
        (cp.less(0.1), -math.inf, 81.0),
        (cp.more(0.1), 99.0, math.inf),
    ],
)
def test_what_is_relative_to_the_baseline(goal: Goal, low: float, high: float) -> None:
    (target,) = resolve({"y": goal}, {"y": 100.0}, {"y": 90.0}, {"y": 1.0}, tolerance=0.05)
    assert target.low == pytest.approx(low)
    assert target.high == pytest.approx(high)


def test_staying_is_measured_against_the_size_of_a_negative_value() -> None:
    (target,) = resolve({"y": cp.no_more()}, {"y": -100.0}, {}, {"y": 1.0}, tolerance=0.05)
    assert (target.low, target.high) == (-math.inf, -95.0)
