"""Shares and percentiles of validation runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.errors import BadInput, DataProblem
from compass.trust.rank import Ranks, sample
from property_examples import examples

values = st.lists(st.integers(0, 8).map(float), min_size=1, max_size=30)


@examples(50)
@given(values, st.integers(-1, 9).map(float))
def test_the_share_below_counts_no_ties(found: list[float], x: float) -> None:
    ranks = Ranks.of(np.array(found))
    assert ranks.below(np.array([x]))[0] == pytest.approx(np.mean(np.array(found) < x))


def test_numbers_that_differ_by_rounding_are_ties() -> None:
    ranks = Ranks.of(np.array([0.3] * 100))
    assert ranks.below(np.array([0.1 + 0.2]))[0] == 0  # 0.30000000000000004
    assert ranks.below(np.array([0.3001]))[0] == 1


@examples(50)
@given(values, st.data())
def test_a_run_of_weight_three_counts_as_three_runs(found: list[float], data) -> None:
    weight = data.draw(st.lists(st.integers(1, 4), min_size=len(found), max_size=len(found)))
    percent = data.draw(st.sampled_from([1, 5, 25, 50, 95, 100]))
    weighted = Ranks.of(np.array(found), np.array(weight, dtype=float))
    repeated = Ranks.of(np.repeat(found, weight))
    for x in (0.0, 3.0, 3.5, 9.0):
        both = [ranks.below(np.array([x]))[0] for ranks in (weighted, repeated)]
        assert both[0] == pytest.approx(both[1])
    assert weighted.percentile(percent) == repeated.percentile(percent)


@examples(50)
@given(values, st.floats(0.5, 100))
def test_the_percentile_is_the_smallest_value_that_covers_it(found: list[float], p: float) -> None:
    expected = np.percentile(found, p, method="inverted_cdf")
    assert Ranks.of(np.array(found)).percentile(p) == expected


def test_nothing_to_rank_is_refused() -> None:
    with pytest.raises(DataProblem, match="no validation runs"):
        Ranks.of(np.empty(0))
    with pytest.raises(BadInput, match="weights"):
        Ranks.of(np.ones(3), np.zeros(3))


def test_a_sample_is_drawn_by_its_seed_without_repetition() -> None:
    assert sample(5, 5, 1).tolist() == [0, 1, 2, 3, 4]
    drawn = sample(1000, 100, 1)
    assert drawn.size == np.unique(drawn).size == 100
    assert np.array_equal(drawn, np.sort(drawn))
    assert drawn.max() < 1000
    assert np.array_equal(drawn, sample(1000, 100, 1))
    assert not np.array_equal(drawn, sample(1000, 100, 2))
