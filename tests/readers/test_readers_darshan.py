"""Darshan logs: those that the package darshan brings along, against its own report."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compass.domain.errors import DataProblem, EnvironmentProblem
from compass.readers import darshan as reader
from compass.readers import files, read


@pytest.fixture(scope="module")
def logs() -> Path:
    found = importlib.util.find_spec("darshan")
    if found is None or found.origin is None:
        pytest.skip("the package darshan is not there")
    folder = Path(found.origin).parent / "examples" / "example_logs"
    if not folder.is_dir():
        pytest.skip("this package darshan brings no logs along")
    return folder


def test_a_folder_of_logs_is_a_row_per_log(logs: Path) -> None:
    table = read(logs)
    names = sorted(path.stem for path in logs.glob("*.darshan"))
    assert table.arrow["run"].to_pylist() == names
    at = table.row(names.index("example"))
    # A checkpoint of 2048 processes: 2 TiB through MPI-IO into one file.
    assert at["program"] == "vpicio_uni"
    assert (at["nprocs"], at["run_time"], at["start"]) == (2048, 117.0, "2017-03-20T09:07:47")
    assert at["mpiio.bytes_written"] == at["posix.bytes_written"] == 2199023259968
    assert (at["mpiio.coll_opens"], at["posix.files"]) == (2048, 1)
    without = table.row(names.index("noposix"))
    assert without["posix.opens"] is None
    assert without["stdio.opens"] is not None
    units = {name: table.arrow.schema.field(name).metadata for name in table.names}
    assert units["run_time"] == units["posix.read_seconds"] == {b"unit": b"s"}
    assert units["stdio.bytes_read"] == {b"unit": b"B"}
    assert units["nprocs"] is None
    modules = [name.split(".")[0] for name in table.names if "." in name]
    assert list(dict.fromkeys(modules)) == ["posix", "mpiio", "stdio"]


@pytest.mark.filterwarnings("ignore")
def test_totals_agree_with_the_report_of_the_package(logs: Path) -> None:
    from darshan.report import DarshanReport

    path = logs / "ior_hdf5_example.darshan"
    row = read(path).row(0)
    report = DarshanReport(str(path), read_all=True)
    for module, start in (("POSIX", "posix"), ("MPI-IO", "mpiio"), ("STDIO", "stdio")):
        frames = report.records[module].to_df()
        prefix = start.upper()
        for name in ("BYTES_READ", "BYTES_WRITTEN"):
            assert row[f"{start}.{name.lower()}"] == frames["counters"][f"{prefix}_{name}"].sum()
        for name in ("READ", "WRITE", "META"):
            seconds = frames["fcounters"][f"{prefix}_F_{name}_TIME"].sum()
            assert row[f"{start}.{name.lower()}_seconds"] == pytest.approx(seconds)
    assert row["nprocs"] == report.metadata["job"]["nprocs"]


def test_damaged_logs_are_told_by_name(logs: Path, tmp_path: Path) -> None:
    content = (logs / "ior_hdf5_example.darshan").read_bytes()
    good = tmp_path / "good.darshan"
    good.write_bytes(content)
    bad = tmp_path / "bad.darshan"
    bad.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataProblem, match=r"bad\.darshan cannot be read as a Darshan log"):
        read([good, bad])


def test_the_library_is_not_believed_when_it_complains(logs: Path, tmp_path: Path) -> None:
    content = (logs / "ior_hdf5_example.darshan").read_bytes()
    copies = [content[:700], content[:600] + b"\xff" * 8 + content[608:], b"", content]
    paths = []
    for n, copy in enumerate(copies):
        paths.append(tmp_path / f"{n}.darshan")
        paths[-1].write_bytes(copy)
    done = subprocess.run(
        [sys.executable, "-I", str(reader._CHILD)],
        input=json.dumps([str(path) for path in paths]),
        capture_output=True,
        text=True,
        check=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert ["problem" in log for log in found] == [True, True, True, False]


def test_other_files_are_no_logs(logs: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.darshan"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataProblem, match=r"x\.darshan cannot be read as a Darshan log"):
        read(path)
    bare = tmp_path / "log"
    shutil.copyfile(logs / "example.darshan", bare)
    assert files.reader_for(bare).name == "darshan"


def test_a_reader_that_dies_is_told_by_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = tmp_path / "child.py"
    child.write_text("import os\nprint('{\"job\": {}}', flush=True)\nos.abort()\n")
    monkeypatch.setattr(reader, "_CHILD", child)
    monkeypatch.setattr(reader, "find_spec", lambda name: object())
    paths = [tmp_path / "a.darshan", tmp_path / "b.darshan"]
    for path in paths:
        path.write_bytes(b"3.21\0")
    with pytest.raises(DataProblem, match=r"b\.darshan .*the log is damaged"):
        reader.Darshan().read_together(paths)


def test_without_the_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "find_spec", lambda name: None)
    path = tmp_path / "x.darshan"
    path.write_bytes(b"3.21\0")
    with pytest.raises(EnvironmentProblem) as caught:
        read(path)
    assert caught.value.hint == "pip install 'compass-hpc[darshan]'"
