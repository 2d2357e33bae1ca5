"""Runs that failed are not learnt from as numbers, and are kept with what was tried and why."""

import numpy as np
import pyarrow as pa
import pytest

from compass.domain.space import Role
from compass.prepare import ColumnChoice, Prepared, Study, prepare
from compass.readers import Table


def runs(**columns: object) -> Table:
    return Table.of(pa.table(columns))


def accounted(prepared: Prepared) -> None:
    report = prepared.report
    assert report.rows_in - report.rows_out == sum(entry.count for entry in report.reasons)


def test_a_run_that_is_not_valid_and_has_no_time_failed() -> None:
    table = runs(
        tile=[8, 16, 32, 8, 16, 32],
        unroll=[1, 2, 1, 2, 1, 2],
        valid=[1, 1, 0, 1, 0, 0],
        time_ms=[1.5, 2.5, None, 1.7, None, 4.5],
    )
    p = prepare(table)
    accounted(p)
    np.testing.assert_array_equal(p.failures.row_id, [2, 4])
    assert p.failures.reasons == ("valid: 0", "valid: 0")
    at = [p.space.names.index(name) for name in ("tile", "unroll")]
    np.testing.assert_array_equal(p.failures.values[:, at], [[32, 1], [16, 1]])
    assert np.isnan(p.failures.values[:, p.space.names.index("time_ms")]).all()
    # What `valid` depends on can still be learnt, from rows without a time.
    np.testing.assert_array_equal(p.row_id, np.arange(6))
    assert any("valid: 0" in note and "2 rows kept" in note for note in p.report.notes)


def test_a_failed_run_without_a_class_to_learn_is_left_out() -> None:
    table = runs(
        tile=[8, 16, 32, 8],
        status=["ok", "ok", "failed", "ok"],
        time_ms=[1.5, 2.5, None, 1.7],
    )
    p = prepare(table, Study(columns={"status": ColumnChoice(role=Role.IGNORED)}))
    accounted(p)
    np.testing.assert_array_equal(p.row_id, [0, 1, 3])
    assert p.failures.reasons == ("status: failed",)
    assert p.report.notes == ("1 row dropped: the run failed (status: failed)",)


@pytest.mark.parametrize(
    ("name", "bad", "good"),
    [("correct", False, True), ("exit_code", 137, 0), ("failed", 1, 0), ("state", "OOM", "DONE")],
)
def test_columns_that_tell_of_success(name: str, bad: object, good: object) -> None:
    labels = [good, bad, good, bad, good, good]
    table = runs(n=[1, 2, 3, 4, 5, 6], runtime=[1.5, None, 2.5, 3.5, None, 0.5], **{name: labels})
    p = prepare(table)
    # Row 3 has a time all the same, and nobody says why row 4 has none.
    np.testing.assert_array_equal(p.failures.row_id, [1])
    assert p.failures.reasons == (f"{name}: {bad}",)


def test_rows_that_the_study_calls_failed_are_kept_as_failures() -> None:
    table = runs(
        n=[1, 2, 3, 4],
        how=["measured", "failed", None, "failed"],
        runtime=[1.5, 9.9, 2.5, None],
    )
    p = prepare(table, Study(origin="how"))
    accounted(p)
    np.testing.assert_array_equal(p.row_id, [0, 2])
    np.testing.assert_array_equal(p.failures.row_id, [1, 3])
    assert set(p.failures.reasons) == {"the run failed"}
    assert np.isnan(p.failures.values[:, p.space.names.index("runtime")]).all()


def test_a_table_without_failures_has_none() -> None:
    p = prepare(runs(n=[1, 2, 3, 4], runtime=[1.5, 9.9, 2.5, 3.5]))
    assert len(p.failures) == 0
    assert p.failures.values.shape == (0, 2)
