"""Decimal and thousands marks are told apart by all numbers of a column together."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.readers.marks import Marks, marks_of, shape, shapes


def texts(*cells: str) -> pa.Array:
    return pa.array(cells, pa.large_string())


def read(*cells: str, usual: str = ".") -> list[str | None] | None:
    marks = marks_of(shapes(texts(*cells)), usual)
    return None if marks is None else marks.plain(texts(*cells)).to_pylist()


@pytest.mark.parametrize(
    ("cells", "meant"),
    [
        (("3,14", "2,5", "1.234,5"), ["3.14", "2.5", "1234.5"]),
        (("1,234.5", "999"), ["1234.5", "999"]),
        (("0,125", "1,234"), ["0.125", "1.234"]),  # no thousands begin with a zero
        (("1,234,567", "12"), ["1234567", "12"]),
        (("1.234.567", "12"), ["1234567", "12"]),
        (("1.234", "2.500"), ["1.234", "2.500"]),
        (("1 234,5", "12"), ["1234.5", "12"]),
        (("1'234", "5"), ["1234", "5"]),
        (("-3,5", " +2,25 "), ["-3.5", "+2.25"]),
        (("1e5", "2.5E-3", ".5", "5."), ["1e5", "2.5E-3", ".5", "5."]),
        (("1,23,4", "1.5"), [None, "1.5"]),
        (("12,34.5", "1.5"), [None, "1.5"]),
    ],
)
def test_marks_are_told_by_the_column(cells: tuple[str, ...], meant: list[str | None]) -> None:
    assert read(*cells) == meant


def test_numbers_that_contradict_each_other_are_not_guessed_at() -> None:
    assert read("3,14", "3.14") is None
    assert read("1.234", "1,234") is None


def test_what_the_cells_do_not_tell_is_said_or_told_by_the_file() -> None:
    assert marks_of(map(shape, ("1,234", "999"))) == Marks(".", grouped=True, doubtful=True)
    assert read("1.234", "2.000", usual=",") == ["1234", "2000"]
    assert read("1,234", "2,000", usual=",") == ["1.234", "2.000"]


whole = st.integers(0, 10**9)
cents = st.integers(0, 99)


@given(st.lists(st.tuples(whole, cents), min_size=1, max_size=20), st.booleans())
def test_grouped_numbers_with_cents_are_read_back(
    numbers: list[tuple[int, int]], german: bool
) -> None:
    cells = [f"{a:,}.{b:02d}" for a, b in numbers]
    if german:
        cells = [cell.translate(str.maketrans(",.", ".,")) for cell in cells]
    assert read(*cells) == [f"{a}.{b:02d}" for a, b in numbers]
