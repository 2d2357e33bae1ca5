"""Built-in steps keep their promises, and the suite tells when one does not."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from testing_broken import caught

from compass import registry
from compass.domain.space import Space
from compass.prepare import Dropped, StepResult, Study
from compass.prepare.base import Rows
from compass.prepare.clean import NotFinite
from compass.prepare.infer import infer
from compass.readers import Table
from compass.testing import check, check_step
from compass.testing.step import sample_study, sample_table


@pytest.mark.parametrize("name", registry.everything("step"))
def test_built_ins_keep_their_promises(name: str) -> None:
    check("step", name, idempotent=True)


@pytest.mark.parametrize("name", registry.everything("step"))
def test_built_ins_have_something_to_do_on_the_sample(name: str) -> None:
    """A step that finds nothing to do would pass whatever it did."""
    step = registry.get("step", name)(sample_study())
    table = sample_table()
    space = infer(table, sample_study())[0]
    done = step.apply(table, np.arange(table.rows), space)
    assert done.notes or done.failed or done.table is not table


class Tenth:
    """Leaves out every tenth row."""

    name = "tenth"

    def __init__(self, study: Study) -> None:
        self.study = study

    def apply(self, table: Table, rows: Rows, space: Space) -> StepResult:
        gone = rows[rows % 10 == 0]
        left = rows[rows % 10 != 0]
        return self.result(table, left, gone)

    def result(self, table: Table, left: Rows, gone: Rows) -> StepResult:
        first = tuple(int(row) for row in gone[:5])
        notes = (Dropped(reason="it is a tenth row", count=len(gone), first=first),)
        return StepResult(table, left, notes if len(gone) else ())


def step(**changes: Any) -> type[Tenth]:
    return type("Changed", (Tenth,), {"__doc__": "Changed.", **changes})


def test_an_honest_step_passes() -> None:
    check_step(Tenth, idempotent=True)


def with_cells(table: Table, values: Any) -> Table:
    place = table.names.index("power")
    return Table.of(table.arrow.set_column(place, "power", pa.array(values)), table.parts)


def silent(self: Tenth, table: Table, left: Rows, gone: Rows) -> StepResult:
    return StepResult(table, left)


def reported_twice(self: Tenth, table: Table, left: Rows, gone: Rows) -> StepResult:
    result = Tenth.result(self, table, left, gone)
    return StepResult(table, left, result.notes * 2)


def innocent(self: Tenth, table: Table, left: Rows, gone: Rows) -> StepResult:
    note = Dropped(reason="it is a tenth row", count=len(gone), first=tuple(left[:1].tolist()))
    return StepResult(table, left, (note,) if len(gone) else ())


def wordless(self: Tenth, table: Table, left: Rows, gone: Rows) -> StepResult:
    return StepResult(table, left, (Dropped(reason=" ", count=len(gone)),) if len(gone) else ())


def cutting(self: Tenth, table: Table, left: Rows, gone: Rows) -> StepResult:
    return StepResult(Table.of(table.arrow.take(left)), np.arange(len(left)))


def adding(self: Tenth, table: Table, rows: Rows, space: Space) -> StepResult:
    return StepResult(table, np.arange(table.rows, dtype=np.int64))


def noisy(self: Tenth, table: Table, left: Rows, gone: Rows) -> StepResult:
    noise = np.random.default_rng().random(table.rows)
    return StepResult(with_cells(table, noise), left, Tenth.result(self, table, left, gone).notes)


def in_place(self: Tenth, table: Table, rows: Rows, space: Space) -> StepResult:
    rows[rows % 10 == 0] = -1
    return StepResult(table, rows[rows >= 0])


def growing(self: Tenth, table: Table, left: Rows, gone: Rows) -> StepResult:
    raised = [None if v is None else v + 1 for v in table.column("power").to_pylist()]
    return StepResult(with_cells(table, raised), left, Tenth.result(self, table, left, gone).notes)


def half(self: Tenth, table: Table, rows: Rows, space: Space) -> StepResult:
    return Tenth.result(self, table, rows[::2].copy(), rows[1::2].copy())


def losing(self: Tenth, table: Table, left: Rows, gone: Rows) -> StepResult:
    smaller = Table.of(table.arrow.drop_columns(["power"]), table.parts)
    return StepResult(smaller, left, Tenth.result(self, table, left, gone).notes)


BROKEN: dict[str, tuple[Any, str]] = {
    "no name": (step(name=""), "it has a `name`"),
    "no study": (step(__init__=lambda self: None), "takes the study"),
    "raises": (step(result=lambda *a: 1 / 0), "it runs"),
    "needs a row": (
        step(apply=lambda s, t, r, sp: StepResult(t, r) if r[0] >= 0 else r),
        "it runs",
    ),
    "an unknown column": (
        step(apply=lambda s, t, r, sp: StepResult(t, r[t.column("powr").is_valid()])),
        "a table that has what it needs",
    ),
    "a tuple": (step(result=lambda s, t, left, gone: (t, left)), "returns a StepResult"),
    "silent": (step(result=silent), "counted in exactly one note"),
    "told twice": (step(result=reported_twice), "counted in exactly one note"),
    "blames others": (step(result=innocent), "names rows that it is about"),
    "wordless": (step(result=wordless), "its reason in one line"),
    "cuts the table": (step(result=cutting), "keeps its number of rows"),
    "loses a column": (step(result=losing), "keeps its columns"),
    "brings rows back": (step(apply=adding), "some of those it was given"),
    "turned round": (
        step(apply=lambda s, t, r, sp: StepResult(t, r[::-1].copy())),
        "some of those it was given, in order",
    ),
    "a mask": (
        step(apply=lambda s, t, r, sp: StepResult(t, np.ones(len(r), dtype=bool))),  # type: ignore[arg-type]
        "`rows` is an int64 array",
    ),
    "changes the rows in place": (step(apply=in_place), "it leaves the table and the rows"),
    "noise": (step(result=noisy), "the same table gives the same result"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_step_is_caught(what: str) -> None:
    plugin, promise = BROKEN[what]
    caught(lambda: check_step(plugin), promise)


@pytest.mark.parametrize("changes", [{"result": growing}, {"apply": half}], ids=["cells", "rows"])
def test_a_second_pass_is_judged_where_it_is_promised(changes: dict[str, Any]) -> None:
    plugin = step(**changes)
    check_step(plugin)
    caught(lambda: check_step(plugin, idempotent=True), "a second pass finds nothing left to do")


def test_a_table_of_ones_own() -> None:
    table = Table.of(pa.table({"x": [1.0, float("inf")], "y": [1.0, 2.0]}))
    study = Study.model_validate({"columns": {"x": {"role": "knob"}, "y": {"role": "outcome"}}})
    check_step(NotFinite, table=table, study=study, idempotent=True)
