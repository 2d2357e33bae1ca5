"""Counts and moments that can be added up: against numpy on all rows."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.reducers.statistics import (
    MOST_LABELS,
    LabelCounts,
    Moments,
    RunningMoments,
    Tally,
    tally_of,
)
from property_examples import examples


def moments(*batches: tuple[np.ndarray, np.ndarray], about: float) -> Moments:
    sums = RunningMoments(about)
    for values, usable in batches:
        sums.add(values, usable)
    return sums.moments()


_numbers = st.one_of(st.floats(-1e6, 1e6), st.just(float("nan")), st.just(float("inf")))


@given(
    values=st.lists(_numbers, min_size=1, max_size=80),
    cut=st.integers(0, 80),
    about=st.floats(-1e3, 1e3),
    seed=st.integers(0, 99),
)
@examples(80)
def test_moments_of_pieces_add_up_to_those_of_the_whole(
    values: list[float], cut: int, about: float, seed: int
) -> None:
    column = np.array(values)
    usable = (np.random.default_rng(seed).random(len(values)) < 0.8).astype(np.uint8)
    pieces = [(column[:cut], usable[:cut]), (column[cut:], usable[cut:])]
    both = moments(pieces[0], about=about) + moments(pieces[1], about=about)
    assert moments(*pieces, about=about) == both
    known = column[np.isfinite(column) & (usable == 1)]
    assert both.count == len(known)
    if len(known):
        assert both.mean == pytest.approx(known.mean(), rel=1e-9, abs=1e-6)
        assert (both.low, both.high) == (known.min(), known.max())
    if len(known) > 1:
        # What a difference of squares loses: half of the digits of the largest of them.
        lost = 3e-8 * np.abs(known - about).max()
        assert both.deviation == pytest.approx(known.std(ddof=1), rel=1e-5, abs=1e-4 + lost)


def test_moments_of_nothing_are_unknown() -> None:
    empty = moments((np.array([np.nan]), np.ones(1, dtype=np.uint8)), about=0.0)
    assert (empty.count, empty.mean, empty.deviation) == (0, None, None)
    assert Moments(5.0, 1, 2.0, 4.0).deviation is None


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_whole_numbers_keep_their_extremes(kind: type) -> None:
    column = np.array([3, 100_000_001, 7], dtype=kind)
    found = moments((column, np.ones(3, dtype=np.uint8)), about=0.1 + 0.2)
    assert (found.low, found.high) == (3.0, 100_000_001.0)


def test_labels_are_counted_among_usable_and_kept_rows() -> None:
    codes = np.array([0, 1, 1, -1, 0, 2], dtype=np.int64)
    usable = np.array([1, 1, 0, 1, 1, 0], dtype=np.uint8)
    counts = LabelCounts()
    counts.add(codes, ["a", "b", "c"], usable, np.array([4]))
    assert counts.found() == {"a": (2, 1), "b": (1, 0)}
    counts.add(codes, ["a", "b", "c"], usable, np.array([4]))
    counts.add(codes, ["b", "a", "c"], usable, np.array([1]))  # another batch, other codes
    assert counts.found() == {"a": (5, 3), "b": (4, 0)}


def test_too_many_labels_are_given_up_for_good() -> None:
    """Not counted afresh from where there were too many: such counts would be wrong."""
    few = Tally(labels={"app": {"a": (1, 1)}})
    many = Tally(labels={"app": {f"l{n}": (1, 0) for n in range(MOST_LABELS)}})
    assert (few + many + few).labels == {"app": None}
    assert (few + Tally(labels={"app": None})).labels == {"app": None}
    wide = [f"l{n}" for n in range(MOST_LABELS + 1)]
    counts = LabelCounts()
    for labels in (["a"], wide, ["a"]):
        counts.add(np.array([0]), labels, np.ones(1, np.uint8), np.array([0]))
    assert counts.found() is None
    assert tally_of(json.loads(json.dumps(asdict(few + many)))).labels == {"app": None}


def test_a_tally_survives_the_way_through_json() -> None:
    one = Tally(
        10,
        8,
        2,
        7.5,
        30.25,
        5.5,
        1.9,
        {"why": 2},
        {"x": Moments(1.0, 8, 0.1, 3.0, -1.0, 4.0), "y": Moments(0.0)},
        {"x": (3.0, 7.5)},
        {"app": {"a": (8, 2)}},
        "broken",
    )
    assert tally_of(json.loads(json.dumps(asdict(one)))) == one
    both = one + one
    assert (both.rows, both.kept, both.heaviest, both.dropped) == (20, 4, 5.5, {"why": 4})
    assert both.estimates == {"x": (6.0, 15.0)}
    assert both.labels == {"app": {"a": (16, 4)}}
    assert Tally() + one == one
    assert one + Tally() == one
