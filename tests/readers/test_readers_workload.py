"""Traces in the Standard Workload Format."""

import contextlib
import gzip
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from compass.arrow import UNIT
from compass.domain.errors import CompassError, DataProblem
from compass.readers import files, read
from compass.readers.workload import HEADER, Swf

TRACE = """; Version: 2.2
; MaxNodes: 100
; Note: first
; Note: second
;
  1   0  10  600.5  4  550  2048  8  3600  -1  1  3  1  -1 -1 -1 -1 -1
  2  60  -1   30    1   -1    -1  1    60  -1  5  3  1   2  1 -1  1 30 {extra} q_1d

  3  90   0   -1   -1   -1    -1  2    -1  64  0 -1 -1  -1 -1 -1 -1 -1
"""


def test_fields_have_names_units_and_missing_cells(tmp_path: Path) -> None:
    path = tmp_path / "small.swf"
    path.write_text(TRACE)
    table = read(path)
    assert table.rows == 3
    first, second, third = (table.row(n) for n in range(3))
    assert (first["run_s"], first["wait_s"], first["memory_used"]) == (600.5, 10, 2048)
    assert (first["status"], second["status"], third["status"]) == (
        "completed",
        "cancelled",
        "failed",
    )
    assert (second["wait_s"], third["run_s"], third["user"]) == (None, None, None)
    assert (second["application"], second["preceding_job"]) == ("2", "1")
    units = {field.name: (field.metadata or {}).get(UNIT) for field in table.arrow.schema}
    assert (units["run_s"], units["memory_used"], units["processors"]) == (b"s", b"KiB", None)
    facts = json.loads(Swf().read(path).schema.metadata[HEADER])
    assert facts["MaxNodes"] == "100"
    assert "second" in facts.values()


def test_content_decides_without_the_ending(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(TRACE)
    assert files.reader_for(path).name == "swf"
    path.write_text("; a comment\n1 2 3\n")
    assert not Swf().sniff(path, path.read_bytes())


@pytest.mark.parametrize("bad", ["4 1 2", "4 " + "x " * 17, "4 " + "nan " * 17])
def test_a_line_that_is_no_job_is_named(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "cut.swf"
    path.write_text(TRACE + bad)
    with pytest.raises(DataProblem, match="line 10 of"):
        read(path)


def test_a_trace_without_jobs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.swf"
    path.write_text("; MaxNodes: 4\n")
    with pytest.raises(DataProblem, match="no jobs"):
        read(path)


def test_a_damaged_trace_is_refused_or_read(tmp_path: Path) -> None:
    chance, path = random.Random(11), tmp_path / "damaged.swf.gz"
    for _ in range(60):
        damaged = bytearray(TRACE.encode())
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        packed = bytearray(gzip.compress(bytes(damaged)))
        if chance.random() < 0.5:
            packed[chance.randrange(len(packed))] ^= 1 << chance.randrange(8)
        path.write_bytes(packed)
        with contextlib.suppress(CompassError):
            assert read(path).rows > 0


TRACES = (
    "swf_kth/raw/KTH-SP2-1996-2.swf.gz",
    "swf_nasa_ipsc/raw/NASA-iPSC-1993-3.1-cln.swf.gz",
    "swf_theta/raw/train.swf",
    "swf_theta/raw/validate.swf",
    "swf_hpc2n_wagap/raw/hpc2n.swf",
    "swf_hpc2n_wagap/raw/wagap-2013.swf",
)
LABELS = {"0": "failed", "1": "completed", "5": "cancelled", "-1": None}


@pytest.mark.parametrize("name", TRACES)
def test_totals_of_real_traces(real_data: Path, name: str) -> None:
    path = real_data / name
    raw = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    lines = [line.split() for line in raw.decode(errors="replace").splitlines()]
    jobs = [cells for cells in lines if cells and not cells[0].startswith(";")]
    table = read(path)
    assert table.rows == len(jobs)
    for column, place in (("run_s", 3), ("wait_s", 2), ("processors", 4), ("requested_s", 8)):
        wanted = [float(cells[place]) for cells in jobs if not cells[place].startswith("-")]
        found = table.column(column)
        assert found.null_count == len(jobs) - len(wanted)
        assert sum(v for v in found.to_pylist() if v is not None) == sum(wanted)
    states = Counter(LABELS.get(cells[10], "?") for cells in jobs)
    assert Counter(table.column("status").to_pylist()) == states
    users = [None if cells[11] == "-1" else cells[11] for cells in jobs]
    assert table.column("user").to_pylist() == users
