"""A sample stays a sample however it is read, and says where its rows were before."""

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st
from pyarrow import feather

from compass.domain.errors import DataProblem
from compass.readers import Table, read
from compass.readers.sample import MARK, marked

HOW = {"method": "guided", "keep": 0.05, "seed": 7, "rows": 2000, "usable": 2000, "kept": 100}


def sample(n: int = 100, how: dict[str, Any] | None = None, file: str = "jobs.csv") -> pa.Table:
    """Rows as `compass reduce` writes them: every twentieth of a file."""
    rng = np.random.default_rng(n)
    table = pa.table(
        {
            "threads": rng.integers(1, 9, n),
            "runtime_s": rng.uniform(1, 10, n),
            "sample_weight": rng.uniform(1, 39, n),
            "sample_file": pa.array([file] * n).dictionary_encode(),
            "sample_row": np.arange(n) * 20,
        }
    )
    return table.cast(marked(table.schema, HOW if how is None else how))


def test_a_sample_is_recognised_in_parquet_feather_and_memory(tmp_path: Path) -> None:
    pq.write_table(sample(), tmp_path / "a.parquet")
    feather.write_feather(sample(), str(tmp_path / "a.feather"))
    for source in (tmp_path / "a.parquet", tmp_path / "a.feather", sample()):
        table = read(source)
        assert table.sampled is not None
        assert table.sampled.words == "a sample of 5 % (guided, seed 7): 100 of 2,000 rows"
        assert table.sampled.how == HOW
        assert table.source_of(3) == "row 60 of jobs.csv"
        assert table.row_label(3) == "row 3 (row 60 of jobs.csv)"
        assert table.arrow.schema.metadata == {MARK: json.dumps(HOW).encode()}


def test_the_mark_survives_nested_columns_blanks_in_names_and_fewer_columns() -> None:
    wide = sample().append_column("used", pa.array([{"cpu": 1.0, "gpu": 2.0}] * 100))
    wide = wide.rename_columns([f" {name} " for name in wide.column_names])
    wide = wide.replace_schema_metadata(sample().schema.metadata)
    table = read(wide)
    assert "used.cpu" in table.names
    assert table.drop(["used.cpu"]).sampled == table.sampled is not None
    assert table.drop(["sample_file"]).sampled is not None, "its rows still count 1/chance"
    assert table.drop(["sample_file"]).source_of(3) is None
    assert table.drop(["sample_weight"]).sampled is None


def test_samples_that_are_read_together_stay_samples(tmp_path: Path) -> None:
    other = HOW | {"seed": 8, "rows": 500, "usable": 400, "kept": 20}
    pq.write_table(sample(), tmp_path / "a.parquet")
    pq.write_table(sample(20, other, "more.csv"), tmp_path / "b.parquet")
    both = read([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert both.sampled is not None
    assert (
        both.sampled.words == "2 samples (guided, seed 7; guided, seed 8): 120 of 2,400 usable rows"
    )
    assert both.source_of(101) == "row 20 of more.csv"
    assert both.part_of(101) == (str(tmp_path / "b.parquet"), 1)
    pq.write_table(both.arrow, tmp_path / "c.parquet")
    again = read([tmp_path / "c.parquet", tmp_path / "a.parquet"]).sampled
    assert again is not None
    assert [one.seed for one in again.samples] == [7, 8, 7]


def test_rows_that_were_added_to_a_sample_are_where_they_were_read(tmp_path: Path) -> None:
    pq.write_table(sample(), tmp_path / "a.parquet")
    (tmp_path / "new.csv").write_text("threads,runtime_s\n4,2.5\n8,1.5\n")
    both = read([tmp_path / "a.parquet", tmp_path / "new.csv"], fill=True)
    assert both.sampled is not None
    assert both.source_of(101) is None
    assert both.part_of(101) == (str(tmp_path / "new.csv"), 1)
    assert both.row_label(101) == "row 101"
    assert both.source_of(99) == "row 1980 of jobs.csv"


def test_the_names_alone_make_no_sample(tmp_path: Path) -> None:
    plain = sample().replace_schema_metadata(None)
    pq.write_table(plain, tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet")
    assert table.sampled is None
    assert table.source_of(3) is None
    assert table.part_of(3) == (str(tmp_path / "a.parquet"), 3)
    assert table.row_label(3) == "row 3"
    assert table.fingerprint == read(sample()).fingerprint


def test_a_mark_that_says_little_is_a_mark_all_the_same() -> None:
    found = read(sample(how={"why": "a test"})).sampled
    assert found is not None
    assert found.words == "a sample"
    assert found.how == {"why": "a test"}


@pytest.mark.parametrize(
    "mark",
    [b"", b"{", b"[]", b"7", b'{"keep": "much"}', b'{"samples": 3}', b"[" * 100_000, b"\xff\xfe"],
)
def test_a_damaged_mark_is_told(mark: bytes) -> None:
    with pytest.raises(DataProblem, match="the mark is damaged"):
        read(sample().replace_schema_metadata({MARK: mark}))


@given(mark=st.binary(max_size=40))
@budget(max_examples=100, deadline=None)
def test_no_mark_breaks_the_reader(mark: bytes) -> None:
    with contextlib.suppress(DataProblem):
        assert isinstance(read(sample(3).replace_schema_metadata({MARK: mark})), Table)


@pytest.mark.parametrize(
    ("name", "values"),
    [("sample_weight", ["a", "b"]), ("sample_file", [1.5, 2.5]), ("sample_row", ["x", "y"])],
)
def test_a_column_of_a_sample_must_hold_what_it_should(name: str, values: list[Any]) -> None:
    table = sample(2)
    wrong = table.set_column(table.column_names.index(name), name, pa.array(values))
    with pytest.raises(DataProblem, match=f"'{name}' of a sample cannot hold"):
        read(wrong)
