"""`compass read`: any source as one table file."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_case import compass, process, refused, write_csv

from compass.arrow import UNIT
from compass.readers import read

COLUMNS = {"nodes": [1, 2, 4], "app": ["wrf", "", "lammps"], "runtime": [10.5, 5.25, 2.5]}


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "jobs.csv", COLUMNS)


def test_a_table_is_shown_and_written(jobs: Path, tmp_path: Path) -> None:
    result = compass("read", jobs, "-o", tmp_path / "jobs.parquet")
    assert result.code == 0, result
    assert "3 rows, 3 columns" in result.out
    assert "whole numbers" in result.out
    assert "2.5 .. 10.5" in result.out
    # A narrow terminal breaks a long path anywhere.
    assert f"from{jobs}(3rows)" in "".join(result.out.split())
    assert result.err == f"wrote {tmp_path / 'jobs.parquet'}\n"
    assert read(tmp_path / "jobs.parquet").fingerprint == read(jobs).fingerprint


def test_without_output_it_only_looks(jobs: Path, tmp_path: Path) -> None:
    result = compass("read", jobs)
    assert result.code == 0
    assert result.err == ""
    assert [entry.name for entry in tmp_path.iterdir()] == ["jobs.csv"]


def test_json_says_the_same(jobs: Path, tmp_path: Path) -> None:
    result = compass("read", jobs, "-o", tmp_path / "x.csv.gz", "--json")
    told = json.loads(result.out)
    assert told["rows"] == 3
    assert told["files"] == [{"file": str(jobs), "rows": 3}]
    assert told["wrote"] == str(tmp_path / "x.csv.gz")
    by_name = {column["name"]: column for column in told["columns"]}
    assert by_name["app"]["missing"] == 1
    assert by_name["app"]["distinct"] == 2
    assert by_name["runtime"]["low"] == 2.5
    assert by_name["nodes"]["type"] == "whole numbers"
    assert read(tmp_path / "x.csv.gz").fingerprint == read(jobs).fingerprint


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "feather", "jsonl", "tsv.zst"])
def test_the_ending_says_how(jobs: Path, tmp_path: Path, ending: str) -> None:
    assert compass("read", jobs, "-o", tmp_path / f"x.{ending}").code == 0
    assert read(tmp_path / f"x.{ending}").fingerprint == read(jobs).fingerprint


def test_units_go_along(tmp_path: Path) -> None:
    waits = pa.array([1500, 2500], pa.duration("ms"))
    pq.write_table(pa.table({"n": [1, 2], "wait": waits}), tmp_path / "in.parquet")
    result = compass("read", tmp_path / "in.parquet", "-o", tmp_path / "out.parquet", "--json")
    assert json.loads(result.out)["columns"][1]["unit"] == "s"
    again = read(tmp_path / "out.parquet")
    assert again.arrow.schema.field("wait").metadata == {UNIT: b"s"}
    assert again.row(0)["wait"] == 1.5


def test_folders_with_values_and_files_with_other_columns(tmp_path: Path) -> None:
    for year, columns in ((2023, COLUMNS), (2024, {**COLUMNS, "cap": [90, 80, 70]})):
        (tmp_path / "runs" / f"year={year}").mkdir(parents=True)
        write_csv(tmp_path / "runs" / f"year={year}" / "x.csv", columns)
    refused(compass("read", tmp_path / "runs"), "has no column 'cap'", "--fill")
    result = compass("read", tmp_path / "runs", "--fill", "--json")
    told = json.loads(result.out)
    assert [column["name"] for column in told["columns"]][-2:] == ["year", "cap"]
    assert told["rows"] == 6


def test_the_old_file_is_replaced_but_never_the_source(jobs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    output.write_text("something else")
    assert compass("read", jobs, "-o", output).code == 0
    assert read(output).rows == 3
    before = jobs.read_bytes()
    refused(compass("read", jobs, "-o", jobs), "one of the files that are read")
    assert jobs.read_bytes() == before


def test_what_cannot_be_done_is_told_before_the_work(jobs: Path, tmp_path: Path) -> None:
    refused(compass("read", jobs, "-o", tmp_path / "x.xlsx"), "how to write", ".parquet")
    refused(compass("read", jobs, "-o", tmp_path / "no" / "x.csv"), "no folder")
    refused(compass("read", jobs, "-o", tmp_path), "it is a folder")
    refused(compass("read", tmp_path / "job.csv"), "did you mean")
    refused(compass("read", ""), "SOURCE is empty")
    refused(compass("read", jobs, "--reader", "parket"), "parquet")
    refused(compass("read", jobs, "--metric", "time"), "jobs.csv")
    refused(compass("read", "https://example.org/jobs.csv"), "curl")


def test_what_a_reader_left_out_is_told(tmp_path: Path) -> None:
    for run, scale in (("a", 1), ("b", 2)):
        (tmp_path / run).mkdir()
        (tmp_path / run / "profile.0.0.0").write_text(
            "3 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls #\n"
            f'"main" 1 2 {scale} {6 * scale} 0 GROUP="TAU_DEFAULT"\n'
            f'"solve" 1 0 {3 * scale} {3 * scale} 0 GROUP="TAU_USER"\n'
            f'"read" 1 0 {2 * scale} {2 * scale} 0 GROUP="TAU_USER"\n'
            "0 aggregates\n"
        )
    result = compass("read", tmp_path, "--top", "1")
    assert "note: columns for 1 of 3 regions: solve" in result.out
    told = json.loads(compass("read", tmp_path, "--json").out)
    assert told["notes"][0].startswith("columns for 2 of 3 regions: ")
    none = json.loads(compass("read", tmp_path, "--top", "0", "--json").out)
    assert none["notes"][0] == "columns for 0 of 3 regions"
    assert not [c["name"] for c in none["columns"] if c["name"].startswith("time.")]


def test_a_named_reader(jobs: Path, tmp_path: Path) -> None:
    odd = tmp_path / "jobs.dat"
    odd.write_bytes(jobs.read_bytes())
    assert compass("read", odd, "--reader", "csv").code == 0


def test_many_files_are_counted(tmp_path: Path) -> None:
    for i in range(8):
        write_csv(tmp_path / f"{i}.csv", COLUMNS)
    result = compass("read", tmp_path)
    assert "and from 3 more files" in result.out


LONG = {
    "time.inclusive.solver::smooth(level)": [1.25, 2.5, 13.75],
    "nodes_requested_by_the_user_at_submission": [1, 2, 8],
    "application_name_as_in_the_batch_script": ["wrf", "", "lammps"],
}


def test_long_names_are_listed_where_a_table_would_cut_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_csv(tmp_path / "long.csv", LONG)
    monkeypatch.setenv("COLUMNS", "80")
    result = compass("read", path).out.splitlines()
    assert result[1:7] == [
        "time.inclusive.solver::smooth(level)",
        "    type: numbers; range: 1.25 .. 13.75",
        "nodes_requested_by_the_user_at_submission",
        "    type: whole numbers; range: 1 .. 8",
        "application_name_as_in_the_batch_script",
        "    type: text; missing: 1; what: 2 different: wrf, lammps",
    ]
    monkeypatch.setenv("COLUMNS", "130")
    wide = compass("read", path).out.splitlines()
    assert wide[1].split() == ["column", "type", "missing", "range", "what"]
    assert "2 different: wrf, lammps" in wide[4]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 130])
@pytest.mark.parametrize("command", ["read", "columns"])
def test_nothing_is_cut_at_any_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    result = compass(command, write_csv(tmp_path / "long.csv", LONG)).out
    for name in LONG:
        assert name in result
    words = " ".join(result.split())
    for part in ("lammps", "wrf", "13.75"):
        assert part in words


def test_a_glob_that_the_shell_expands_is_to_be_quoted(jobs: Path, tmp_path: Path) -> None:
    refused(compass("read", jobs, jobs), "SOURCE is one word", "quote a glob")
    refused(compass("columns", jobs, jobs), "DATA is one word", "quote a glob")
    many = compass("read", *(tmp_path / f"{i}.csv" for i in range(500)))
    refused(many, "quote a glob")
    assert len(many.err) < 500
    assert "glob" not in compass("datasets", "show", "zeus", "kabre").err


def test_help_stays_light() -> None:
    code = (
        "import sys\nfrom compass.cli import main\n"
        "print([m for m in ('pooch', 'requests', 'yaml', 'pyarrow') if m in sys.modules])"
    )
    assert process(code=code).out.strip() == "[]"
