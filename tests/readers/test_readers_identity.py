"""What a file is, whatever its name."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from compass.readers.identity import identities


def large(path: Path, middle: bytes = b"m", edge: bytes = b"e") -> Path:
    path.write_bytes(edge * 100_000 + middle * 100_000 + b"z" * 100_000)
    return path


def test_names_and_folders_do_not_matter_but_every_edge_does(tmp_path: Path) -> None:
    one = large(tmp_path / "one")
    (tmp_path / "folder").mkdir()
    moved = tmp_path / "folder" / "two"
    shutil.copy(one, moved)
    assert identities([one]) == identities([moved])
    other = large(tmp_path / "three", edge=b"f")
    assert identities([one]) != identities([other])
    longer = tmp_path / "four"
    longer.write_bytes(one.read_bytes() + b"z")
    assert identities([one]) != identities([longer])


def test_files_with_equal_edges_are_told_apart_by_all_of_their_bytes(tmp_path: Path) -> None:
    one, two = large(tmp_path / "one"), large(tmp_path / "two", middle=b"n")
    found = identities([one, two])
    assert found[0] != found[1]
    assert identities([two, one]) == found[::-1]


def test_a_copy_and_the_same_file_listed_again_are_one_content(tmp_path: Path) -> None:
    one = large(tmp_path / "one")
    shutil.copy(one, tmp_path / "copy")
    listed = identities([one, one])
    assert (
        listed == identities([one, tmp_path / "copy"]) == identities([one, tmp_path / "." / "one"])
    )
    assert len(set(listed)) == 1


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 131_072])
def test_files_of_every_size_have_a_name(size: int, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a" * size)
    other = tmp_path / "y"
    other.write_bytes(b"a" * max(size - 1, 0) + b"b")
    assert identities([path])[0] != identities([other])[0]


def test_parquet_files_differ_by_their_footer(tmp_path: Path) -> None:
    """Equal lengths and ends: what each column chunk holds is in the footer."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal(50_000)
    swapped = values.copy()
    swapped[25_000] = 1e9  # the greatest value of a row group in the middle
    for name, column in (("a", values), ("b", swapped)):
        parquet.write_table(
            pa.table({"x": column}), tmp_path / name, row_group_size=1000, use_dictionary=False
        )
    assert (tmp_path / "a").stat().st_size == (tmp_path / "b").stat().st_size
    assert identities([tmp_path / "a"]) != identities([tmp_path / "b"])
