"""`compass reduce`: what it says, what it refuses, and what Ctrl-C leaves behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cli_case import FLAGS, compass, refused, write_csv
from pyarrow import parquet

from compass.cli import reduce as command
from compass.readers import fragments
from conftest import cluster_columns

_PROGRAM = Path(__file__).parent.parent / "reducers" / "reduce_program.py"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.parquet"
    parquet.write_table(pa.table(cluster_columns(6000)), path, row_group_size=500)
    return path


def test_a_sample_is_written_and_told_in_tables(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "s.parquet"
    result = compass("reduce", source, "-o", output, "--keep", "10%", *FLAGS)
    assert result.code == 0, result.err
    assert output.is_file()
    for part in ("read", "6,000", "usable", "kept (guided,", "The pilot model", "runtime", "app"):
        assert part in result.out, part
    assert "compass fit" in result.out + result.err
    assert parquet.read_table(output).num_rows == pytest.approx(600, rel=0.2)


def test_the_report_as_json(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "s.parquet"
    words = ["--keep", "0.1", "--where", "nodes > 1", "--seed", "3", "--executor", "threads:2"]
    result = compass("reduce", source, "-o", output, *words, *FLAGS, "--json")
    assert result.err == ""
    report = json.loads(result.out)
    assert report["output"] == str(output)
    assert (report["method"], report["keep"], report["seed"]) == ("guided", 0.1, 3)
    assert (report["executor"], report["workers"]) == ("threads", 2)
    assert report["rows"] == 6000
    nodes = cluster_columns(6000)["nodes"]
    assert report["usable"] == sum(n > 1 for n in nodes)  # type: ignore[operator]
    assert report["dropped"] == {"not nodes > 1": 6000 - report["usable"]}
    assert report["kept"] == parquet.read_metadata(output).num_rows
    assert {one["outcome"] for one in report["guides"]} == {"runtime", "power", "state"}
    assert [one["name"] for one in report["stages"]] == ["pilot", "pass", "writing"]
    assert {one["column"] for one in report["labels"]} == {"app", "state"}


def test_strata_several_files_and_a_study_file(source: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text("columns:\n  runtime: {role: outcome}\ndrop: [power]\n")
    output = tmp_path / "s.parquet"
    words = ["--method", "stratified", "--by", "app", "--by", "nodes", "--keep", "5%", "--json"]
    result = compass("reduce", source, source, "-o", output, *words, "--study", study)
    report = json.loads(result.out)
    assert (report["method"], report["rows"], report["guides"]) == ("stratified", 12_000, [])
    assert "power" not in parquet.read_schema(output).names
    told = compass("reduce", source, "-o", output, *words[:-1])
    assert "The pilot model" not in told.out
    assert "Labels" in told.out


def test_missing_cells_can_be_kept(tmp_path: Path) -> None:
    columns: dict[str, Any] = cluster_columns(600)
    columns["gpus"] = ["" if n % 3 == 0 else g for n, g in enumerate(columns["gpus"])]
    path = write_csv(tmp_path / "x.csv", columns)
    words = ["reduce", path, "-o", tmp_path / "s.parquet", "--keep", "0.5", *FLAGS, "--json"]
    dropped = json.loads(compass(*words).out)["dropped"]
    assert dropped == {"gpus is missing": 200}
    kept = json.loads(compass(*words, "--missing", "gpus=none").out)
    assert (kept["dropped"], kept["usable"]) == ({}, 600)


def test_a_sample_can_be_learnt_from(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "s.parquet"
    compass("reduce", source, "-o", output, "--keep", "10%", *FLAGS)
    result = compass("columns", output, *FLAGS)
    assert result.code == 0, result.err


def test_lines_of_progress_where_there_is_no_terminal(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_EVERY", 0.0)
    monkeypatch.setattr(fragments, "ROWS", 500)
    result = compass("reduce", source, "-o", tmp_path / "s.parquet", "--keep", "10%", *FLAGS)
    lines = [line for line in result.err.splitlines() if line.startswith("reading ")]
    assert len(lines) >= 12
    assert lines[-1].startswith("reading 100%  6,000 rows  ")
    for part in ("M rows/s", "MB", "s left"):
        assert part in lines[-1]
    quiet = compass(
        "reduce", source, "-o", tmp_path / "s.parquet", "--keep", "10%", *FLAGS, "--json"
    )
    assert quiet.err == ""


@pytest.mark.parametrize("keep", ["0", "1.5", "abc", "-5%", "nan", "200%"])
def test_what_is_no_share_is_refused(keep: str, source: Path, tmp_path: Path) -> None:
    result = compass("reduce", source, "-o", tmp_path / "s.parquet", f"--keep={keep}")
    refused(result, f"{keep} is not a share")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--method", "guess"], ["no method named 'guess'", "guided"]),
        (["--by", "app"], ["guided makes no strata", "--method stratified"]),
        (["--method", "stratified", "--by", "ap"], ["no column named 'ap'", "did you mean app"]),
        (["--where", "node > 1"], ["no column named 'node'", "did you mean nodes"]),
        (["--where", "app == wrv"], ["no value of app named 'wrv'", "did you mean wrf"]),
        (["--where", "nodes > 99999"], ["none of the", "meets the conditions"]),
        (["--executor", "thread"], ["thread", "threads"]),
        (["--role", "runtime=target"], ["target"]),
        (["--study", "none.yaml"], ["none.yaml"]),
    ],
)
def test_what_cannot_be_meant_is_refused(
    words: list[str], parts: list[str], source: Path, tmp_path: Path
) -> None:
    output = tmp_path / "s.parquet"
    refused(compass("reduce", source, "-o", output, "--keep", "5%", *FLAGS, *words), *parts)
    assert [path.name for path in tmp_path.iterdir()] == ["jobs.parquet"]


def test_places_that_cannot_be_written_are_refused(source: Path, tmp_path: Path) -> None:
    for output, part in (
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "s.parquet", "there is no folder"),
        (tmp_path / "s.csv", "a sample is a Parquet file"),
        (source, "is one of the files to read"),
    ):
        refused(compass("reduce", source, "-o", output, "--keep", "5%", *FLAGS), part)


def test_sources_that_cannot_be_read_are_refused(source: Path, tmp_path: Path) -> None:
    output = tmp_path / "s.parquet"
    empty = tmp_path / "empty.csv"
    empty.touch()
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.csv").write_text("a,b\n1,2\n")
    (folder / "b.jsonl").write_text('{"a": 1, "b": 2}\n')
    for given, part in (
        (empty, "is empty"),
        (tmp_path / "nojobs.parquet", "there is no file"),
        (folder, "several formats"),
        (tmp_path / "*.none", "no file matches"),
    ):
        refused(compass("reduce", given, "-o", output, "--keep", "5%"), part)
    short = tmp_path / "short.parquet"
    short.write_bytes(source.read_bytes()[:-500])
    words = ["reduce", source, short, "-o", output, "--keep", "5%", *FLAGS]
    refused(compass(*words), "short.parquet cannot be read")
    result = compass(*words, "--skip-unreadable")
    assert result.code == 0
    assert "1 fragments could not be read" in result.out + result.err
    assert "short.parquet" in result.out + result.err


def test_ctrl_c_leaves_no_sample_and_the_same_command_goes_on(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "s.parquet"
    flags = ["--keep", "10%", *FLAGS, "--json"]
    program = subprocess.Popen(
        [sys.executable, _PROGRAM, source, output, "threads:2", "0.6", "--cli", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(_PROGRAM.parent)},
    )
    folder = tmp_path / ".s.parquet.parts"
    until = time.monotonic() + 60
    while len(list(folder.glob("*.arrow"))) < 3:
        assert program.poll() is None, program.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=30)
    assert program.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert not output.exists()
    assert not list(folder.glob("*.half"))
    done = len(list(folder.glob("*.arrow")))
    assert 3 <= done < 12
    monkeypatch.setattr(fragments, "ROWS", 500)
    report = json.loads(compass("reduce", source, "-o", output, *flags).out)
    assert report["resumed"] == done
    assert not folder.exists()
    compass("reduce", source, "-o", tmp_path / "whole.parquet", *flags)
    assert parquet.read_table(output).equals(parquet.read_table(tmp_path / "whole.parquet"))


def test_fit_can_be_told_how_to_choose_its_runs(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "x.csv", cluster_columns(400))
    words = ["fit", path, "-o", tmp_path / "x.compass", "--keep", "0.3", "--surrogate", "linear"]
    result = compass(*words, "--reducer", "guided", *FLAGS, "--json")
    assert result.code == 0, result.err
    refused(compass(*words, "--reducer", "guidedd", *FLAGS), "did you mean guided")
