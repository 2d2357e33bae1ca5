"""Text that is looked at quickly gives the sample that careful reading gives."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import compass as cp
from compass.readers import fragments
from compass.reducers import scan
from compass.settings import ReduceSettings

STUDY = cp.Study.model_validate(
    {
        "columns": {
            "app": {"role": "context"},
            "nodes": {"role": "knob"},
            "size": {"role": "context"},
            "runtime": {"role": "outcome"},
        }
    }
)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(fragments, "BYTES", 20_000)
    rng = np.random.default_rng(3)
    n = 4000
    nodes = rng.choice([1, 2, 4, 8], n)
    size = rng.lognormal(0, 2, n)
    table = pa.table(
        {
            "job": [f"job-{i}" for i in range(n)],
            "app": pa.array(rng.choice(["amg", "comd", "wrf"], n).tolist()),
            "nodes": nodes,
            "size": pa.array(size, mask=rng.random(n) < 0.05),
            "runtime": size / nodes * rng.lognormal(0, 0.1, n),
        }
    )
    path = tmp_path / "runs.csv"
    csv.write_csv(table, path, csv.WriteOptions(quoting_style="none"))
    return path


@pytest.mark.parametrize(
    ("method", "where"),
    [
        ("guided", ()),
        ("guided", ("app == 'amg'", "runtime > 0.5")),
        ("uniform", ("nodes <= 4",)),
        ("stratified", ("app in {amg, wrf}",)),
        ("guided", ("nodes * size > 1",)),  # takes careful reading either way
    ],
)
def test_both_ways_keep_the_same_rows(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, where: tuple[str, ...]
) -> None:
    used = []
    quickly = scan._quickly

    def watched(*given: object) -> object:
        found = quickly(*given)  # type: ignore[arg-type]
        used.append(found is not None)
        return found

    monkeypatch.setattr(scan, "_quickly", watched)
    wanted = {"keep": 0.2, "method": method, "where": where, "study": STUDY}
    one = cp.reduce(runs, tmp_path / "quick.parquet", **wanted)
    assert len(used) > 3
    assert all(used) == (where != ("nodes * size > 1",))
    monkeypatch.setattr(scan, "_quickly", lambda *_: None)
    other = cp.reduce(runs, tmp_path / "careful.parquet", **wanted)
    assert pq.read_table(tmp_path / "quick.parquet").equals(
        pq.read_table(tmp_path / "careful.parquet")
    )
    assert one.dropped == other.dropped
    assert one.labels == other.labels
    assert (one.rows, one.usable) == (other.rows, other.usable)
    for quick, careful in zip(one.columns, other.columns, strict=True):
        assert (quick.count, quick.low, quick.high) == (careful.count, careful.low, careful.high)
        assert quick.mean == pytest.approx(careful.mean, rel=1e-12)


def test_text_among_numbers_is_read_with_care(runs: Path, tmp_path: Path) -> None:
    lines = runs.read_text().splitlines()
    lines[3001] = lines[3001].rsplit(",", 1)[0] + ",unknown"
    runs.write_text("\n".join(lines) + "\n")
    first = ReduceSettings(places=1)  # so that the text comes as a surprise
    found = cp.reduce(runs, tmp_path / "s.parquet", keep=0.2, study=STUDY, settings=first)
    assert found.rows == 4000
    assert found.dropped["no outcome was measured"] == 1


def test_one_condition_may_be_a_single_text(runs: Path, tmp_path: Path) -> None:
    wanted = {"keep": 0.2, "study": STUDY}
    one = cp.reduce(runs, tmp_path / "a.parquet", where="nodes <= 4", **wanted)
    many = cp.reduce(runs, tmp_path / "b.parquet", where=["nodes <= 4"], **wanted)
    assert one.dropped == many.dropped
    assert one.kept == many.kept < one.rows
