"""Columns are understood from their cells and names, and corrected by a study."""

import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compass.domain.errors import StudyProblem, UnknownName
from compass.domain.space import Category, Number, Role, Space
from compass.prepare import ColumnChoice, ColumnReport, Study, infer, study_from
from compass.readers import Table, read
from property_examples import examples

DATA = Path(os.environ.get("COMPASS_DATA", Path(__file__).parents[3] / "shared" / "data"))


def one(values: object, name: str = "x", study: Study | None = None) -> tuple[object, ColumnReport]:
    table = Table.of(pa.table({name: pa.array(values), "other": pa.array([0.5] * len(values))}))
    space, reports = infer(table, study)
    return space[name], reports[0]


def test_few_repeated_whole_numbers_are_a_list() -> None:
    parameter, report = one([4, 8, 16] * 10, "threads")
    assert parameter == Number(name="threads", low=4, high=16, allowed=(4, 8, 16))
    assert report.legal == "4, 8, 16"
    assert (report.distinct, report.missing, report.role) == (3, 0, Role.KNOB)


def test_whole_floats_are_whole_numbers() -> None:
    parameter, _ = one([64.0, 128.0, None] * 10)
    assert isinstance(parameter, Number)
    assert parameter.allowed == (64, 128)
    assert parameter.whole


def test_many_whole_numbers_have_a_step_of_one() -> None:
    parameter, report = one([i * 7 % 1000 for i in range(500)])
    assert isinstance(parameter, Number)
    assert (parameter.step, parameter.allowed) == (1, None)
    assert report.legal.startswith("whole 0..")


def test_repeated_fractions_are_a_list_and_others_a_range() -> None:
    listed, _ = one([1.2, 1.8, 2.4] * 10, "freq_ghz")
    assert isinstance(listed, Number)
    assert listed.allowed == (1.2, 1.8, 2.4)
    assert listed.unit == "GHz"
    free, _ = one([0.1 + i / 300 for i in range(300)])
    assert isinstance(free, Number)
    assert (free.low, free.high, free.step, free.allowed) == (0.1, 0.1 + 299 / 300, None, None)


@pytest.mark.parametrize(
    ("values", "allowed"),
    [
        ([1, 2, 4, 8], (1, 2, 4, 8)),  # powers of two, each seen once
        ([3, 3, 7, 7], (3, 7)),  # few and repeated
        ([3, 5, 7, 11], None),  # each seen once
        ([1, 2], None),
    ],
)
def test_small_tables(values: list[int], allowed: tuple[int, ...] | None) -> None:
    parameter, _ = one(values)
    assert isinstance(parameter, Number)
    assert parameter.allowed == allowed
    assert parameter.whole


def test_labels_and_truth_values_are_categories_in_a_stable_order() -> None:
    parameter, report = one(["b", "a", "b", None], "compiler")
    assert parameter == Category(name="compiler", values=("a", "b"))
    assert report.common == (("b", 2), ("a", 1))
    assert report.missing == 1
    flags, _ = one([True, False, True])
    assert flags == Category(name="x", values=(False, True))


def test_classes_written_as_numbers_are_categories() -> None:
    parameter, _ = one([0, 1, 5, 0, 0, 1], "status")
    assert parameter == Category(name="status", role=Role.OUTCOME, values=(0, 1, 5))


