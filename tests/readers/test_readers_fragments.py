"""Pieces of files: together they hold every row once."""

import csv
import gzip
import io
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from compass.domain.errors import DataProblem
from compass.readers import fragments
from compass.readers.batches import Shape, batches
from compass.readers.fragments import Fragment, fragments_of, whole_lines
from property_examples import examples

CELLS = st.lists(st.sampled_from(["a", "b", ",", '"', "\n", "\r\n", " ", "é"]), max_size=6).map(
    "".join
)


def rows_of(found: tuple[Fragment, ...]) -> list[list[Any]]:
    """All cells, as text, in the order of the fragments."""
    shape = Shape(types={"a": pa.string(), "b": pa.string()})
    return [
        [str(cell or "") for cell in row.values()]
        for fragment in found
        for table in batches(fragment, shape)
        for row in table.to_pylist()
    ]


@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=30),
    size=st.integers(1, 60),
    ending=st.sampled_from(["\n", "\r\n"]),
    final=st.booleans(),
)
@examples(120)
def test_pieces_of_a_text_file_hold_every_row_once_in_order(
    rows: list[tuple[str, str]], size: int, ending: str, final: bool, tmp_path_factory: Any
) -> None:
    """Against Python's own reader, for quotes, separators and line ends inside of cells."""
    rows = [(a or "x", b or "y") for a, b in rows]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=ending)
    writer.writerows([("a", "b"), *rows])
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    whole = text.getvalue()
    path.write_bytes((whole if final else whole.removesuffix(ending)).encode())
    wanted = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))[1:]
    quoted = frozenset({str(path)}) if '"' in whole else frozenset()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fragments, "BYTES", size)
        found = fragments_of([path], quoted=quoted).fragments
    assert rows_of(found) == wanted
    edges = [(one.start, one.stop) for one in found]
    assert edges[0][0] == 0
    assert edges[-1][1] == path.stat().st_size
    assert all(a[1] == b[0] for a, b in pairwise(edges))


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=20), most=st.integers(1, 200))
@examples(80)
def test_a_beginning_of_a_fragment_has_whole_rows(
    rows: list[tuple[str, str]], most: int, tmp_path_factory: Any
) -> None:
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    rows = [(a or "x", b or "y") for a, b in rows]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    (whole,) = fragments_of([path]).fragments
    stop = whole_lines(whole, most)
    head = path.read_bytes()[:stop].decode()
    read = list(csv.reader(io.StringIO(head, newline="")))
    assert read == [["a", "b"], *map(list, rows)][: len(read)]
    assert read


def table(rows: int = 100) -> pa.Table:
    return pa.table({"a": list(range(rows)), "b": ["x"] * rows})


def test_row_groups_are_put_together_up_to_a_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet.write_table(table(100), tmp_path / "a.parquet", row_group_size=12)
    monkeypatch.setattr(fragments, "ROWS", 30)
    found = fragments_of([tmp_path / "a.parquet"])
    assert [(f.start, f.stop, f.first_row, f.rows) for f in found.fragments] == [
        (0, 2, 0, 24),
        (2, 4, 24, 24),
        (4, 6, 48, 24),
        (6, 9, 72, 28),
    ]
    assert found.rows == 100
    assert [cells[0] for cells in rows_of(found.fragments)] == ["", *map(str, range(1, 100))]
    assert str(found.fragments[1]) == f"{tmp_path / 'a.parquet'} (row groups 2-3)"


def test_order_is_that_of_content_and_occurrences_are_counted(tmp_path: Path) -> None:
    for name, rows in (("b", 3), ("a", 5)):
        parquet.write_table(table(rows), tmp_path / f"{name}.parquet")
    shutil.copy(tmp_path / "a.parquet", tmp_path / "z.parquet")
    paths = sorted(tmp_path.iterdir())
    first, second = fragments_of(paths), fragments_of(paths[::-1])
    assert [f.order for f in first.fragments] == [f.order for f in second.fragments]
    assert sorted(f.occurrence for f in first.fragments) == [0, 0, 1]


def test_equal_files_in_two_partitions_do_not_swap_with_the_order_of_listing(
    tmp_path: Path,
) -> None:
    paths = []
    for year in (2023, 2024):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        parquet.write_table(table(4), folder / "x.parquet")
        paths.append(folder / "x.parquet")
    found = fragments_of([tmp_path])
    assert {f.occurrence for f in found.fragments} == {0}
    assert found.folders == {"year": pa.int64()}
    for order in (paths, paths[::-1], [tmp_path / "year=*" / "*.parquet"]):
        again = fragments_of(order)
        assert [f.order for f in again.fragments] == [f.order for f in found.fragments]
        assert [dict(f.folders) for f in again.fragments] == [
            dict(f.folders) for f in found.fragments
        ]


@pytest.mark.parametrize("name", ["x.csv.gz", "x.jsonl.gz", "x.feather", "x.json"])
def test_what_cannot_be_entered_in_the_middle_is_one_piece(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "BYTES", 8)
    path = tmp_path / name
    text = b"some,bytes\nof,no\nimportance,here\n"
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert len(fragments_of([path]).fragments) == 1


def test_quotes_in_the_header_only_do_not_count(tmp_path: Path) -> None:
    plain, quoted = tmp_path / "plain.csv", tmp_path / "quoted.csv"
    plain.write_text('"a","b"\n1,2\n')
    quoted.write_text('a,b\n1,"2"\n')
    assert [f.quoted for f in fragments_of([plain]).fragments] == [False]
    assert [f.quoted for f in fragments_of([quoted]).fragments] == [True]


def test_files_that_are_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    with pytest.raises(DataProblem, match="is empty"):
        fragments_of([tmp_path / "empty.csv"])
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and then nothing PAR1")
    with pytest.raises(DataProblem, match=r"x\.parquet cannot be read as a Parquet file"):
        fragments_of([tmp_path / "x.parquet"])
    (one,) = fragments_of([tmp_path / "x.parquet"], skip=True).fragments
    assert str(one) == str(tmp_path / "x.parquet")
    with pytest.raises(DataProblem, match="did you mean"):
        fragments_of([tmp_path / "y.parquet"])
    with pytest.raises(DataProblem, match="several formats"):
        fragments_of([tmp_path])
    with pytest.raises(DataProblem, match="dataset:zeus is not a file") as caught:
        fragments_of(["dataset:zeus"])
    assert "compass read 'dataset:zeus' -o x.parquet" in str(caught.value.hint)


def test_files_of_one_run_each_are_made_a_table_first(tmp_path: Path) -> None:
    for run in ("a", "b"):
        (tmp_path / f"{run}.json").write_text('{"nodes": 2, "time": 3.5}')
    with pytest.raises(DataProblem, match=r"a\.json is the profile of a run") as caught:
        fragments_of([f"{tmp_path}/*.json"])
    assert f"compass read '{tmp_path}/*.json' -o runs.parquet" in str(caught.value.hint)
