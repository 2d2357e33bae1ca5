"""Folders whose names hold values."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.errors import DataProblem
from compass.readers import hive, read
from compass.readers.write import write
from property_examples import examples


def put(path: Path, **columns: list[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write(pa.table(columns), path)


def test_partitions_become_typed_columns(tmp_path: Path) -> None:
    put(tmp_path / "year=2023" / "part=1.5" / "site=a%2Fb" / "x.parquet", n=[1, 2], t=[0.5, 0.6])
    put(tmp_path / "year=2024" / "part=2" / f"site={hive.NOTHING}" / "x.parquet", n=[3], t=[0.7])
    table = read(tmp_path)
    assert table.arrow.schema.field("year").type == pa.int64()
    assert table.arrow.schema.field("part").type == pa.float64()
    assert table.row(0) == {"n": 1, "t": 0.5, "year": 2023, "part": 1.5, "site": "a/b"}
    assert table.row(2) == {"n": 3, "t": 0.7, "year": 2024, "part": 2.0, "site": None}


def test_the_same_columns_from_globs_and_lists(tmp_path: Path) -> None:
    files = [
        put(tmp_path / f"year={year}" / "x.csv.gz", n=[year, 1], t=[0.5, 1.5])
        for year in (2022, 2023)
    ]
    whole = read(tmp_path)
    assert "year" in whole.names
    assert read(str(tmp_path / "year=*" / "*.csv.gz")).fingerprint == whole.fingerprint
    assert read(str(tmp_path / "**" / "*.gz")).fingerprint == whole.fingerprint
    assert read(files).fingerprint == whole.fingerprint
    # Who names one folder or one file has chosen the year already.
    assert read(tmp_path / "year=2022").names == ("n", "t")
    assert read(str(tmp_path / "year=2022" / "*.gz")).names == ("n", "t")
    assert read(files[:1]).names == ("n", "t")


def test_a_relative_list_has_partitions_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for app in ("wrf", "lammps"):
        put(tmp_path / f"app={app}" / "x.parquet", n=[1], t=[2.0])
    monkeypatch.chdir(tmp_path)
    assert read(["app=wrf/x.parquet", "app=lammps/x.parquet"]).row(1)["app"] == "lammps"
    assert read(".").row(0)["app"] == "lammps"


def test_a_file_may_have_one_column_beside_its_folder(tmp_path: Path) -> None:
    put(tmp_path / "n=1" / "x.parquet", t=[1.0])
    put(tmp_path / "n=2" / "x.parquet", t=[2.0])
    assert read(tmp_path).row(1) == {"t": 2.0, "n": 2}


def test_folders_that_do_not_fit_together(tmp_path: Path) -> None:
    put(tmp_path / "year=2023" / "x.parquet", n=[1], t=[1.0])
    other = put(tmp_path / "month=2" / "x.parquet", n=[1], t=[1.0])
    with pytest.raises(DataProblem, match="gives 'month'"):
        read(tmp_path)
    other.unlink()
    put(tmp_path / "year=2024" / "year=2024" / "x.parquet", n=[1], t=[1.0])
    with pytest.raises(DataProblem, match="'year' twice"):
        read(tmp_path)


def test_a_column_of_the_same_name_must_agree(tmp_path: Path) -> None:
    put(tmp_path / "n=7" / "x.parquet", n=[7, 7], t=[1.0, 2.0])
    assert read(tmp_path).names == ("n", "t")
    put(tmp_path / "n=7" / "x.parquet", n=[7, 8], t=[1.0, 2.0])
    with pytest.raises(DataProblem, match="other values"):
        read(tmp_path)
    put(tmp_path / "n=7" / "x.parquet", n=["7", "7"], t=[1.0, 2.0])
    assert read(tmp_path).row(0)["n"] == "7"
    put(tmp_path / "n=7" / "x.parquet", n=[7, None], t=[1.0, 2.0])
    with pytest.raises(DataProblem, match="other values"):
        read(tmp_path)


def test_the_order_of_columns_and_empty_files_do_not_matter(tmp_path: Path) -> None:
    put(tmp_path / "year=1" / "a.parquet", n=[1], t=[1.0])
    put(tmp_path / "year=2" / "b.parquet", t=[2.0], n=[2])
    empty = pa.table({"n": pa.array([], pa.int64()), "t": pa.array([], pa.float64())})
    (tmp_path / "year=3").mkdir()
    write(empty, tmp_path / "year=3" / "c.parquet")
    table = read(tmp_path)
    assert [table.row(i)["n"] for i in range(table.rows)] == [1, 2]
    assert [part.rows for part in table.parts] == [1, 1, 0]


@examples(60)
@given(st.lists(st.one_of(st.none(), st.text(min_size=1, max_size=6)), min_size=1, max_size=4))
def test_every_value_survives_its_folder(values: list[str | None]) -> None:
    from urllib.parse import quote

    root = Path("/data")
    folders = [
        hive.NOTHING if value is None else quote(value, safe="").replace(".", "%2E")
        for value in values
    ]
    found = hive.partitions([root / f"k={name}" / "x.csv" for name in folders], root)
    assert [one["k"] for one in found] == values
    kind = hive.types(found)["k"]
    table = hive.with_partition(pa.table({"n": [1]}), found[0], {"k": kind}, "x")
    cell = table.column("k")[0].as_py()
    if values[0] is None or pa.types.is_large_string(kind):
        assert cell == values[0]
    else:
        assert cell == float(values[0])
