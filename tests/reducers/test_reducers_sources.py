"""Every format: each row of a sample is the row of the file that it says it is."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from reduce_case import STUDY, bare, jobs, reduced, write

from compass.domain.errors import DataProblem
from compass.readers import fragments
from compass.readers.fragments import fragments_of
from compass.settings import ReduceSettings

ROWS = 900
Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _small_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "BYTES", 4000)
    monkeypatch.setattr(fragments, "ROWS", 200)
    monkeypatch.setattr("compass.reducers.pilot._LEAST", 4)


def rows(note: Callable[[int], str] = lambda n: f"n{n % 7}") -> Rows:
    return [{**row, "note": note(n)} for n, row in enumerate(jobs(ROWS).to_pylist())]


def text(data: Rows, *, end: str = "\n", separator: str = ",", final: bool = True) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=end, delimiter=separator)
    writer.writerows([list(data[0]), *(["" if c is None else c for c in r.values()] for r in data)])
    whole = out.getvalue()
    return (whole if final else whole.removesuffix(end)).encode()


def lines(data: Rows) -> bytes:
    kept = ({k: v for k, v in row.items() if v is not None} for row in data)
    return "".join(json.dumps(row) + "\n" for row in kept).encode()


def compressed(content: bytes, codec: str) -> bytes:
    return bytes(pa.compress(content, codec=codec, asbytes=True))


def quoted(n: int) -> str:
    return ("plain", "with, comma", 'with "quotes"', "two\nlines", 'a\r\n,"\n"')[n % 5]


def late(n: int) -> str:
    return quoted(n) if n > ROWS - 40 else "plain"


CASES: dict[str, tuple[str, Rows, Callable[[Rows], bytes]]] = {
    "csv": ("x.csv", rows(), text),
    "no final line end": ("x.csv", rows(), lambda r: text(r, final=False)),
    "crlf": ("x.csv", rows(), lambda r: text(r, end="\r\n")),
    "semicolons": ("x.csv", rows(), lambda r: text(r, separator=";")),
    "byte order mark": ("x.csv", rows(), lambda r: b"\xef\xbb\xbf" + text(r)),
    "quotes": ("x.csv", rows(quoted), text),
    "quotes, crlf": ("x.csv", rows(quoted), lambda r: text(r, end="\r\n")),
    "late quotes": ("x.csv", rows(late), text),
    "long cells": ("x.csv", rows(lambda n: "y" * (9000 if n % 100 == 0 else 5)), text),
    "long quotes": ("x.csv", rows(lambda n: "a\nb," * (2500 if n % 100 == 0 else 1)), text),
    "tsv": ("x.tsv", rows(), lambda r: text(r, separator="\t")),
    "csv.gz": ("x.csv.gz", rows(quoted), lambda r: gzip.compress(text(r))),
    "csv.zst": ("x.csv.zst", rows(quoted), lambda r: compressed(text(r), "zstd")),
    "jsonl": ("x.jsonl", rows(quoted), lines),
    "jsonl.gz": ("x.jsonl.gz", rows(quoted), lambda r: gzip.compress(lines(r))),
}


def checked(sample: pa.Table, truth: dict[str, Rows]) -> None:
    """Every cell of a sample is that of the row which it names; no row is there twice."""
    found = sample.to_pylist()
    assert len(found) > 30
    assert len({(row["sample_file"], row["sample_row"]) for row in found}) == len(found)
    for row in found:
        source = truth[row["sample_file"]][row["sample_row"]]
        for name, cell in source.items():
            assert row[name] == (pytest.approx(cell) if isinstance(cell, float) else cell)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", ["uniform", "guided"])
def test_rows_of_text_files_are_where_they_say(case: str, method: str, tmp_path: Path) -> None:
    name, data, written = CASES[case]
    path = tmp_path / name
    path.write_bytes(written(data))
    study = STUDY.model_copy(
        update={"columns": {**STUDY.columns, "note": STUDY.columns["id"]}}
    )  # ignored, but in the sample
    report, sample = reduced(path, tmp_path / "s.parquet", keep=0.2, method=method, study=study)
    assert report.rows == ROWS
    assert report.usable == sum(row["size"] is not None for row in data)
    whole = path.suffix in (".gz", ".zst")
    assert (report.fragments == 1) if whole else (report.fragments > 5)
    checked(sample, {str(path): data})
    assert report.weight == pytest.approx(report.usable, rel=0.4)


@pytest.mark.parametrize("executor", ["threads:2", "processes:1"])
def test_quotes_that_the_first_look_misses_begin_the_pass_anew(
    executor: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text(rows(late)))
    looks: list[bool] = []
    report, sample = reduced(
        path,
        tmp_path / "s.parquet",
        settings=ReduceSettings(places=1, pool=64),
        method="uniform",
        keep=0.5,
        executor=executor,
        tell=lambda stage, *_: looks.append(stage == "looking"),
    )
    assert sum(looks) == 2
    assert report.rows == ROWS
    checked(sample, {str(path): rows(late)})
    assert any("\n" in note for note in sample.column("note").to_pylist())
    _, known = reduced(path, tmp_path / "1.parquet", method="uniform", keep=0.5)
    assert sample.equals(known)


def test_feather_and_parquet_rows_are_where_they_say(tmp_path: Path) -> None:
    table = jobs(ROWS)
    feather.write_feather(table, str(tmp_path / "x.feather"))
    write(tmp_path / "x.parquet", table, group=64)
    for name in ("x.feather", "x.parquet"):
        report, sample = reduced(tmp_path / name, tmp_path / "s.parquet", keep=0.2)
        assert report.rows == ROWS
        checked(sample, {str(tmp_path / name): table.to_pylist()})


def test_hive_folders_give_their_column_and_rows_are_where_they_say(tmp_path: Path) -> None:
    truth = {}
    for year in (2023, 2024):
        for part in (1, 2):
            folder = tmp_path / "hive" / f"year={year}" / f"part={part}"
            folder.mkdir(parents=True)
            table = jobs(400, seed=part)  # equal files in two years
            path = write(folder / "x.parquet", table)
            truth[str(path)] = [{**row, "year": year, "part": part} for row in table.to_pylist()]
    report, sample = reduced(tmp_path / "hive", tmp_path / "s.parquet", keep=0.2)
    assert (report.files, report.rows) == (4, 1600)
    checked(sample, truth)
    listed = sorted(truth, reverse=True)
    _, again = reduced(listed, tmp_path / "t.parquet", keep=0.2)
    assert bare(again).equals(bare(sample))


def test_conditions_and_strata_may_name_the_column_of_a_folder(tmp_path: Path) -> None:
    for year, count in ((2023, 800), (2024, 100)):
        (tmp_path / "hive" / f"year={year}").mkdir(parents=True)
        write(tmp_path / "hive" / f"year={year}" / "x.parquet", jobs(count, seed=year))
    report, sample = reduced(tmp_path / "hive", tmp_path / "s.parquet", where=["year == 2024"])
    assert report.usable <= 100
    assert set(sample.column("year").to_pylist()) == {2024}
    _, sample = reduced(tmp_path / "hive", tmp_path / "s.parquet", method="stratified", by=["year"])
    weight = {row["year"]: row["sample_weight"] for row in sample.to_pylist()}
    assert weight[2024] < weight[2023]


def test_rows_after_unreadable_text_say_that_nobody_knows_their_number(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    content = text(rows()).splitlines(keepends=True)
    content[500] = b"one,two\n"
    path.write_bytes(b"".join(content))
    with pytest.raises(DataProblem, match=r"line 501 of .*x\.csv has 2 cells"):
        reduced(path, tmp_path / "s.parquet", method="uniform")
    report, sample = reduced(
        path, tmp_path / "s.parquet", method="uniform", skip_unreadable=True, keep=0.3
    )
    assert len(report.unreadable) == 1
    truth = rows()
    numbered = [row for row in sample.to_pylist() if row["sample_row"] is not None]
    for row in numbered:
        assert truth[row["sample_row"]]["id"] == row["id"]
        assert row["sample_row"] < 500
    rest = [row["id"] - 1_000_000 for row in sample.to_pylist() if row["sample_row"] is None]
    assert min(rest) > 500
    assert report.rows < ROWS


def test_the_same_text_gives_the_same_rows_under_another_name(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_bytes(text(rows()))
    _, first = reduced([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "1.parquet")
    _, second = reduced([tmp_path / "c.csv", tmp_path / "a.csv"], tmp_path / "2.parquet")
    assert bare(first).equals(bare(second))


def test_several_formats_in_one_command(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(text(rows()))
    notes = pa.array([row["note"] for row in rows()])
    table = jobs(ROWS).append_column("note", notes)
    parquet.write_table(table, tmp_path / "b.parquet")
    both = [tmp_path / "a.csv", tmp_path / "b.parquet"]
    report, sample = reduced(both, tmp_path / "s.parquet", keep=0.2)
    assert report.rows == 2 * ROWS
    checked(sample, {str(path): rows() for path in both})
    assert len(fragments_of(both).fragments) > 10
