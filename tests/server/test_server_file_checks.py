"""Whether a file may be read at all, before anything is parsed."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
from hostile_files import footed, lying, page_bomb, wide_parquet, written
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.errors import CompassError
from compass.domain.limits import ServerLimits
from compass.server.file_checks import allowed, check_shape, check_table
from compass.server.problems import Refused
from conftest import cluster_columns
from property_examples import examples

LIMITS = ServerLimits(rows=100, columns=10, cells=500, memory_bytes=2**30).model_dump()


def judged(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    try:
        check_shape(path, LIMITS)
    except Refused as refused:
        return "large" if refused.status == 413 else "refused"
    except CompassError:
        return "damaged"
    return "fine"


@pytest.mark.parametrize(
    ("content", "verdict"),
    [
        (b"", "fine"),
        (b"a,b\n1,2\n", "fine"),
        (b",".join([b"c"] * 10), "fine"),
        (b",".join([b"c"] * 11), "large"),
        (b";".join([b"c"] * 11) + b"\n", "large"),
        (b"\t".join([b"c"] * 11) + b"\n", "large"),
        (b"x" * (32 * 2**20 + 1), "large"),
        (b"PAR1", "damaged"),
        (footed(b""), "damaged"),
        (wide_parquet(5), "fine"),
        (wide_parquet(11), "large"),
        (wide_parquet(100_000), "large"),
        (written(pa.table({"a": range(100)})), "fine"),
        (written(pa.table({"a": range(101)})), "large"),
        (written(pa.table({f"c{n}": range(60) for n in range(9)})), "large"),
    ],
    ids=lambda value: repr(value[:12]) if isinstance(value, bytes) else value,
)
def test_files(tmp_path: Path, content: bytes, verdict: str) -> None:
    assert judged(tmp_path / "file", content) == verdict


def test_a_bomb_that_says_so_and_one_that_lies(tmp_path: Path) -> None:
    roomy = LIMITS | {"rows": 10**9, "cells": 10**9}
    bomb = page_bomb()
    path = tmp_path / "bomb"
    path.write_bytes(bomb)
    with pytest.raises(Refused, match="inflates"):
        check_shape(path, roomy)
    path.write_bytes(lying(bomb))
    check_shape(path, roomy)  # only the limit of memory helps against this one


@examples(150)
@given(st.randoms(use_true_random=False))
def test_damage_is_told_and_never_more(
    tmp_path_factory: pytest.TempPathFactory, rng: random.Random
) -> None:
    whole = bytearray(written(pa.table(cluster_columns(20))))
    for _ in range(rng.randint(1, 8)):
        whole[rng.randrange(len(whole))] = rng.randrange(256)
    path = tmp_path_factory.getbasetemp() / "damaged.parquet"
    assert judged(path, bytes(whole[: rng.randrange(1, len(whole) + 1)]))


@given(st.integers(0, 10**6), st.integers(0, 3000))
def test_tables(rows: int, columns: int) -> None:
    fits = rows <= 100 and columns <= 10 and rows * columns <= 500
    if fits:
        check_table(rows, columns, LIMITS)
    else:
        with pytest.raises(Refused) as refused:
            check_table(rows, columns, LIMITS)
        assert refused.value.status == 413


def test_a_folder_with_very_many_files_is_not_walked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        (tmp_path / name).touch()
    assert allowed(str(tmp_path), [tmp_path]) == tmp_path.resolve()
    monkeypatch.setattr("compass.server.file_checks._MOST_FILES", 2)
    with pytest.raises(Refused, match="more than 2") as refused:
        allowed(str(tmp_path), [tmp_path])
    assert refused.value.status == 413