@pytest.mark.parametrize(
    ("name", "values", "note"),
    [
        ("nodes", [1] * 30, "constant"),
        ("cap", [1.0, None] * 15, "constant where it is given"),
        ("nothing", [None] * 30, "empty"),
        ("broken", [float("inf")] * 30, "empty"),
        ("job_id", list(range(100, 160, 2)), "looks like an id"),
        ("job_id", [1000 + i // 2 for i in range(60)], "looks like an id"),
        ("n", list(range(30)), "running index"),
        ("column_1", list(range(5)), "looks like an id"),
        ("submit", [1_700_000_000 + i * i for i in range(30)], "time stamp"),
        ("rep", [1, 2, 3] * 10, "counts repetitions"),
        ("run", [1, 2, 3] * 10, "counts repetitions"),
        ("log_file", ["a", "b"] * 15, "names a file or a command"),
        ("comment", [f"note {i}" for i in range(30)], "every row has a value of its own"),
        ("comment", [f"{i % 20}" + "x" for i in range(30)], "free text: more than half"),
        ("comment", [f"{i % 1500}x" for i in range(4000)], "free text: 1500 different"),
        ("opt", ["O1", "O2", None, None, None] * 6, "missing in 60 % of the rows"),
    ],
)
def test_columns_that_cannot_be_used_are_ignored_and_say_why(
    name: str, values: list[object], note: str
) -> None:
    table = Table.of(pa.table({name: values, "threads": [i % 3 for i in range(len(values))]}))
    space, reports = infer(table)
    assert space[name].role is Role.IGNORED
    assert note in reports[0].note
    assert space["threads"].role is Role.KNOB


def test_time_stamps_are_ignored_numbers_of_seconds() -> None:
    parameter, report = one(pa.array([0, 60_000_000, 7], pa.timestamp("us")), "when")
    assert isinstance(parameter, Number)
    assert (parameter.role, parameter.high) == (Role.IGNORED, 60)
    assert report.note == "time stamp"


def test_results_are_never_taken_for_identifiers() -> None:
    parameter, _ = one(list(range(1, 60)), "runtime_ns")
    assert isinstance(parameter, Number)
    assert (parameter.role, parameter.unit) == (Role.OUTCOME, "ns")
    run, _ = one([i * i for i in range(100)], "run")
    assert isinstance(run, Number)
    assert run.role is Role.OUTCOME


def test_a_sweep_is_not_an_index_when_nothing_else_can_be_set() -> None:
    table = read({"p": list(range(1, 101)), "time": [1 / i for i in range(1, 101)]})
    space, reports = infer(table)
    assert space["p"].role is Role.KNOB
    assert "index" in reports[0].note


def test_what_looks_measured_is_a_result_whatever_its_name() -> None:
    columns = {"nodes": [1, 2, 4] * 20, "k6": [0.1 + 1 / (i + 1) for i in range(60)]}
    for more in ({}, {"runtime": [1.5, 2.5] * 30}):
        space, reports = infer(read({**columns, **more}))
        assert space["k6"].role is Role.OUTCOME
        assert reports[1].note == "measured: 60 different values"


def test_whole_numbers_too_large_for_floats_become_labels() -> None:
    big = 2**60
    parameter, _ = one([big, big + 1] * 10, "user")
    assert parameter == Category(name="user", role=Role.CONTEXT, values=(big, big + 1))


def test_the_unit_of_a_duration_is_known() -> None:
    parameter, _ = one(pa.array([1, 2, 5], pa.duration("ms")), "took")
    assert isinstance(parameter, Number)
    assert (parameter.unit, parameter.high) == ("s", 0.005)


def corrected(cells: list[object], /, **choice: object) -> Number | Category:
    study = Study(columns={"x": ColumnChoice(**choice)})
    parameter, _ = one(cells, study=study)
    assert isinstance(parameter, Number | Category)
    return parameter


LISTED: list[object] = [4, 8, 16] * 10


def test_a_study_corrects_roles_units_and_legal_values() -> None:
    assert corrected(LISTED, role="context").role is Role.CONTEXT
    assert corrected(LISTED, unit="gb") == Number(
        name="x", low=4, high=16, allowed=(4, 8, 16), unit="GB"
    )
    assert corrected(LISTED, allowed=(32, 4)) == Number(name="x", low=4, high=32, allowed=(4, 32))
    assert corrected(LISTED, high=8) == Number(name="x", low=4, high=8, allowed=(4, 8))
    assert corrected(LISTED, high=64) == Number(name="x", low=4, high=64, step=1)
    assert corrected(LISTED, low=0, step=4) == Number(name="x", low=0, high=16, step=4)
    assert corrected(LISTED, kind="category") == Category(name="x", values=(4, 8, 16))
    assert corrected(LISTED, missing="none") == Number(
        name="x", low=4, high=16, allowed=(4, 8, 16), optional=True
    )
    assert corrected(["a", "b", None], missing="none").values == ("a", "b", None)
    assert corrected(["1", "2"] * 9, values=(2, 1, "x")).values == ("2", "1", "x")
    assert corrected(["10", "20", "x"] * 9, kind="number") == Number(
        name="x", low=10, high=20, allowed=(10, 20)
    )


def test_a_study_takes_a_wrongly_found_unit_away() -> None:
    fields = [("phase_ms", {}), ("draw", {b"unit": b"W"})]  # found in the name, told by the file
    schema = pa.schema([pa.field(name, pa.float64(), metadata=unit) for name, unit in fields])
    table = Table.of(pa.table([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], schema=schema))
    found, _ = infer(table)
    assert [p.unit for p in found if isinstance(p, Number)] == ["ms", "W"]
    study = Study(columns={name: ColumnChoice(unit="") for name, _ in fields})
    without, reports = infer(table, study)
    assert [p.unit for p in without if isinstance(p, Number)] == [None, None]
    assert [report.unit for report in reports] == [None, None]


def test_a_study_brings_ignored_columns_back() -> None:
    assert corrected([1] * 9, role="knob") == Number(name="x", low=1, high=1, allowed=(1,))
    assert corrected([1] * 9, allowed=(1, 2, 3)).role is Role.KNOB
    assert corrected([1.0, None, None] * 9, missing="none").role is Role.KNOB
    many = [f"{i}" + "x" for i in range(1200)]
    assert len(corrected(many, role="context").values) == 1200
    assert corrected(many).values == ()


def test_a_study_leaves_columns_out() -> None:
    _, report = one([4, 8] * 10, study=Study(drop=("x",)))
    assert (report.role, report.note) == (Role.IGNORED, "left out by the study")
    both = Study(drop=("x",), columns={"x": ColumnChoice(role=Role.KNOB)})
    assert one([4, 8] * 10, study=both)[1].role is Role.IGNORED
    for key in ("weight", "time"):
        _, report = one([4, 8] * 10, study=Study(**{key: "x"}))
        assert report.role is Role.IGNORED


def test_a_study_rewrites_labels_before_they_are_listed() -> None:
    states = ["COMPLETED", "CANCELLED by 7", "CANCELLED by 9", "FAILED", "NODE_FAIL"] * 4
    study = Study(map={"state": {"CANCELLED*": "CANCELLED", "NODE_????": "FAILED"}})
    parameter, _ = one(states, "state", study)
    assert isinstance(parameter, Category)
    assert parameter.values == ("CANCELLED", "COMPLETED", "FAILED")
    numbered, _ = one(["yes", "no"] * 9, study=Study(map={"x": {"yes": 1, "no": 0}}))
    assert numbered == Number(name="x", low=0, high=1, allowed=(0, 1))


@pytest.mark.parametrize(
    "study",
    [
        Study(columns={"node": ColumnChoice(role=Role.KNOB)}),
        Study(drop=("node",)),
        Study(map={"node": {"a": "b"}}),
        Study(group="node"),
        Study(time="node"),
        Study(weight="node"),
    ],
)
def test_a_study_about_a_column_that_is_not_there(study: Study) -> None:
    with pytest.raises(UnknownName) as caught:
        one([1, 2, 3], "nodes", study)
    assert "nodes" in caught.value.hint
    assert "study" in caught.value.message


def test_a_study_that_cannot_be_right() -> None:
    with pytest.raises(StudyProblem, match="above high"):
        corrected([1, 2, 3], low=9)
    with pytest.raises(StudyProblem, match="not numbers"):
        corrected(["a", "b"], kind="number")
    with pytest.raises(StudyProblem, match="no values"):
        corrected([None, None], role="knob")


COLUMNS = st.sampled_from(
    [
        ("nodes", [1, 2, 4, 8]),
        ("threads", list(range(1, 9))),
        ("freq", [1.2, 2.4]),
        ("cap", [None, 100.0, 200.0]),
        ("app", ["amg", "comd", None]),
        ("flag", [True, False]),
        ("status", [0, 1]),
        ("const", [3]),
        ("time_ms", [0.5, 0.25, 7.5]),
    ]
)


@examples(40)
@given(st.lists(COLUMNS, min_size=2, unique_by=lambda c: c[0]), st.integers(2, 40), st.data())
def test_a_study_written_from_the_inferred_space_gives_it_again(
    columns: list[tuple[str, list[object]]], rows: int, data: st.DataObject
) -> None:
    cells = {
        name: data.draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
        for name, values in columns
    }
    table = Table.of(pa.table(cells))
    space, reports = infer(table)
    again, _ = infer(table, study_from(space, reports))
    assert again.select(used(space)) == space.select(used(space))
    assert used(again) == used(space)


def used(space: Space) -> list[str]:
    return [p.name for p in space if p.role is not Role.IGNORED]


@pytest.mark.parametrize(
    ("file", "knobs", "context", "outcomes"),
    [
        (
            "stampede2_apps/amg_train.csv",
            "coarsen_type relax_type interp_type P Q R nthreads ppn_count",
            "nxP nyQ nzR",
            "wall_time2 wall_time",
        ),
        (
            "powerbound/clip_runs.csv",
            "nodes threads budget_w_node unbounded method cpu_cap_w_socket dram_cap_w_socket",
            "app",
            "app_time_s pkg_power_w_node dram_power_w_node pkg_power_w_node_std energy_j span_s",
        ),
        (
            "zeus_powercap/zeus_power.csv",
            "batch_size optimizer power_limit",
            "dataset network gpu",
            "time_per_epoch average_power energy_per_epoch_J",
        ),
        (
            "kernel_tuner_hub/convolution_milo.csv",
            "block_size_x block_size_y tile_size_x tile_size_y read_only use_padding use_shmem",
            "gpu device_name",
            "valid error time_ms time_std GFLOP_per_s compile_time",
        ),
    ],
)
def test_real_traces_are_understood(file: str, knobs: str, context: str, outcomes: str) -> None:
    if not (DATA / file).is_file():
        pytest.skip("the public traces are not here (COMPASS_DATA)")
    space, _ = infer(read(DATA / file))
    assert space.having(Role.KNOB) == tuple(knobs.split())
    assert space.having(Role.CONTEXT) == tuple(context.split())
    assert space.having(Role.OUTCOME) == tuple(outcomes.split())


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *((name, Role.IGNORED) for name in ("TotalCPU", "AveCPU", "MaxVMSize", "ResvCPURAW")),
        *((name, Role.IGNORED) for name in ("Planned", "usage_in_ave_gpuutil", "launchdate")),
        *((name, Role.OUTCOME) for name in ("Elapsed", "MaxRSS", "wait_s", "run_s", "cpu_s")),
        *((name, Role.OUTCOME) for name in ("memory_used", "cpu_efficiency", "figure_of_merit")),
        *(
            (name, Role.KNOB)
            for name in ("ReqCPUS", "ReqMem", "Timelimit", "requested_s", "NTasks")
        ),
    ],
)
def test_what_is_known_only_after_a_job_is_never_learnt_from(name: str, role: Role) -> None:
    values = [1 + (7 * row) % 10 for row in range(40)]
    space, reports = infer(Table.of(pa.table({name: values, "app": ["a", "b"] * 20})))
    assert space[name].role is role
    found = next(report for report in reports if report.name == name)
    assert found.role is role


def test_a_left_out_column_can_be_asked_for() -> None:
    values = [1 + (7 * row) % 10 for row in range(40)]
    table = Table.of(pa.table({"TotalCPU": values, "nodes": [1, 2] * 20}))
    _, reports = infer(table)
    assert "--role TotalCPU=outcome" in reports[0].note
    study = Study(columns={"TotalCPU": {"role": "outcome"}})
    assert infer(table, study)[0]["TotalCPU"].role is Role.OUTCOME
