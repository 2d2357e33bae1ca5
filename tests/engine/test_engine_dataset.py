"""Datasets: a table and what its columns mean."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass import embedded
from compass.cli import sources
from compass.cli.study import StudyFlags
from compass.domain.errors import BaselineProblem, DataProblem, StudyProblem, UnknownName
from compass.domain.space import Role
from compass.domain.study import ColumnChoice
from compass.prepare.study_file import load_study
from conftest import QUICK, ROLES, cluster_columns


def test_reading_takes_tables_dicts_paths_and_studies(tmp_path: Path) -> None:
    columns = cluster_columns(40)
    path = tmp_path / "jobs.csv"
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    given = (columns, pa.table(columns), path, str(path))
    read = [cp.read(source) for source in given]
    assert {len(data) for data in read} == {40}
    assert len({data.table.fingerprint for data in read}) == 1
    study = tmp_path / "s.yaml"
    study.write_text("columns: {power: {role: ignored}}\n")
    for given in (study, str(study), {"columns": {"power": {"role": "ignored"}}}):
        assert "power" not in cp.read(columns, study=given).prepared.space


def test_roles_are_set_and_the_rest_is_inferred(cluster: cp.Dataset) -> None:
    space = cluster.prepared.space
    assert space.having(Role.KNOB) == ("nodes", "cores", "gpus")
    assert space.having(Role.CONTEXT) == ("app", "size")
    assert space.having(Role.OUTCOME) == ("runtime", "power", "state")
    changed = cluster.roles(outcomes=["power"], ignored=["state"], context=["gpus"])
    assert changed.prepared.space["gpus"].role is Role.CONTEXT
    assert changed.prepared.space["nodes"].role is Role.KNOB  # not named, so as it was
    assert "state" not in changed.prepared.space


def test_a_dataset_never_changes(cluster: cp.Dataset) -> None:
    before = cluster.prepared.space
    other = cluster.roles(ignored=["power"])
    assert other is not cluster
    assert cluster.prepared.space == before
    assert "power" not in other.prepared.space
    assert other.table is cluster.table
    with pytest.raises(AttributeError):
        cluster.study = cp.Study()  # type: ignore[misc]


def test_roles_keep_what_else_was_said_about_a_column(cluster: cp.Dataset) -> None:
    study = cluster.study.model_copy(
        update={"columns": {"runtime": ColumnChoice(unit="min", role=Role.CONTEXT)}}
    )
    data = cluster.with_study(study).roles(outcomes=["runtime"])
    choice = data.study.columns["runtime"]
    assert (choice.role, choice.unit) == (Role.OUTCOME, "min")


def test_a_column_with_two_roles_is_refused(cluster: cp.Dataset) -> None:
    with pytest.raises(StudyProblem, match="two roles"):
        cluster.roles(knobs=["nodes"], context=["nodes"])


def test_names_that_do_not_exist_are_told(cluster: cp.Dataset) -> None:
    with pytest.raises(UnknownName, match="'node'") as problem:
        _ = cluster.roles(knobs=["node"]).prepared
    assert "nodes" in problem.value.hint


def test_with_study_replaces_what_was_said(cluster: cp.Dataset) -> None:
    bare = cluster.with_study(cp.Study())
    assert bare.study == cp.Study()
    assert bare.inferred[0]["nodes"].role is Role.KNOB
    again = bare.with_study(cluster.study)
    assert again.prepared.space == cluster.prepared.space
    assert np.array_equal(again.prepared.values, cluster.prepared.values)


def test_a_row_is_what_was_measured(cluster: cp.Dataset) -> None:
    columns = cluster_columns()
    for number in (0, 7, 1499):
        assert cluster.row(number) == {name: values[number] for name, values in columns.items()}
    for number in (-1, 1500):
        with pytest.raises(BaselineProblem, match=f"no row {number}"):
            cluster.row(number)


def test_a_row_has_the_numbers_that_its_texts_are_taken_for() -> None:
    data = cp.read({"mem": ["4G", "512M", "8G"], "n": [1, 2, 3], "time": ["1,5", "OOM", "2,5"]})
    assert data.row(0) == {"mem": 4.0, "n": 1, "time": 1.5}
    assert data.row(1) == {"mem": 0.5, "n": 2, "time": "OOM"}


def test_rows_count_as_in_the_file_also_when_some_are_dropped() -> None:
    columns = cluster_columns(60)
    columns["nodes"][0] = None
    columns["nodes"][1] = None
    data = cp.read(columns).roles(**ROLES)
    assert len(data) == 60
    assert len(data.prepared.values) == 58
    assert data.row(2)["nodes"] == columns["nodes"][2]
    assert int(data.prepared.row_id[0]) == 2
    engine = cp.Compass(data, settings=QUICK)
    answer = engine.what_if(2, {"gpus": 1}, ["runtime"])
    assert answer.baseline is not None
    assert answer.baseline["nodes"] == columns["nodes"][2]
    assert answer.baseline["runtime"] == pytest.approx(columns["runtime"][2])


def test_a_run_that_was_left_out_cannot_be_a_baseline_without_its_values() -> None:
    columns = cluster_columns(60)
    columns["nodes"][0] = None
    engine = cp.Compass(cp.read(columns).roles(**ROLES), settings=QUICK)
    with pytest.raises(cp.CompassError, match="row 0"):
        engine.what_if(0, {"gpus": 1}, ["runtime"])


def test_every_column_is_reported_also_ignored_ones(cluster: cp.Dataset) -> None:
    data = cluster.roles(ignored=["power"])
    space, reports = data.inferred
    assert space.names == data.table.names
    assert {report.name: report.role for report in reports}["power"] is Role.IGNORED


def test_a_share_of_the_runs_is_chosen_once_and_the_same_every_time(cluster: cp.Dataset) -> None:
    one, two = (cluster.reduced(0.25, "uniform", seed=4) for _ in range(2))
    assert np.array_equal(one.row_id, two.row_id)
    assert 0.15 < len(one.values) / len(cluster) < 0.35
    assert one.values.shape == (len(one.row_id), len(one.space))
    assert len(one.weight) == len(one.row_id)
    for place in (0, len(one.row_id) - 1):
        row = cluster.row(int(one.row_id[place]))
        assert one.values[place, one.space.names.index("nodes")] == row["nodes"]
    assert cluster.reduced(1.0, "uniform", seed=4) is cluster.prepared
    with pytest.raises(UnknownName, match="reducer"):
        cluster.reduced(0.5, "unifrom", seed=4)


def test_nothing_to_read_is_told() -> None:
    with pytest.raises(DataProblem):
        cp.read("no/such/file.csv")


def test_embedded_means_the_same_as_on_the_command_line() -> None:
    data = cp.read("embedded")
    assert data.table.parts[0].file == str(embedded.path())
    assert data.study == load_study(embedded.study())
    commanded = sources.dataset("embedded", StudyFlags().parsed())
    assert data.columns() == commanded.columns()
    assert cp.Compass("embedded").rules[0].text.startswith("schedule in")


def test_your_study_has_the_last_word_over_the_known_one(tmp_path: Path) -> None:
    own = {"columns": {"gflops": {"role": "ignored"}}}
    data = cp.read("embedded", study=own)
    assert data.study.columns["gflops"].role is Role.IGNORED
    assert data.study.columns["runtime_ms"].unit == "ms"
    file = tmp_path / "own.yaml"
    file.write_text("columns: {gflops: {role: ignored}}")
    given = StudyFlags(study=file).parsed()
    assert sources.dataset("embedded", given).study == data.study
    assert sources.Reading.of("embedded", given).study == data.study


def test_a_file_called_embedded_is_named_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "embedded").write_text("nodes,runtime\n1,2\n2,1\n")
    monkeypatch.chdir(tmp_path)
    assert cp.read("./embedded").table.rows == 2
    assert cp.read("embedded").table.rows > 2000


def test_printing_a_dataset_tells_what_its_columns_are_taken_for() -> None:
    data = cp.read({"threads": [1, 2, 4], "note": ["a", "b", "c"], "seconds": [3.0, 2.0, 1.5]})
    data = data.roles(knobs=["threads"], outcomes=["seconds"], ignored=["note"])
    assert str(data) == "3 runs\n  knob: threads\n  outcome: seconds\n  ignored: note"
    assert repr(data) == "Dataset(3 runs, 3 columns)"
