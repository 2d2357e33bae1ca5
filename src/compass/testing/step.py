"""What a preprocessing step promises: rows keep their places, and none is lost without a word."""

from typing import Any

import numpy as np
import pyarrow as pa

from compass.domain.errors import CompassError
from compass.domain.space import Space
from compass.domain.study import Study
from compass.prepare.base import Rows, StepResult
from compass.prepare.infer import infer
from compass.readers import Table
from compass.readers.table import fingerprint
from compass.testing.base import Witness, witness

_N = 120


def sample_table() -> Table:
    """Runs with gaps, infinite numbers, labels of both cases and numbers written with units."""
    rng = np.random.default_rng(2)
    nodes = rng.choice([1, 2, 4, 8], _N)
    runtime = 100 / nodes + rng.uniform(0, 1, _N)
    runtime[[5, 50]] = np.inf
    share = rng.uniform(0, 1, _N)
    share[[3, 50, 77]] = -np.inf
    app: list[str | None] = rng.choice(["amg", "AMG", "comd"], _N).tolist()
    app[10] = app[77] = None
    power: list[float | None] = (100.0 * nodes).tolist()
    for place in (5, 6, 7):
        power[place] = None
    memory = [f"{size} MiB" for size in rng.integers(100, 900, _N)]
    columns = {
        "app": app,
        "nodes": nodes,
        "share": share,
        "runtime": runtime,
        "power": power,
        "memory": memory,
    }
    return Table.of(pa.table(columns))


def sample_study() -> Study:
    """The study of these runs: roles, labels to rewrite, values that are legal."""
    return Study.model_validate(
        {
            "columns": {
                "app": {"role": "context", "values": ["amg"]},
                "nodes": {"role": "knob", "allowed": [1, 2, 4]},
                "share": {"role": "knob"},
                "runtime": {"role": "outcome"},
                "power": {"role": "outcome"},
                "memory": {"role": "outcome"},
            },
            "map": {"app": {"AMG": "amg"}},
        }
    )


def check_step(
    plugin: Any,
    *,
    name: str | None = None,
    table: Table | None = None,
    study: Study | None = None,
    idempotent: bool = False,
) -> None:
    """Raise ConformanceError unless the step keeps its promises.

    A step that needs certain columns is checked on a `table` (and `study`) that has them. With
    `idempotent` it promises as well that a second pass finds nothing left to do.
    """
    found = witness("step", plugin, name)
    given = sample_table() if table is None else table
    used = (sample_study() if table is None else Study()) if study is None else study
    with found.at("plugin(study)").calling("it is a class that takes the study"):
        plugin(used)
    space = infer(given, used)[0]
    everything = np.arange(given.rows, dtype=np.int64)
    for label, rows in {
        "all rows": everything,
        "every third row": everything[::3].copy(),
        "no rows": everything[:0].copy(),
    }.items():
        at = found.at(
            f"plugin(study).apply(table, rows, infer(table, study)[0]) on {label} of "
            "compass.testing.step.sample_table() and sample_study()"
        )
        result = _pass(at, plugin(used), given, rows, space)
        _rows(at, given, rows, result)
        _report(at.at(f"{at.look}, then .notes"), rows, result)
        again = _pass(at, plugin(used), given, rows, space)
        twice = at.at(f"{at.look}, twice")
        _equal(twice, result, again, "the same table gives the same result")
        if idempotent:
            after = infer(result.table, used)[0] if result.table is not given else space
            once_more = _pass(at, plugin(used), result.table, result.rows, after)
            _equal(twice, result, once_more, "a second pass finds nothing left to do")


def _pass(at: Witness, step: Any, table: Table, rows: Rows, space: Space) -> StepResult:
    before, kept = fingerprint(table.arrow), rows.copy()
    try:
        result = step.apply(table, rows, space)
    except CompassError as error:
        own = at.at(f"{at.look}; check_step(..., table=...) takes a table of yours")
        raise own.broken("it runs on a table that has what it needs", str(error)) from error
    except Exception as error:
        raise at.broken("it runs", error) from error
    at.expect(isinstance(result, StepResult), "it returns a StepResult", repr(type(result)))
    at.expect(
        fingerprint(table.arrow) == before and np.array_equal(rows, kept),
        "it leaves the table and the rows it was given as they are",
        "they have changed",
    )
    assert isinstance(result, StepResult)
    return result


def _rows(at: Witness, table: Table, rows: Rows, result: StepResult) -> None:
    left = result.rows
    at.expect(
        result.table.rows == table.rows,
        "the table keeps its number of rows; what is dropped is left out of `rows`",
        f"{result.table.rows} rows instead of {table.rows}",
    )
    lost = [column for column in table.names if column not in result.table.names]
    at.expect(not lost, "the table keeps its columns; it may get more", f"{lost} are gone")
    at.expect(
        isinstance(left, np.ndarray) and left.dtype == np.int64 and left.ndim == 1,
        "`rows` is an int64 array",
        f"{getattr(left, 'dtype', type(left).__name__)}",
    )
    at.expect(
        np.isin(left, rows).all() and (np.diff(left) > 0).all(),
        "the rows that are left are some of those it was given, in order",
        f"{left[:8].tolist()}, ... from {rows[:8].tolist()}, ...",
    )


def _report(at: Witness, rows: Rows, result: StepResult) -> None:
    gone = set(rows.tolist()) - set(result.rows.tolist())
    reported = sum(note.count for note in result.notes if not note.kept)
    at.expect(
        reported == len(gone),
        "every row that it drops is counted in exactly one note",
        f"{len(gone)} rows dropped, {reported} reported",
    )
    for note in result.notes:
        known = set(rows.tolist()) if note.kept else gone
        at.expect(
            set(note.first) <= known and len(note.first) <= note.count,
            "a note names rows that it is about",
            f"{note.reason!r} names {note.first}",
        )
        at.expect(
            note.reason.strip() and "\n" not in note.reason,
            "a note gives its reason in one line",
            repr(note.reason),
        )


def _equal(at: Witness, one: StepResult, two: StepResult, promise: str) -> None:
    at.expect(
        np.array_equal(one.rows, two.rows),
        promise,
        f"{len(one.rows)} rows left, then {len(two.rows)}",
    )
    at.expect(
        fingerprint(one.table.arrow) == fingerprint(two.table.arrow), promise, "the cells differ"
    )
