"""Rows that cannot be used are left out, and every one of them is accounted for."""

import math

import numpy as np
import pyarrow as pa
import pytest

from compass import registry
from compass.domain.errors import BaselineProblem, DataProblem, StudyProblem, UnknownName
from compass.domain.space import Category, Number, Role, Space
from compass.prepare import ColumnChoice, Dropped, Prepared, StepResult, Study, prepare
from compass.prepare.base import Rows
from compass.readers import Table


def runs(**columns: object) -> Table:
    return Table.of(pa.table(columns))


def basic(**more: object) -> Table:
    return runs(
        nodes=[1, 2, 4, 1, 2, 4, 1, 2],
        cap=[100.0, None, 200.0, 100.0, None, 200.0, 100.0, 200.0],
        app=["a", "b", "a", "b", None, "b", "a", "b"],
        time=[1.0, 2.5, 3.5, None, 5.5, 6.5, 7.5, 8.5],
        energy=[9.5, 8.5, 7.5, None, 5.5, None, 3.5, 2.5],
        **more,
    )


def accounted(prepared: Prepared) -> None:
    report = prepared.report
    assert report.rows_in - report.rows_out == sum(entry.count for entry in report.reasons)
    assert report.rows_out == len(prepared.values) == len(prepared.row_id)


def reasons(prepared: Prepared) -> dict[str, tuple[int, tuple[int, ...]]]:
    return {entry.reason: (entry.count, entry.first) for entry in prepared.report.reasons}


def test_rows_with_missing_features_or_no_outcome_are_dropped() -> None:
    p = prepare(basic())
    accounted(p)
    np.testing.assert_array_equal(p.row_id, [0, 2, 5, 6, 7])
    assert reasons(p) == {
        "cap is missing": (2, (1, 4)),
        "app is missing": (0, ()),  # row 4 is already out, but the hint is worth knowing
        "every outcome is missing": (1, (3,)),
    }
    assert [(k.reason, k.first) for k in p.report.kept] == [
        ("energy is missing, other outcomes are there", (5,))
    ]
    assert math.isnan(p.column("energy")[2])
    assert (
        "25 % of the rows have no cap; they can be kept as the level `none`" in (p.report.notes[0])
    )
    assert p.report.notes[1].startswith("12 % of the rows have no app")
    assert p.report.notes[3].startswith("1 row kept: energy")


def test_a_missing_value_can_be_a_level() -> None:
    choices = {"cap": ColumnChoice(missing="none"), "app": ColumnChoice(missing="none")}
    p = prepare(basic(), Study(columns=choices))
    accounted(p)
    np.testing.assert_array_equal(p.row_id, [0, 1, 2, 4, 5, 6, 7])
    cap = p.space["cap"]
    assert isinstance(cap, Number)
    np.testing.assert_array_equal(p.column("cap"), [100, 300, 200, 300, 200, 100, 200])
    assert cap.none_code == 300
    app = p.space["app"]
    assert isinstance(app, Category)
    assert app.values == ("a", "b", None)
    np.testing.assert_array_equal(p.column("app"), [0, 1, 0, 2, 1, 0, 1])


def test_infinite_cells_are_reported_apart() -> None:
    inf = math.inf
    table = runs(
        n=[1, 2, 3, 1, 2, 3],
        x=[1.5, inf, 2.5, -inf, 1.5, 2.5],
        cap=[1.5, 2.5, inf, 2.5, 1.5, 2.5],
        time=[1.5, 2.5, 3.5, 4.5, inf, 5.5],
        energy=[1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
    )
    p = prepare(table, Study(columns={"cap": ColumnChoice(missing="none")}))
    accounted(p)
    np.testing.assert_array_equal(p.row_id, [0, 2, 4, 5])
    assert reasons(p) == {"x is infinite": (2, (1, 3))}
    assert [k.reason for k in p.report.kept] == [
        "cap is infinite and counts as none",
        "time is infinite and counts as missing",
        "time is missing, other outcomes are there",
    ]
    cap = p.space["cap"]
    assert isinstance(cap, Number)
    assert p.column("cap")[1] == cap.none_code
    assert p.table.row(1)["x"] == inf  # the person's data stay as they are


def test_when_nothing_is_left_the_column_to_blame_is_named() -> None:
    table = runs(n=[1, 2, 1, 2], opt=["a", "b", None, None], cap=[None, None, 1.5, 2.5])
    with pytest.raises(DataProblem) as caught:
        prepare(table, Study(columns={"opt": ColumnChoice(role=Role.KNOB)}))
    assert "no row can be used" in caught.value.message
    assert "cap is missing" in caught.value.message or "opt is missing" in caught.value.message
    assert "--missing" in caught.value.hint
    assert "--drop" in caught.value.hint
    none = pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())})
    with pytest.raises(DataProblem, match="no rows"):
        prepare(Table.of(none))


