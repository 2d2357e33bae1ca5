"""Rows of fragments: types, damage, and what small hostile files may cost."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from compass.domain.errors import CompassError, DataProblem
from compass.readers import fragments
from compass.readers import read as read_whole
from compass.readers.batches import QuotesFound, Shape, TypesChanged, batches
from compass.readers.fragments import fragments_of
from compass.readers.plain import plain


def read(path: Path, shape: Shape | None = None, rows: int = 1 << 17) -> list[pa.Table]:
    return [
        table
        for fragment in fragments_of([path]).fragments
        for table in batches(fragment, shape or Shape(), rows)
    ]


def test_parquet_comes_in_tables_of_the_wanted_size_with_coded_labels(tmp_path: Path) -> None:
    data = pa.table({"app": ["a", "b", None, "a", "c"] * 20, "n": range(100)})
    parquet.write_table(data, tmp_path / "x.parquet", row_group_size=7)
    found = read(tmp_path / "x.parquet", Shape(labels=frozenset({"app", "n", "not there"})), 16)
    assert max(table.num_rows for table in found) <= 16
    assert pa.types.is_dictionary(found[0].schema.field("app").type)
    assert [row for table in found for row in table.to_pylist()] == data.to_pylist()


def test_nested_columns_can_be_read_whatever_is_said_to_be_a_label(tmp_path: Path) -> None:
    data = pa.table({"s": [{"x": "a", "y": 1}] * 5, "l": [["p"], []] * 2 + [None]})
    parquet.write_table(data, tmp_path / "x.parquet")
    shape = Shape(labels=frozenset({"s", "s.x", "l", "l.list.element"}))
    assert read(tmp_path / "x.parquet", shape)[0].to_pylist() == data.to_pylist()


def test_a_column_that_does_not_fit_asks_for_a_wider_type(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    steps = [
        ("1.5", pa.int64(), pa.float64()),
        ("x", pa.float64(), pa.large_string()),
        ("maybe", pa.bool_(), pa.large_string()),
        ("2024-01-01 00:00:00.5", pa.timestamp("s"), pa.timestamp("ns")),
    ]
    for cell, given, wanted in steps:
        path.write_text(f"a,b\n{cell},2\n")
        with pytest.raises(TypesChanged) as caught:
            read(path, Shape(types={"a": given}))
        assert caught.value.types == {"a": wanted}
        assert len(read(path, Shape(types=caught.value.types))) == 1


def test_quotes_that_come_late_are_told_with_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "BYTES", 16)
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n" * 20 + '3,"4"\n')
    with pytest.raises(QuotesFound) as caught:
        read(path)
    assert caught.value.file == str(path)


def test_columns_named_twice_are_told(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(DataProblem, match=r"x\.csv has several columns named a"):
        read(tmp_path / "x.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1,2\n3,4\n", "holds numbers, not column names"),
        (b"only\n1\n2\n", "has one column only"),
        ("a,b\n1,2\n".encode("utf-16"), "is UTF-16 text"),
        (b"a,b\n1\x00,2\n", "is not text"),
        (b"a,b\n1,2,3\n", "has 2 names, but its rows have 3 cells"),
    ],
)
def test_text_that_is_no_table_is_told(text: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(text)
    with pytest.raises(DataProblem, match=message):
        read(tmp_path / "x.csv")


def test_json_that_is_nested_too_deep_does_not_end_the_process(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": ' + "[" * 60_000 + "]" * 60_000 + "}\n")
    with pytest.raises(DataProblem, match="nested more than"):
        read(path)


def test_a_line_without_end_is_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compass.readers.batches._LONGEST", 100_000)
    monkeypatch.setattr(fragments, "BYTES", 1000)
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 400 + b"1," + b"2" * 500_000)
    with pytest.raises(DataProblem, match="a line is longer than"):
        read(path)


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl", "feather"])
def test_damaged_files_are_told_and_never_crash(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = pa.table(
        {"app": rng.choice(["a", "bb", "c"], 300).tolist(), "x": rng.random(300), "n": range(300)}
    )
    path = tmp_path / f"x.{kind}"
    if kind == "parquet":
        parquet.write_table(data, path, row_group_size=100)
    elif kind == "feather":
        from pyarrow import feather

        feather.write_feather(data, str(path), compression="uncompressed")
    elif kind == "csv":
        from pyarrow import csv

        csv.write_csv(data, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in data.to_pylist()))
    text = path.read_bytes()
    shape = Shape(labels=frozenset({"app"}))
    refused = 0
    for _ in range(60):
        new = bytearray(text)
        if rng.random() < 0.3:
            new = new[: int(rng.integers(1, len(new)))]
        for place in rng.integers(0, len(new), 8):
            new[place] = int(rng.integers(0, 256))
        path.write_bytes(new)
        try:
            for table in read(path, shape):
                assert_readable(table)
        except CompassError:
            refused += 1
    assert refused > 5


def assert_readable(table: pa.Table) -> None:
    rows: Any = table.take(pa.array([0, table.num_rows - 1])) if table.num_rows else table
    rows.validate(full=True)


def test_a_mended_header_and_decimal_commas_are_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "BYTES", 500)
    path = tmp_path / "runs.csv"
    rows = [f"{n};{n % 4};{n / 8:.3f}".replace(".", ",") for n in range(1, 101)]
    path.write_text("\n".join(["nodes;time", *rows]) + "\n")
    assert len(fragments_of([path]).fragments) > 2
    found = pa.concat_tables(map(plain, read(path)), promote_options="permissive")
    whole = read_whole(path).arrow
    assert found.schema.equals(whole.schema, check_metadata=True)
    assert found.to_pylist() == whole.to_pylist()
    assert found.column_names == ["column_1", "nodes", "time"]
    assert found.column("time").to_pylist()[:2] == [0.125, 0.25]


def test_a_row_that_is_too_short_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "BYTES", 100)
    path = tmp_path / "runs.csv"
    path.write_text("a,b,c\n" + "1,2,3\n" * 60 + "1,2\n")
    with pytest.raises(DataProblem) as caught:
        read(path)
    assert f"line 62 of {path} has 2 cells, but the header has 3" in caught.value.message


def test_words_among_numbers_of_json_lines_are_text(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text('{"n": 1, "t": 1.5}\n{"n": 2, "t": "timeout"}\n{"n": 3}\n')
    (table,) = read(path)
    assert table.column("t").to_pylist() == ["1.5", "timeout", None]
    assert table.to_pylist() == read_whole(path).arrow.to_pylist()
