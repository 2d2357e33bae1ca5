"""Dates in other forms than ISO 8601."""

from datetime import datetime

import pyarrow as pa
import pytest

from compass.readers.moments import moments_of
from compass.readers.written import NotNumbers


def texts(*cells: str | None) -> pa.Array:
    return pa.array(cells, pa.large_string())


@pytest.mark.parametrize(
    "cell",
    [
        "2024-12-31T10:11:12",
        "2024-12-31 10:11:12.000",
        "2024-12-31T10:11:12Z",
        "2024/12/31 10:11:12",
        "31.12.2024 10:11:12",
        "31/12/2024 10:11:12",
        "12/31/2024 10:11:12",
        "31-Dec-2024 10:11:12",
        "Tue Dec 31 10:11:12 2024",
    ],
)
def test_forms_that_mean_one_moment(cell: str) -> None:
    found = moments_of(texts(cell, None))
    assert isinstance(found, pa.Array)
    assert found.to_pylist() == [datetime(2024, 12, 31, 10, 11, 12), None]


def test_days_and_months_are_told_apart_by_the_column_or_not_at_all() -> None:
    found = moments_of(texts("01/02/2024", "31/02/2024", "13/02/2024"))
    assert isinstance(found, pa.Array)
    assert [one.month for one in found.to_pylist()][::2] == [2, 2]
    unclear = moments_of(texts("01/02/2024", "03/04/2024"))
    assert isinstance(unclear, NotNumbers)
    assert "day/month or month/day" in unclear.reason


def test_other_texts_are_no_dates() -> None:
    assert moments_of(texts("1.5", "2.5")) is None
    assert moments_of(texts("abc", "2024-01-01")) is None
    assert moments_of(texts("12-17", "12-18")) is None
