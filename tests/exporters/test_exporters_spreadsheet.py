"""Names and labels of strangers in CSV files: no spreadsheet runs them, and they come back."""

import csv
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import compass as cp
from compass.exporters.run_file import to_fill_in
from compass.exporters.spreadsheet import guarded, unguarded
from compass.readers import read
from compass.readers.table import Table
from conftest import QUICK

FORMULA = ("=", "+", "-", "@", "\t", "\r")
LABELS = ("=1+1", "'=1+1", "-O3", "'-O3'", "+x", "@SUM(A1)", "\t=1", "\r=1", "plain", "it's")


def runs(n: int = 200) -> dict[str, list[object]]:
    rng = np.random.default_rng(1)
    which, threads = rng.integers(len(LABELS), size=n), rng.choice([1, 2, 4, 8], n)
    return {
        "=threads": threads.tolist(),
        "flags": [LABELS[place] for place in which],
        "-runtime": ((10.0 + which) / threads).tolist(),
    }


@pytest.fixture(scope="module")
def engine() -> cp.Compass:
    data = cp.read(runs()).roles(knobs=["=threads", "flags"], outcomes=["-runtime"])
    return cp.Compass(data, settings=QUICK).fit()


@pytest.mark.parametrize("label", LABELS)
def test_no_label_begins_like_a_formula_and_each_has_a_mark_of_its_own(label: str) -> None:
    marked = str(guarded(label))
    assert not marked.startswith(FORMULA)
    assert marked.removeprefix("'") == label or marked == label
    assert [one for one in LABELS if guarded(one) == marked] == [label]


def test_numbers_are_left_alone() -> None:
    assert guarded(-3) == -3
    assert guarded(-0.5) == -0.5
    assert guarded(None) is None


def test_runs_to_make_come_back_as_they_were_proposed(engine: cp.Compass, tmp_path: Path) -> None:
    proposed = engine.run_next(40)
    assert {"=1+1", "-O3"} <= {str(one.config["flags"]) for one in proposed}
    text = to_fill_in(engine.space, engine.data.study, proposed)
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert not [cell for row in rows for cell in row if cell.startswith(FORMULA)]
    place = rows[0].index("'-runtime")
    for number, row in enumerate(rows[1:]):
        row[place] = str(1.0 + number)
    file = tmp_path / "runs.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows)
    first = len(engine.data)
    told = cp.Compass(engine.data, settings=QUICK)
    assert told.tell(file).rows == len(proposed)
    for number, proposal in enumerate(proposed):
        row = told.data.row(first + number)
        assert row == {**proposal.config, "-runtime": 1.0 + number}


def test_a_file_that_was_never_marked_is_taken_as_it_is(engine: cp.Compass) -> None:
    known = engine.data.table
    given = read({"=threads": [1, 2], "flags": ["=1+1", "'=1+1"], "-runtime": [1.0, 2.0]})
    assert unguarded(given, known).equals(given.arrow)


def test_units_and_the_mark_of_a_sample_stay(engine: cp.Compass) -> None:
    flags = pa.field("flags", pa.large_string(), metadata={"unit": "none"})
    schema = pa.schema([("=threads", pa.int64()), flags], metadata={"mark": "a sample"})
    given = Table.of(pa.table([[1], ["'-O3"]], schema=schema))
    found = unguarded(given, engine.data.table)
    assert found.schema.equals(given.arrow.schema, check_metadata=True)
    assert found.column("flags").to_pylist() == ["-O3"]


def test_an_apostrophe_of_a_label_that_is_not_known_stays(engine: cp.Compass) -> None:
    known = engine.data.table
    given = read({"'=threads": [1, 2], "flags": ["'-O3", "'-Ofast"], "'-runtime": [1.0, 2.0]})
    assert unguarded(given, known).to_pydict() == {
        "=threads": [1, 2],
        "flags": ["-O3", "'-Ofast"],
        "-runtime": [1.0, 2.0],
    }
