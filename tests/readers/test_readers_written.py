"""Numbers as people write them into cells, read alike whatever piece of a column is looked at."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.readers.written import NotNumbers, Writing, duration, writing_of


def texts(cells: list[str]) -> pa.Array:
    return pa.array(cells, pa.large_string())


def writing(cells: list[str], **told: object) -> Writing | NotNumbers | None:
    return writing_of(texts(cells), np.ones(len(cells), dtype=np.int64), **told)  # type: ignore[arg-type]


def read(cells: list[str], **told: object) -> tuple[list[float], str | None]:
    found = writing(cells, **told)
    assert isinstance(found, Writing), found
    return found.numbers(texts(cells)).tolist(), found.unit


@pytest.mark.parametrize(
    ("cells", "values", "unit"),
    [
        (["3,14", "2,5"], [3.14, 2.5], None),
        (["85%", "12.5 %"], [85, 12.5], "%"),
        (["3.2 GHz", "2400 MHz", "1 GHz"], [3.2, 2.4, 1], "GHz"),
        (["150 W", "0.2kW", "90 W", "0"], [150, 200, 90, 0], "W"),
        (["512 MiB", "1 GiB", "2 GiB"], [0.5, 1, 2], "GiB"),
        (["16GB", "500 MB", "8GB"], [16, 0.5, 8], "GB"),
        (["1-02:03:04", "02:03:04", "12:30"], [93784, 7384, 750], "s"),
        (["3m20s", "1h 5min", "250ms", "45s"], [200, 3900, 0.25, 45], "s"),
        (["1 day, 2:03:04", "0:00:01.5"], [93784, 1.5], "s"),
        (["250ms", "1.5s", "300ms"], [250, 1500, 300], "ms"),
        (["1K", "10k", "2M", "5"], [1000, 10000, 2e6, 5], None),
        (["12 GB/s", "13.5 GB/s"], [12, 13.5], "GB/s"),
        (["inf", "-Infinity", "3"], [math.inf, -math.inf, 3], None),
    ],
)
def test_numbers_with_units(cells: list[str], values: list[float], unit: str | None) -> None:
    found, own = read(cells)
    assert own == unit
    np.testing.assert_allclose(found, values)


def test_letters_are_sizes_where_the_column_is_about_memory() -> None:
    assert read(["4G", "8G", "4000M"], memory=True) == ([4, 8, 3.90625], "GiB")
    assert read(["4G", "8G", "16GiB"]) == ([4, 8, 16], "GiB")  # another cell says so


def test_a_unit_that_is_wanted_is_the_unit() -> None:
    assert read(["02:00:00", "30 min"], unit="h") == ([2, 0.5], "h")
    assert read(["150 W", "20"], unit="W") == ([150, 20], "W")
    assert read(["5m", "10m"], unit="s") == ([300, 600], "s")
    assert read(["150 W"], unit="s") == ([150], "W")  # another dimension: the cells are right


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (["12 s", "5 J"], "do not go together (s and J)"),
        (["85%", "12.5"], "1 of its cells have no unit, others have ('%')"),
        (["12:30", "11:20"], "hours and minutes or minutes and seconds"),
        (["3,14", "3.14"], "decimal comma"),
        (["02:03:04", "5 W"], "do not go together"),
    ],
)
def test_what_is_not_clear_is_not_read(cells: list[str], why: str) -> None:
    found = writing(cells)
    assert isinstance(found, NotNumbers)
    assert why in found.reason


def test_words_are_no_numbers() -> None:
    assert writing(["v1", "v2"]) is None
    values, _ = read(["1.5", "timeout", "1.2.3", "2a", "3090Ti", "x:1", "1:2:3:4"])
    assert values[0] == 1.5
    assert np.isnan(values[1:]).all()


@given(st.integers(0, 400), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_durations_of_slurm_are_read_back(d: int, h: int, m: int, s: int) -> None:
    total = ((d * 24 + h) * 60 + m) * 60 + s
    assert duration(f"{d}-{h:02d}:{m:02d}:{s:02d}") == total
    assert duration(f"{24 * d + h}:{m:02d}:{s:02d}") == total
    assert duration(f"{d}d {h}h{m}m {s}s") == total
    assert duration(f"{d} days, {h}:{m:02d}:{s:02d}") == total


@given(st.text(max_size=12))
def test_no_text_breaks_the_reading(cell: str) -> None:
    found = writing([cell, "1.5 s", "3 min"])
    if isinstance(found, Writing):
        assert len(found.numbers(texts([cell]))) == 1
    duration(cell)


@given(st.data())
def test_a_piece_of_a_column_is_read_like_all_of_it(data: st.DataObject) -> None:
    units = st.sampled_from([" s", "ms", " min", "h"])
    pairs = st.tuples(st.integers(1, 10**6), units).map(lambda p: f"{p[0] / 8}{p[1]}")
    cells = data.draw(st.lists(pairs | st.just("timeout") | st.just("00:01:00"), min_size=2))
    found = writing(cells)
    if not isinstance(found, Writing):
        return
    whole = found.numbers(texts(cells))
    cut = data.draw(st.integers(0, len(cells)))
    pieces = [found.numbers(texts(part)) for part in (cells[:cut], cells[cut:])]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
