"""Columns as bytes: borders, labels, and cells that are missing."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.reducers.columns import (
    Binned,
    Cells,
    bin_numbers,
    bins_of,
    is_label,
    labels_binned,
    numbers_binned,
)
from property_examples import examples


def cells(values: Any, kind: pa.DataType | None = None) -> Cells:
    return Cells(pa.chunked_array([pa.array(values, kind)]))


@given(
    values=st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=1200),
    borders=st.lists(st.floats(-1e6, 1e6), max_size=40),
)
@examples(60)
def test_a_bin_is_the_number_of_borders_exceeded(values: list[float], borders: list[float]) -> None:
    found = np.empty(len(values), dtype=np.uint8)
    bin_numbers(np.array(values, dtype=np.float64), np.array(borders, dtype=np.float64), found)
    assert found.tolist() == [sum(value > border for border in borders) for value in values]


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
def test_all_widths_of_numbers_have_the_same_bins(kind: Any) -> None:
    found = np.empty(6, dtype=np.uint8)
    bin_numbers(np.array([-5, 0, 1, 2, 3, 100], dtype=kind), np.array([0.5, 2.5]), found)
    assert found.tolist() == [0, 0, 1, 1, 2, 2]


def test_few_numbers_have_a_bin_each_and_many_are_shared_out_evenly() -> None:
    few = numbers_binned("x", np.array([8.0, 1, 4, 4, np.nan, np.inf]), 32)
    assert few.borders is not None
    assert few.borders.tolist() == [2.5, 6.0]
    many = numbers_binned("x", np.random.default_rng(0).lognormal(size=10_000), 32)
    found = np.empty(10_000, dtype=np.uint8)
    assert many.borders is not None
    bin_numbers(np.random.default_rng(0).lognormal(size=10_000), many.borders, found)
    counts = np.bincount(found)
    assert len(counts) == 32
    assert counts.min() > 250
    assert counts.max() < 375


def test_a_column_without_numbers_is_one_bin() -> None:
    empty = numbers_binned("x", np.full(5, np.nan), 32)
    assert empty.borders is not None
    assert empty.borders.tolist() == []
    assert bins_of({"x": cells([None, None], pa.null())}, [empty], 2).tolist() == [[0, 0]]


def test_labels_are_ordered_by_their_outcome_and_new_ones_are_in_the_middle() -> None:
    codes = np.array([0, 0, 1, 1, 2, 2, -1])
    y = np.array([9.0, 9, -9, -9, 0, 0, 5])
    made = labels_binned("app", codes, ["slow", "fast", "middling"], y, 250)
    assert dict(made.labels) == {"fast": 0, "middling": 1, "slow": 2}
    found = bins_of({"app": cells(["fast", "slow", None, "new", "middling"])}, [made], 5)
    assert found[0].tolist() == [0, 2, made.other, made.other, 1]
    assert made.other in (1, 2)


@pytest.mark.parametrize("count", [1, 249, 250, 251, 300, 5000])
def test_however_many_labels_fit_into_a_byte_in_order(count: int) -> None:
    labels = [f"l{n}" for n in range(count)]
    y = np.random.default_rng(0).permutation(count).astype(float)
    made = labels_binned("app", np.arange(count), labels, y, 250)
    place = dict(made.labels)
    places = np.array([place[label] for label in labels])
    assert places.min() == 0
    assert places.max() < 250
    assert made.other <= 254
    assert (np.diff(places[np.argsort(y)]) >= 0).all()


def test_a_column_without_labels_is_one_bin() -> None:
    made = labels_binned("app", np.full(4, -1), [], np.arange(4.0), 250)
    assert bins_of({"app": cells([None, "x"])}, [made], 2).tolist() == [[made.other] * 2]


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        ([1, None, 3], pa.int8(), [1, np.nan, 3]),
        ([1, 2], pa.uint32(), [1, 2]),
        ([2**63 + 2**20], pa.uint64(), [2**63 + 2**20]),
        ([1.5, None, float("inf")], pa.float32(), [1.5, np.nan, np.inf]),
        (["4", "x", None], pa.string(), [4, np.nan, np.nan]),
        ([True, None], pa.bool_(), [1, np.nan]),
        ([None, None], pa.null(), [np.nan, np.nan]),
        ([0, 1_500_000], pa.timestamp("us"), [0, 1.5]),
        ([90_000], pa.time32("ms"), [90]),
    ],
)
def test_numbers_of_every_type(values: Any, kind: pa.DataType, wanted: list[float]) -> None:
    found = cells(values, kind).numbers()
    assert found.dtype in (np.int32, np.int64, np.float64)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, np.array(wanted, dtype=float))


def test_codes_of_several_chunks_with_their_own_dictionaries() -> None:
    chunks = [pa.array(part).dictionary_encode() for part in (["b", "a"], ["a", None, "c"])]
    codes, labels = Cells(pa.chunked_array(chunks)).codes()
    assert [labels[c] if c >= 0 else None for c in codes] == ["b", "a", "a", None, "c"]
    empty = Cells(pa.chunked_array([], pa.dictionary(pa.int8(), pa.string())))
    assert len(empty.codes()[0]) == 0


def test_which_cells_are_there() -> None:
    assert cells([1, 2]).present(number=True) is None
    there = cells([1.0, None, float("inf"), float("nan")]).present(number=True)
    assert there is not None
    assert there.tolist() == [True, False, False, False]
    assert cells(["a"]).present(number=False) is None
    labels = cells(["a", None]).present(number=False)
    assert labels is not None
    assert labels.tolist() == [True, False]


def test_labels_are_text_and_truth_also_behind_codes() -> None:
    text = pa.dictionary(pa.int8(), pa.string())
    assert all(map(is_label, (pa.string(), pa.large_string(), pa.bool_(), text)))
    numeric = pa.dictionary(pa.int8(), pa.int64())
    assert not any(map(is_label, (pa.int64(), pa.null(), pa.timestamp("us"), numeric)))


def test_unseen_bins_are_filled_for_each_feature() -> None:
    features = [Binned("x", np.array([1.5])), Binned("y", None, (("a", 3),), 7)]
    found = bins_of({"y": cells(["a", "b"]), "x": cells([1, 2])}, features, 2)
    assert found.tolist() == [[0, 1], [3, 7]]
