"""A table knows its rows, where they came from, and what they are worth as data."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.errors import BaselineProblem, UnknownName
from compass.readers import Table, TablePart
from compass.readers.table import fingerprint
from property_examples import examples


def table() -> Table:
    arrow = pa.table({"nodes": [1, 2, 4], "app": ["a", None, "b"], "t": [1.5, float("nan"), 3.0]})
    return Table.of(arrow, (TablePart("one.csv", 2), TablePart("two.csv", 1)))


def test_rows_are_counted_over_all_files() -> None:
    t = table()
    assert t.rows == 3
    assert t.names == ("nodes", "app", "t")
    assert t.part_of(0) == ("one.csv", 0)
    assert t.part_of(1) == ("one.csv", 1)
    assert t.part_of(2) == ("two.csv", 0)


def test_a_row_is_plain_python_and_nan_is_missing() -> None:
    assert table().row(1) == {"nodes": 2, "app": None, "t": None}
    assert [type(v) for v in table().row(0).values()] == [int, str, float]


def test_files_without_rows_are_skipped_when_locating() -> None:
    arrow = pa.table({"a": [1, 2], "b": [1, 2]})
    t = Table.of(arrow, (TablePart("x", 1), TablePart("empty", 0), TablePart("y", 1)))
    assert t.part_of(1) == ("y", 0)


@pytest.mark.parametrize("n", [-1, 3, 10**9])
def test_a_row_that_is_not_there_says_which_rows_are(n: int) -> None:
    with pytest.raises(BaselineProblem) as caught:
        table().row(n)
    assert "0 to 2" in caught.value.hint
    with pytest.raises(BaselineProblem):
        table().part_of(n)


def test_dropping_columns() -> None:
    less = table().drop(["app"])
    assert less.names == ("nodes", "t")
    assert less.parts == table().parts
    assert less.fingerprint != table().fingerprint
    with pytest.raises(UnknownName) as caught:
        table().drop(["apps"])
    assert "app" in caught.value.hint
    with pytest.raises(UnknownName):
        table().column("nods")


def test_types_are_made_plain() -> None:
    arrow = pa.table(
        {
            "small": pa.array([1, 2], pa.int8()),
            "huge": pa.array([1, 2**64 - 1], pa.uint64()),
            "half": pa.array(np.array([1, np.nan], np.float32)),
            "money": pa.array([1, 2], pa.decimal128(5, 2)),
            "day": pa.array([dt.date(2024, 1, 1), None]),
            "zone": pa.array([0, 3_600_000_000], pa.timestamp("us", "Europe/Berlin")),
            "took": pa.array([dt.timedelta(seconds=90), None]),
            "clock": pa.array([dt.time(1, 30), dt.time(0, 0, 1)]),
            "label": pa.array(["a", "b"]).dictionary_encode(),
            "list": pa.array([[1, 2], None]),
            "record": pa.array([{"x": 1}, {"x": 2}]),
        }
    )
    t = Table.of(arrow)
    assert t.row(0) == {
        "small": 1,
        "huge": 1.0,
        "half": 1.0,
        "money": 1.0,
        "day": "2024-01-01T00:00:00",
        "zone": "1970-01-01T00:00:00",
        "took": 90.0,
        "clock": 5400.0,
        "label": "a",
        "list": "[1, 2]",
        "record.x": 1,
    }
    assert t.row(1)["half"] is None
    assert t.arrow.schema.field("took").metadata == {b"unit": b"s"}


def test_fingerprint_is_of_the_content_only() -> None:
    one = pa.table({"a": [1, 2, 3, 4], "b": ["x", None, "", "zz"]})
    chunked = pa.concat_tables([one.slice(0, 1), one.slice(1)])
    sliced = pa.concat_tables([one, one]).slice(4)
    narrow = one.cast(pa.schema([("a", pa.int16()), ("b", pa.large_string())]))
    prints = {Table.of(t).fingerprint for t in (one, chunked, sliced, narrow)}
    assert len(prints) == 1
    assert Table.of(one, (TablePart("f", 4),)).fingerprint in prints


def test_fingerprint_changes_with_anything_that_matters() -> None:
    base = {"a": [1, 2], "b": ["xy", "z"]}
    others = [
        {"a": [1, 3], "b": ["xy", "z"]},
        {"a": [2, 1], "b": ["z", "xy"]},
        {"a": [1, None], "b": ["xy", "z"]},
        {"a": [1, 2], "b": ["x", "yz"]},
        {"a": [1, 2], "c": ["xy", "z"]},
        {"b": ["xy", "z"], "a": [1, 2]},
        {"a": [1.0, 2.0], "b": ["xy", "z"]},
        {"a": [True, False], "b": ["xy", "z"]},
        {"a": [1, 2], "b": ["xy", None]},
        {"a": [1, 2], "b": [None, None]},
    ]
    prints = [Table.of(pa.table(columns)).fingerprint for columns in [base, *others]]
    assert len(set(prints)) == len(prints)


@examples(40)
@given(
    st.lists(
        st.tuples(st.one_of(st.none(), st.integers(-5, 5)), st.one_of(st.none(), st.text())),
        min_size=2,
    ),
    st.data(),
)
def test_fingerprint_does_not_depend_on_chunks(
    rows: list[tuple[int | None, str | None]], data: st.DataObject
) -> None:
    schema = pa.schema([("n", pa.int64()), ("s", pa.large_string())])
    whole = pa.table(
        [pa.array([n for n, _ in rows], pa.int64()), pa.array([s for _, s in rows], pa.string())],
        names=["n", "s"],
    ).cast(schema)
    cut = data.draw(st.integers(0, len(rows)))
    pieces = pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])
    assert fingerprint(pieces) == fingerprint(whole)