def test_rows_outside_a_studys_legal_values_stay_as_evidence() -> None:
    p = prepare(basic(), Study(columns={"nodes": ColumnChoice(allowed=(1, 2))}))
    outside = [k for k in p.report.kept if k.column == "nodes"]
    assert [(k.count, k.first) for k in outside] == [(2, (2, 5))]
    assert "evidence" in outside[0].hint
    assert 4 in p.column("nodes")


def test_rows_that_cannot_be_written_in_the_studys_terms_are_dropped() -> None:
    table = runs(
        req=["1", "2", "many", "4", None, "1"],
        app=["a", "b", "c", "a", "a", "d"],
        time=[1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
    )
    study = Study(
        columns={
            "req": ColumnChoice(kind="number", missing="none"),
            "app": ColumnChoice(values=("a", "b")),
        }
    )
    p = prepare(table, study)
    accounted(p)
    np.testing.assert_array_equal(p.row_id, [0, 1, 3, 4])
    assert reasons(p) == {
        "req is not a number": (1, (2,)),
        "app is not one of its labels (c, d)": (1, (5,)),
    }


def test_a_number_that_would_be_taken_for_none_is_not_kept_silently() -> None:
    study = Study(columns={"cap": ColumnChoice(low=100, high=150, step=50, missing="none")})
    p = prepare(basic(), study)
    accounted(p)
    cap = p.space["cap"]
    assert isinstance(cap, Number)
    assert cap.none_code == 200  # and three runs have a cap of 200
    assert reasons(p)["cap is 200, which stands for `none` here"] == (3, (2, 5, 7))
    np.testing.assert_array_equal(p.row_id, [0, 1, 6])
    np.testing.assert_array_equal(p.column("cap"), [100, 200, 100])


def test_labels_are_rewritten_and_counted() -> None:
    table = runs(
        nodes=[1, 2, 1, 2],
        state=["COMPLETED", "CANCELLED by 7", "CANCELLED", "CANCELLED by 9"],
    )
    p = prepare(table, Study(map={"state": {"CANCELLED*": "CANCELLED"}}))
    assert p.space["state"] == Category(
        name="state", role=Role.OUTCOME, values=("CANCELLED", "COMPLETED")
    )
    np.testing.assert_array_equal(p.column("state"), [1, 0, 0, 0])
    assert [(k.reason, k.first) for k in p.report.kept] == [
        ("state was rewritten by the study", (1, 3))
    ]
    # Every pattern sees the old label, once.
    chain = Study(map={"state": {"COMPLETED": "CANCELLED", "CANCELLED": "X", "C*": "Y"}})
    swapped = prepare(table, chain)
    state = swapped.space["state"]
    assert isinstance(state, Category)
    labels = [state.values[int(code)] for code in swapped.column("state")]
    assert labels == ["CANCELLED", "Y", "X", "Y"]


def test_a_label_rewritten_to_nothing_is_missing() -> None:
    table = runs(cap=[-1, 100, 200, -1], time=[1.5, 2.5, 3.5, 4.5])
    study = Study(map={"cap": {"-1": None}}, columns={"cap": ColumnChoice(missing="none")})
    p = prepare(table, study)
    np.testing.assert_array_equal(p.column("cap"), [300, 100, 200, 300])


def test_group_time_and_weight() -> None:
    table = basic(
        user=["u", "u", "v", None, "w", "u", "v", "w"],
        submit=pa.array([i * 1_000_000 for i in range(8)], pa.timestamp("us")),
        w=[1.0, 1.0, 2.0, 1.0, 1.0, 0.5, 1.0, 4.0],
    )
    study = Study(group="user", time="submit", weight="w", drop=("user",))
    p = prepare(table, study)
    assert p.group is not None
    assert p.time is not None
    np.testing.assert_array_equal(p.row_id, [0, 2, 5, 6, 7])
    assert p.group[0] == p.group[2] != p.group[1] == p.group[3]
    np.testing.assert_array_equal(p.time, [0, 2, 5, 6, 7])
    np.testing.assert_array_equal(p.weight, [1, 2, 0.5, 1, 4])
    assert {"user", "submit", "w"}.isdisjoint(p.space.names)
    plain = prepare(basic())
    assert plain.group is None
    assert plain.time is None
    np.testing.assert_array_equal(plain.weight, np.ones(5))
    with pytest.raises(StudyProblem, match="'cap' is not a positive number in row 1"):
        prepare(runs(n=[1, 2, 4], cap=[1.0, 0.0, 2.0], time=[1.5, 2.5, 3.5]), Study(weight="cap"))


def test_only_columns_in_use_are_encoded_and_every_column_is_reported() -> None:
    p = prepare(basic(job_id=list(range(50, 58))))
    assert p.space.names == ("nodes", "cap", "app", "time", "energy")
    assert p.values.shape == (5, 5)
    assert [c.name for c in p.columns] == [*p.space.names, "job_id"]
    np.testing.assert_array_equal(p.columns_of(["time", "nodes"])[:, 1], p.column("nodes"))
    with pytest.raises(UnknownName):
        p.column("tim")


def test_a_table_without_outcomes_can_be_prepared() -> None:
    p = prepare(runs(nodes=[1, 2, 1, 2], threads=[4, 4, 8, 8]))
    assert p.space.having(Role.OUTCOME) == ()
    assert p.rows == 4


def test_finding_a_row_of_the_persons_data() -> None:
    p = prepare(basic())
    assert p.position(5) == 2
    with pytest.raises(BaselineProblem, match=r"row 1 was left out .*: cap is missing"):
        p.position(1)
    with pytest.raises(BaselineProblem) as caught:
        p.position(8)
    assert "0 to 7" in caught.value.hint


class Impute:
    """Fills in missing caps."""

    name = "impute"

    def __init__(self, study: Study) -> None:
        self.study = study

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        arrow = table.arrow
        cap = arrow.column("cap").fill_null(150.0)
        double = pa.array([2 * v for v in arrow.column("nodes").to_pylist()])
        arrow = arrow.set_column(1, "cap", cap).append_column("ranks", double)
        return StepResult(Table.of(arrow, table.parts), rows)


class First:
    """Keeps the first three rows."""

    name = "first"

    def __init__(self, study: Study) -> None:
        self.study = study

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        gone = rows[3:]
        note = Dropped(reason="not among the first", count=len(gone), first=tuple(gone[:2]))
        return StepResult(table, rows[:3], (note,))


class Broken(First):
    """Returns rows that it was not given."""

    name = "broken"

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        return StepResult(table, np.array([99]))


def test_steps_of_a_person_run_in_the_order_given() -> None:
    for step in (Impute, First, Broken):
        registry.add("step", step.name)(step)
    try:
        p = prepare(basic(), steps=["impute", "first"])
        np.testing.assert_array_equal(p.row_id, [0, 1, 2])
        np.testing.assert_array_equal(p.column("cap"), [100, 150, 200])
        np.testing.assert_array_equal(p.column("ranks"), [2, 4, 8])
        assert reasons(p) == {"not among the first": (5, (3, 4))}
        assert p.table.row(1)["cap"] is None
        with pytest.raises(DataProblem, match="'broken'"):
            prepare(basic(), steps=["broken"])
    finally:
        for step in (Impute, First, Broken):
            registry.remove("step", step.name)
    with pytest.raises(UnknownName) as caught:
        prepare(basic(), steps=["mising"])
    assert "missing" in caught.value.hint


def test_an_outcome_that_is_none_was_not_measured() -> None:
    choices = {
        "energy": ColumnChoice(role=Role.OUTCOME, missing="none"),
        "time": ColumnChoice(role=Role.OUTCOME),
        "cap": ColumnChoice(missing="none"),
        "app": ColumnChoice(missing="none"),
    }
    p = prepare(basic(), Study(columns=choices))
    energy = p.space["energy"]
    assert isinstance(energy, Number)
    none = p.column("energy") == energy.none_code
    assert none.sum() == 2
    np.testing.assert_array_equal(np.isnan(p.outcome("energy")), none)
    np.testing.assert_array_equal(p.outcome("energy")[~none], p.column("energy")[~none])
    np.testing.assert_array_equal(p.outcome("time"), p.column("time"))
