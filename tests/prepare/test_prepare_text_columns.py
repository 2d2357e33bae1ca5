"""Text columns that hold numbers, in files as people write them."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.space import Category, Number, Role
from compass.domain.study import ColumnChoice, Study
from compass.prepare import ColumnReport, Prepared, prepare
from compass.prepare.infer import infer
from compass.prepare.text_columns import read_texts
from compass.readers import Table, read


def runs(**columns: object) -> Table:
    return Table.of(pa.table(columns))


def told(prepared: Prepared, name: str) -> ColumnReport:
    return next(report for report in prepared.columns if report.name == name)


HEAD = ("tile", "runtime")
CELLS = [
    (8, "1.5"),
    (16, "timeout"),
    (32, "2.5"),
    (8, "-"),
    (16, "OOM"),
    (32, "2.25"),
    (8, "N/A"),
    (16, "timeout"),
    (32, ">3600"),
    (8, "1.25"),
]


def written(path: Path, how: str) -> Path:
    sign = {"csv": ",", "tsv": "\t"}.get(how)
    if sign is not None:
        lines = [sign.join(HEAD), *(f"{tile}{sign}{time}" for tile, time in CELLS)]
    else:
        rows = [(tile, float(t) if t[0].isdigit() else t) for tile, t in CELLS]
        lines = [json.dumps(dict(zip(HEAD, row, strict=True))) for row in rows]
    text = "\n".join(lines) + "\n"
    if how == "json":
        text = f"[{','.join(lines)}]"
    path = path / f"runs.{how}"
    path.write_text(text)
    return path


@pytest.mark.parametrize("how", ["csv", "tsv", "jsonl", "json"])
def test_words_among_numbers_are_gaps_or_failed_runs(tmp_path: Path, how: str) -> None:
    p = prepare(read(written(tmp_path, how)))
    assert isinstance(p.space["runtime"], Number)
    np.testing.assert_array_equal(p.outcome("runtime"), [1.5, 2.5, 2.25, 1.25])
    np.testing.assert_array_equal(p.failures.row_id, [1, 4, 7, 8])
    expected = ("timeout", "OOM", "timeout", ">3600")
    assert p.failures.reasons == tuple(f"runtime: {word}" for word in expected)
    np.testing.assert_array_equal(p.failures.values[:, 0], [16, 16, 16, 32])
    sentence = told(p, "runtime").cells
    assert "2 cells say 'timeout': the run failed" in sentence
    assert "2 rows dropped: the run failed (runtime: timeout)" in p.report.notes
    assert any(note.startswith("2 rows dropped: runtime is missing") for note in p.report.notes)


def test_the_study_says_what_a_word_means() -> None:
    table = runs(n=[1, 2, 3, 4, 5, 6], runtime=["1.5", "timeout", "2", "DNF?", "DNF?", "4"])
    p = prepare(table)
    assert p.failures.reasons == ("runtime: timeout", "runtime: DNF?", "runtime: DNF?")
    # As a gap, as a number, or as labels of a class.
    p = prepare(table, Study(map={"runtime": {"DNF*": None, "timeout": 3600}}))
    assert len(p.failures) == 0
    np.testing.assert_array_equal(p.outcome("runtime"), [1.5, 3600, 2, 4])
    labels = Study(columns={"runtime": ColumnChoice(kind="category", role=Role.OUTCOME)})
    assert isinstance(prepare(table, labels).space["runtime"], Category)


def test_a_word_of_an_outcome_that_nobody_knows_counts_as_missing_if_it_is_rare() -> None:
    values = [f"{n / 2}" for n in range(20)]
    p = prepare(runs(n=list(range(1, 24)), runtime=[*values, "foo", "foo", "5.5"]))
    assert "2 cells say 'foo': no value" in told(p, "runtime").cells
    assert len(p.failures) == 0
    many = [f"word{n}" for n in range(15)]
    values += [f"{n}" for n in range(50, 60)]
    p = prepare(
        runs(n=list(range(45)), runtime=[*values, *many], energy=[0.5 + n for n in range(45)])
    )
    assert "stays text: numbers and other words" in told(p, "runtime").cells


def test_words_of_what_is_set_are_labels() -> None:
    table = runs(
        threads=["1", "2", "auto", "4", "2", "1"],
        cap=["100", "none", "150", "100", "none", "150"],
        time=[1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
    )
    p = prepare(table)
    assert p.space["threads"].kind == p.space["cap"].kind == "category"
    assert p.rows == 6
    assert "stays text: numbers and other words ('auto')" in told(p, "threads").cells


def test_a_word_for_a_feature_is_no_level() -> None:
    table = runs(
        cap=["100", "error", "150", "-", "100", "150"], time=[1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    )
    p = prepare(table, Study(columns={"cap": ColumnChoice(missing="none")}))
    np.testing.assert_array_equal(p.row_id, [0, 2, 3, 4, 5])
    assert any("cap is not a number" in note for note in p.report.notes)
    cap = p.space["cap"]
    assert isinstance(cap, Number)
    assert p.column("cap")[2] == cap.none_code
    assert "1 cell says 'error': no value" in told(p, "cap").cells


def test_units_marks_and_durations_are_read_and_said(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "mem;clock;walltime_limit;util;alpha;grid;time\n"
        "4G;2.4 GHz;1-00:00:00;85%;0,5;1.024;1,5\n"
        "8G;3200 MHz;02:00:00;12 %;1,25;2.048;2,5\n"
        "4000M;2.4 GHz;30:00;50%;0,5;1.024;3,5\n"
        "8G;2.4 GHz;02:00:00;85%;0,5;2.048;4,5\n"
    )
    p = prepare(read(path))
    units = {report.name: report.unit for report in p.columns}
    assert units["mem"] == "GiB"
    assert units["clock"] == "GHz"
    assert units["walltime_limit"] == "s"
    assert units["util"] == "%"
    np.testing.assert_array_equal(p.column("mem"), [4, 8, 3.90625, 8])
    np.testing.assert_allclose(p.column("clock"), [2.4, 3.2, 2.4, 2.4])
    np.testing.assert_array_equal(p.column("walltime_limit"), [86400, 7200, 1800, 7200])
    np.testing.assert_array_equal(p.column("alpha"), [0.5, 1.25, 0.5, 0.5])
    np.testing.assert_array_equal(p.column("grid"), [1024, 2048, 1024, 2048])
    np.testing.assert_array_equal(p.column("time"), [1.5, 2.5, 3.5, 4.5])
    said = {report.name: report.cells for report in p.columns}
    assert said["mem"] == "G is read as GiB; 1 cell converted from M to GiB"
    assert said["clock"] == "1 cell converted from MHz to GHz"
    assert said["walltime_limit"] == "durations, read in s"
    assert said["alpha"] == said["time"] == "decimal commas"
    assert said["grid"] == "points between thousands"


def test_a_unit_of_the_study_is_the_unit_of_the_column() -> None:
    table = runs(
        limit=["02:00:00", "1-00:00:00", "30 min", "02:00:00"],
        power=["150 W", "200", "150 W", "90"],
        time=[1.5, 2.5, 3.5, 4.5],
    )
    assert "stays text: 2 of its cells have no unit" in told(prepare(table), "power").cells
    study = Study(columns={"limit": ColumnChoice(unit="h"), "power": ColumnChoice(unit="W")})
    p = prepare(table, study)
    np.testing.assert_array_equal(p.column("limit"), [2, 24, 0.5, 2])
    np.testing.assert_array_equal(p.column("power"), [150, 200, 150, 90])


def test_names_made_of_digits_stay_names() -> None:
    table = runs(
        code=["007", "008", "007", "012"],
        job_id=["1,001", "1,002", "1,003", "1,004"],
        version=["1.2.3", "1.2.4", "1.10.1", "1.2.3"],
        gpu=["3090Ti", "2080Ti", "3090Ti", "A100"],
        time=[1.5, 2.5, 3.5, 4.5],
    )
    space, _ = infer(table)
    assert all(space[name].kind == "category" for name in ("code", "job_id", "version", "gpu"))


def test_dates_are_time_stamps() -> None:
    table = runs(n=[1, 2, 4], day=["31.12.2024", "-", "01.02.2024"], time=[1.5, 2.5, 3.5])
    p = prepare(table)
    report = told(p, "day")
    assert report.role is Role.IGNORED
    assert report.note == "time stamp"
    assert "31.12.2024" in report.cells


def test_files_with_and_without_words_go_together(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n,runtime\n1,1.5\n2,2.5\n")
    (tmp_path / "b.csv").write_text("n,runtime\n3,timeout\n4,3.5\n")
    (tmp_path / "c.csv").write_text("n,runtime\n5,OOM\n")
    p = prepare(read(tmp_path))
    np.testing.assert_array_equal(p.outcome("runtime"), [1.5, 2.5, 3.5])
    assert p.failures.reasons == ("runtime: timeout", "runtime: OOM")


numbers = st.floats(-1e6, 1e6, allow_nan=False).map(repr)
gaps = st.sampled_from(["", "-", "N/A", "?", "null"])
failures = st.sampled_from(["timeout", "OOM", "Killed", "error 12"])


@given(st.lists(numbers | gaps | failures, min_size=1, max_size=40))
def test_every_cell_is_a_number_a_gap_or_a_failure(cells: list[str]) -> None:
    table = pa.table({"runtime": pa.array(cells, pa.large_string())})
    study = Study(columns={"runtime": ColumnChoice(kind="number", role=Role.OUTCOME)})
    found = read_texts(table, study)
    column = found.arrow.column("runtime")
    if not pa.types.is_floating(column.type):
        assert not any(cell[-1:].isdigit() and "error" not in cell for cell in cells)
        return
    failed = {int(row) for one in found.failed for row in one.rows}
    for row, (cell, value) in enumerate(zip(cells, column.to_pylist(), strict=True)):
        is_number = cell[-1:].isdigit() and "error" not in cell
        assert (value == float(cell)) if is_number else value is None
        assert (row in failed) == (cell in ("timeout", "OOM", "Killed", "error 12"))
