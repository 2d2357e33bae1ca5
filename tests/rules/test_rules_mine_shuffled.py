"""The chance of an accident: against all orders of small columns, and against simulation."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.rules.mine.shuffled import log_accident_of_least, log_accident_of_limit
from property_examples import examples

SIZES = st.lists(st.sampled_from([1.0, 2.0, 3.0, 4.0, 8.0]), min_size=2, max_size=6)


@examples(60)
@given(SIZES, st.data())
def test_it_is_the_share_of_orders_in_which_no_row_breaks_the_limit(left, data):
    right = data.draw(
        st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=len(left), max_size=len(left))
    )
    a, b = np.array(left), np.array(right)
    limit, least = float((a * b).max()), float((a * b).min())
    orders = [np.array(order) for order in permutations(b)]
    below = np.mean([(a * order).max() <= limit for order in orders])
    above = np.mean([(a * order).min() >= least for order in orders])
    assert np.exp(log_accident_of_limit(a, b, limit)) == pytest.approx(below)
    assert np.exp(log_accident_of_least(a, b, least)) == pytest.approx(above)


def test_what_cannot_hold_has_no_chance():
    a = np.array([2.0, 2.0])
    assert log_accident_of_limit(a, np.array([4.0, 1.0]), 4.0) == -np.inf


def test_on_unrelated_columns_it_falls_below_a_level_about_as_often_as_stated():
    """Limits are chosen by the data: they are what was reached. The level holds all the same."""
    rng = np.random.default_rng(4)
    levels = []
    for _ in range(1500):
        a, b = rng.choice([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], (2, 40))
        levels.append(np.exp(log_accident_of_limit(a, b, float((a * b).max()))))
    found = np.array(levels)
    for level in (0.02, 0.05, 0.1, 0.2):
        share = np.mean(found <= level)
        assert share <= level * 1.35  # within what 1500 tables can tell
    assert np.mean(found <= 0.2) > 0.05  # and not far below: products take few values
