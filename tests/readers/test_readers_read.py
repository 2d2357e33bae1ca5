"""What can be read: paths, globs, folders, lists, and tables in memory."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from compass.domain.errors import DataProblem, UnknownName
from compass.readers import TablePart, read
from compass.readers.files import cannot_open

DATA = Path(os.environ.get("COMPASS_DATA", Path(__file__).parents[3] / "shared" / "data"))


def write(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


def refused(source: object) -> DataProblem:
    with pytest.raises(DataProblem) as caught:
        read(source)
    assert caught.value.hint
    return caught.value


def test_several_files_are_one_table(tmp_path: Path) -> None:
    write(tmp_path / "b.csv", "t,n\n3.5,3\n")
    write(tmp_path / "a.csv", "n,t\n1,1\n2,2\n")
    for source in (tmp_path, str(tmp_path / "*.csv"), tmp_path / "[ab].csv"):
        t = read(source)
        assert [t.row(i)["n"] for i in range(3)] == [1, 2, 3]
        assert t.row(0)["t"] == 1.0
        assert t.part_of(2) == (str(tmp_path / "b.csv"), 0)
    listed = read([tmp_path / "b.csv", str(tmp_path / "a.csv")])
    assert listed.parts == (
        TablePart(str(tmp_path / "b.csv"), 1),
        TablePart(str(tmp_path / "a.csv"), 2),
    )
    assert listed.row(0) == {"t": 3.5, "n": 3}


def test_a_name_with_brackets_is_a_name_first(tmp_path: Path) -> None:
    write(tmp_path / "run[1].csv", "a,b\n1,2\n")
    assert read(tmp_path / "run[1].csv").rows == 1


def test_a_column_that_is_empty_in_one_file_takes_the_type_of_the_others(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "n,cap\n1,\n")
    write(tmp_path / "b.csv", "n,cap\n2,low\n")
    assert read(tmp_path).row(1) == {"n": 2, "cap": "low"}
    assert read(tmp_path).row(0) == {"n": 1, "cap": None}


def test_files_that_do_not_fit_together(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "n,time\n1,1\n")
    other = write(tmp_path / "b.csv", "n,tima\n2,1\n")
    problem = refused(tmp_path)
    assert "b.csv has no column 'time'" in problem.message
    assert "tima" in problem.hint
    write(other, "n,time,extra\n2,1,1\n")
    assert "a.csv has no column 'extra'" in refused(tmp_path).message
    write(other, "n,time\n2,fast\n")
    message = refused(tmp_path).message
    assert "'time'" in message
    assert "whole numbers in" in message
    assert f"text in {other}" in message


def test_a_folder_reads_only_files_of_one_known_format(tmp_path: Path) -> None:
    write(tmp_path / "README.md", "a,b\n")
    write(tmp_path / "notes.txt", "a,b\n")
    write(tmp_path / ".hidden.csv", "x")
    write(tmp_path / "_SUCCESS.csv", "")
    assert "no file that can be read" in refused(tmp_path).message
    write(tmp_path / "a.csv", "a,b\n1,2\n")
    assert read(tmp_path).rows == 1
    write(tmp_path / "b.jsonl", '{"a": 1, "b": 2}\n')
    problem = refused(tmp_path)
    assert "csv, jsonl" in problem.message
    assert "*.csv" in problem.hint


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    write(tmp_path / "jobs.csv", "a,b\n1,2\n")
    assert str(tmp_path / "jobs.csv") in refused(tmp_path / "job.csv").hint
    assert "jobs.csv" in refused(tmp_path / "zzz").hint
    assert "no folder" in refused(tmp_path / "no" / "jobs.csv").hint
    assert "no file matches" in refused(tmp_path / "*.parquet").message
    assert "empty" in refused([]).message


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    problem = cannot_open(tmp_path / "x.csv", PermissionError(13, "Permission denied"))
    assert "not allowed" in problem.message
    assert "chmod" in problem.hint
    if os.geteuid() == 0:
        pytest.skip("the superuser may read everything")
    path = write(tmp_path / "x.csv", "a,b\n1,2\n")
    path.chmod(0)
    assert "not allowed" in refused(path).message


def test_tables_in_memory() -> None:
    columns = {"n": [1, 2], "t": [0.5, None]}
    arrow = pa.table(columns)

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return arrow.__arrow_c_stream__(requested_schema)

    class Frame:
        def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
            return arrow.__dataframe__(nan_as_null, allow_copy)

    wanted = read(columns)
    assert wanted.parts == (TablePart(None, 2),)
    assert wanted.part_of(1) == (None, 1)
    arrays = {"n": np.array([1, 2]), "t": np.array([0.5, np.nan])}
    for source in (arrow, arrow.to_batches()[0], Stream(), Frame(), arrays, wanted):
        assert read(source).fingerprint == wanted.fingerprint, type(source)


def test_a_pandas_frame_comes_without_its_row_labels() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": [1, 2], "t": [0.5, float("nan")]}, index=["x", "y"])
    assert read(frame).fingerprint == read({"n": [1, 2], "t": [0.5, None]}).fingerprint


def test_what_is_not_a_table() -> None:
    assert "int is not a table" in refused(7).message
    assert "not of one length" in refused({"a": [1], "b": [1, 2]}).message
    assert "column 'a'" in refused({"a": [1, "x"], "b": [1, 2]}).message
    assert "column 'a'" in refused({"a": 1, "b": 2}).message
    assert "one column" in refused({"a": [1]}).message
    assert "no columns" in refused({}).message
    assert "no rows" in refused({"a": [], "b": []}).message
    twice = pa.table([[1], [2]], names=["a", "a"])
    assert "several columns named a" in refused(twice).message


def test_an_unknown_reader_offers_the_nearest(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "a,b\n1,2\n")
    with pytest.raises(UnknownName) as caught:
        read(path, reader="parket")
    assert "parquet" in caught.value.hint


def test_real_traces_are_read() -> None:
    if not DATA.is_dir():
        pytest.skip("the public traces are not here (COMPASS_DATA)")
    t = read(DATA / "stampede2_apps" / "amg_train.csv")
    assert (t.rows, len(t.names)) == (65536, 15)
    piped = read(DATA / "kabre_sacct" / "raw" / "sacct.csv")
    assert piped.rows == 30376
    assert "Partition" in piped.names
