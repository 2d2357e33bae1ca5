"""The first look: what columns are taken for, and types that change on the way."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from reduce_case import STUDY, jobs, reduced, write

import compass as cp
from compass.domain.errors import BadInput, DataProblem
from compass.prepare.infer import infer
from compass.readers import Table, fragments
from compass.readers.fragments import fragments_of
from compass.reducers import pilot
from compass.reducers.columns import Cells
from compass.settings import ReduceSettings

N = 1200


@pytest.fixture(autouse=True)
def _small_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "BYTES", 2000)
    monkeypatch.setattr(fragments, "ROWS", 200)


def csv_of(path: Path, cell: Any, rows: int = N) -> Path:
    """Rows whose column `extra` is what the function says."""
    lines = ["nodes,extra,runtime"]
    lines += [f"{1 + n % 7},{cell(n)},{(1 + n % 7) * 0.5 + 0.01 * (n % 3)}" for n in range(rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


STUDY3 = cp.Study.model_validate(
    {
        "columns": {
            "nodes": {"role": "knob"},
            "runtime": {"role": "outcome"},
            "extra": {"role": "ignored"},
        }
    }
)
FEW = ReduceSettings(places=1, pool=64)  # only one place is looked at first: the rest surprises


@pytest.mark.parametrize("how", [ReduceSettings(), FEW])
@pytest.mark.parametrize(
    ("cell", "kind", "value"),
    [
        (lambda n: n, pa.int64(), lambda n: n),
        (lambda n: n if n < 900 else n + 0.5, pa.float64(), lambda n: n if n < 900 else n + 0.5),
        (lambda n: "" if n < 900 else n, pa.int64(), lambda n: None if n < 900 else n),
        (lambda n: str(n % 2 == 0).lower(), pa.bool_(), lambda n: n % 2 == 0),
        (lambda n: "", pa.null(), lambda n: None),
        (
            lambda n: f"01:02:{n % 60:02d}",
            pa.float64(),
            lambda n: 3720.0 + n % 60,
        ),
        (
            lambda n: f"2024-01-01T00:00:{n % 60:02d}Z",
            pa.timestamp("us"),
            lambda n: datetime(2024, 1, 1) + timedelta(seconds=n % 60),
        ),
        (
            lambda n: "2024-01-01 00:00:00" + (".5" if n > 900 else ""),
            pa.timestamp("us"),
            lambda n: datetime(2024, 1, 1) + timedelta(seconds=0.5 * (n > 900)),
        ),
    ],
)
def test_columns_of_text_have_the_type_of_all_of_it(
    cell: Any, kind: pa.DataType, value: Any, how: ReduceSettings, tmp_path: Path
) -> None:
    path = csv_of(tmp_path / "x.csv", cell)
    _, sample = reduced(path, tmp_path / "s.parquet", study=STUDY3, settings=how, keep=0.3)
    assert sample.schema.field("extra").type == kind
    for row in sample.to_pylist():
        assert row["extra"] == value(row["sample_row"])


def test_numbers_that_become_text_are_text_as_it_was_written(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "x.csv", lambda n: f"{n:05d}" if n < 900 else f"x{n}")
    _, sample = reduced(path, tmp_path / "s.parquet", study=STUDY3, keep=0.3)
    assert sample.schema.field("extra").type == pa.large_string()
    for row in sample.to_pylist():
        n = row["sample_row"]
        assert row["extra"] == (f"{n:05d}" if n < 900 else f"x{n}")


def test_numbers_that_become_text_unexpectedly_do_not_stop_the_pass(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "x.csv", lambda n: n if n != 1100 else "x")
    _, sample = reduced(path, tmp_path / "s.parquet", study=STUDY3, settings=FEW, keep=1.0)
    values = sample.column("extra").to_pylist()
    assert sample.num_rows == N
    assert values[1100] == "x"
    assert values[3] == "3"


def test_files_with_narrow_and_wide_numbers_go_together(tmp_path: Path) -> None:
    table = jobs(600)
    place = table.column_names.index("nodes")
    wide = table.set_column(place, "nodes", table.column("nodes").cast(pa.int64()))
    half = table.set_column(place, "nodes", table.column("nodes").cast(pa.float32()))
    for name, other, kind in (("wide", wide, pa.int64()), ("half", half, pa.float64())):
        paths = [write(tmp_path / "a.parquet", table), write(tmp_path / f"{name}.parquet", other)]
        report, sample = reduced(paths, tmp_path / "s.parquet", keep=0.5)
        assert report.rows == 1200
        assert sample.schema.field("nodes").type == kind


def test_every_type_of_a_parquet_file_gets_through(tmp_path: Path) -> None:
    n = 1000
    table = jobs(n)
    extra = {
        "flag": pa.array(np.arange(n) % 3 == 0),
        "when": pa.array((np.arange(n) * 1_000_000).astype("datetime64[ms]")),
        "list": pa.array([[k, 2] for k in range(n)]),
        "of": pa.StructArray.from_arrays(
            [pa.array(np.arange(n) % 5), pa.array(["x", None] * (n // 2))], ["a", "b"]
        ),
        "nothing": pa.nulls(n),
        "coded": pa.array(["q", "r"] * (n // 2)).dictionary_encode(),
        "exact": pa.array(range(n)).cast(pa.decimal128(21, 2)),
        "raw": pa.array([b"ab"] * n),
        "took": pa.array(np.arange(n), pa.duration("s")),
    }
    for name, column in extra.items():
        table = table.append_column(name, column)
    source = write(tmp_path / "a.parquet", table, group=100)
    report, sample = reduced(source, tmp_path / "s.parquet", keep=0.3)
    truth = cp.read(source).table
    assert report.rows == n
    for row in sample.to_pylist():
        wanted = {name: truth.column(name)[row["sample_row"]].as_py() for name in truth.names}
        assert {name: row[name] for name in wanted} == wanted
    assert {f.name: f.type for f in sample.schema if f.name in truth.names} == {
        f.name: f.type for f in truth.arrow.schema
    }


@pytest.mark.parametrize("name", ["app", "size"])
@pytest.mark.parametrize("how", [ReduceSettings(), ReduceSettings(places=1)])
def test_a_column_that_one_file_lacks_is_told_with_the_file(
    name: str, how: ReduceSettings, tmp_path: Path
) -> None:
    with_it = write(tmp_path / "a.parquet", jobs(400))
    without = write(tmp_path / "b.parquet", jobs(400, seed=2).drop([name]))
    study = cp.Study.model_validate(
        {"columns": {"nodes": {"role": "knob"}, "runtime": {"role": "outcome"}}}
    )
    named = set()
    for seed in range(6):  # whichever file is looked at first
        with pytest.raises(BadInput, match=f"column (named )?'{name}'") as caught:
            reduced(
                [with_it, without], tmp_path / "s.parquet", settings=how, seed=seed, study=study
            )
        named |= {file for file in ("a.parquet", "b.parquet") if file in caught.value.message}
    assert named == {"a.parquet", "b.parquet"}
    assert not (tmp_path / "s.parquet").exists()


def test_text_and_numbers_in_two_files_are_told(tmp_path: Path) -> None:
    one = csv_of(tmp_path / "a.csv", lambda n: n)
    two = csv_of(tmp_path / "b.csv", lambda n: f"t{n}")
    with pytest.raises(DataProblem, match=r"'extra' holds .* in .*\.csv but .* in .*\.csv"):
        reduced([one, two], tmp_path / "s.parquet", study=STUDY3)


def test_keys_that_some_json_lines_lack_are_missing_cells(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"nodes": 1 + n % 7, "runtime": 1 + n % 7 + 0.01 * (n % 3), "id": n} for n in range(N)
    ]
    for n in range(900, N):
        rows[n]["late"] = {"x": n, "y": f"t{n}"}
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    study = cp.Study.model_validate(
        {
            "columns": {
                **{name: {"role": "ignored"} for name in ("id", "late.x", "late.y")},
                "nodes": {"role": "knob"},
                "runtime": {"role": "outcome"},
            }
        }
    )
    report, sample = reduced(path, tmp_path / "s.parquet", study=study, keep=0.3)
    assert report.fragments > 10
    for row in sample.to_pylist():
        n = row["sample_row"]
        assert row["id"] == n
        assert row["late.x"] == (n if n >= 900 else None)
        assert row["late.y"] == (f"t{n}" if n >= 900 else None)


def test_the_first_look_is_at_rows_from_all_over_the_source(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", jobs(4000), group=200)
    source = fragments_of([tmp_path / "a.parquet"])
    pool = pilot.draw(source, STUDY, 1, ReduceSettings(pilot=500))
    assert pool.table.rows == 500
    assert len(source.fragments) == 20
    assert pool.share == pool.table.rows / source.rows
    ids = np.array(pool.table.arrow.column("id").to_pylist()) - 1_000_000
    assert (np.bincount(ids // 200, minlength=20) > 8).all()
    other = pilot.draw(source, STUDY, 2, ReduceSettings(pilot=500))
    assert other.table.fingerprint != pool.table.fingerprint


@pytest.mark.parametrize("outcome", [lambda n: 3.0, lambda n: "", lambda n: "inf"])
def test_an_outcome_that_teaches_nothing_is_told(outcome: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("nodes,runtime\n" + "".join(f"{n % 5},{outcome(n)}\n" for n in range(300)))
    study = cp.Study.model_validate(
        {"columns": {"nodes": {"role": "knob"}, "runtime": {"role": "outcome"}}}
    )
    with pytest.raises(BadInput) as caught:
        reduced(path, tmp_path / "s.parquet", study=study)
    assert caught.value.hint


def test_few_rows_are_told_what_to_do(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs(20))
    with pytest.raises(BadInput, match="too few to learn from") as caught:
        reduced(source, tmp_path / "s.parquet")
    assert "--method uniform" in caught.value.hint
    report, _ = reduced(source, tmp_path / "s.parquet", method="uniform", keep=0.5)
    assert report.rows == 20


def test_labels_of_one_outcome_do_not_take_the_places_of_the_others() -> None:
    table = pa.table(
        {
            "state": ["ok"] * 50 + ["failed"] * 30 + ["timeout"] * 15 + ["cancelled"] * 5,
            "phase": ["a"] * 60 + ["b"] * 40,
            "runtime": np.arange(100.0),
            "power": np.arange(100.0),
        }
    )
    names = table.column_names
    study = cp.Study.model_validate({"columns": {name: {"role": "outcome"} for name in names}})
    space, _ = infer(Table.of(table), study)
    columns = {name: Cells(table.column(name)) for name in names}
    found = [(one.name, one.label) for one in pilot.targets_of(columns, space, 9)]
    assert found == [
        *(("runtime", None), ("power", None)),
        *(("state", "failed"), ("phase", "b")),
        *(("state", "timeout"), ("state", "cancelled")),
    ]
    assert len(pilot.targets_of(columns, space, 3)) == 3
