"""Which rows of a fragment are kept: worked out again, row by row, without the kernels."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from reduce_case import STUDY, jobs, number_of, reduced, score_of, write

import compass as cp
from compass.readers import fragments
from compass.readers.fragments import fragments_of
from compass.reducers.pilot import draw
from compass.reducers.plan import Choice, scan_plan
from compass.reducers.probabilities import ByScore
from compass.settings import ReduceSettings

HOW = ReduceSettings(trees=6, depth=3)


def test_guided_rows_and_weights_are_those_of_a_slow_scorer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "ROWS", 700)
    source = write(tmp_path / "a.parquet", jobs(1500), group=300)
    _, sample = reduced(source, tmp_path / "s.parquet", settings=HOW, seed=3)
    found = fragments_of([source])
    choice = Choice(0.1, seed=3, study=STUDY, settings=HOW)
    probabilities = scan_plan(draw(found, STUDY, 3, HOW), choice)[0].probabilities
    assert isinstance(probabilities, ByScore)
    wanted: dict[int, float] = {}
    identity = found.fragments[0].identity
    for row, cells in enumerate(jobs(1500).to_pylist()):
        if cells["size"] is None:
            continue
        chance = min(1.0, probabilities.a + probabilities.b * score_of(probabilities.scorer, cells))
        if number_of(row, 3, identity, 0) < chance:
            wanted[row] = 1 / chance
    assert sample.column("sample_row").to_pylist() == list(wanted)
    np.testing.assert_allclose(sample.column("sample_weight"), list(wanted.values()), rtol=1e-9)


def test_uniform_rows_are_those_that_drew_a_small_number(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs(3000))
    report, sample = reduced(source, tmp_path / "s.parquet", method="uniform", keep=0.2, seed=5)
    identity = fragments_of([source]).fragments[0].identity
    sizes = jobs(3000).column("size").to_pylist()
    wanted = [r for r in range(3000) if sizes[r] is not None and number_of(r, 5, identity, 0) < 0.2]
    assert sample.column("sample_row").to_pylist() == wanted
    assert set(sample.column("sample_weight").to_pylist()) == {5.0}
    assert report.effective == pytest.approx(report.kept)


def test_rare_strata_are_kept_more_often(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs())
    report, sample = reduced(source, tmp_path / "s.parquet", method="stratified", by=["app"])
    weight = {
        app: set(np.round(np.array(w), 9))
        for app in ("amg", "comd", "wild", "rare")
        if (w := [r["sample_weight"] for r in sample.to_pylist() if r["app"] == app])
    }
    assert all(len(found) == 1 for found in weight.values())
    order = [next(iter(weight[app])) for app in ("rare", "wild", "comd", "amg")]
    assert order == sorted(order)
    assert {one.label: one.kept for one in report.labels if one.column == "app"} == {
        app: sum(name == app for name in sample.column("app").to_pylist()) for app in weight
    }


@pytest.mark.parametrize("method", ["guided", "uniform", "stratified"])
def test_weighted_totals_are_those_of_all_rows_on_average(method: str, tmp_path: Path) -> None:
    """Over 30 seeds: the mean of an unbiased estimate is within five of its standard errors."""
    table = jobs(3000)
    source = write(tmp_path / "a.parquet", table, group=3000)
    usable = table.filter(pa.compute.is_valid(table.column("size")))
    truth = {
        "rows": float(usable.num_rows),
        "runtime": float(np.sum(usable.column("runtime").to_numpy())),
        "rare": float(usable.column("app").to_pylist().count("rare")),
    }
    got: dict[str, list[float]] = {name: [] for name in truth}
    kept = []
    for seed in range(30):
        report, sample = reduced(
            source, tmp_path / "s.parquet", method=method, seed=seed, settings=HOW
        )
        weight = sample.column("sample_weight").to_numpy()
        app = np.array(sample.column("app").to_pylist())
        got["rows"].append(weight.sum())
        got["runtime"].append(float(weight @ sample.column("runtime").to_numpy()))
        got["rare"].append(weight[app == "rare"].sum())
        kept.append(report.share)
        assert report.weight == pytest.approx(weight.sum())
        assert report.expected / report.usable == pytest.approx(0.1, rel=0.25)
    for name, found in got.items():
        error = np.std(found, ddof=1) / np.sqrt(len(found))
        assert abs(np.mean(found) - truth[name]) < 5 * error, name
    assert np.mean(kept) == pytest.approx(0.1, rel=0.1)


def test_the_report_tells_the_means_of_all_rows_and_of_the_sample(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs())
    report, sample = reduced(source, tmp_path / "s.parquet")
    table = jobs()
    usable = table.filter(pa.compute.is_valid(table.column("size")))
    for one in report.columns:
        values = usable.column(one.name).to_numpy().astype(float)
        assert one.count == len(values)
        assert one.mean == pytest.approx(values.mean())
        assert one.deviation == pytest.approx(values.std(ddof=1))
        assert (one.low, one.high) == (values.min(), values.max())
        mine = sample.column(one.name).to_numpy().astype(float)
        weight = sample.column("sample_weight").to_numpy()
        assert one.estimate == pytest.approx(np.average(mine, weights=weight))
    weight = sample.column("sample_weight").to_numpy()
    assert report.heaviest == weight.max()
    assert report.effective == pytest.approx(weight.sum() ** 2 / (weight**2).sum())


def test_noisy_rows_are_kept_more_often(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs())
    report, _ = reduced(source, tmp_path / "s.parquet")
    share = {one.label: one.chance for one in report.labels}
    assert share["wild"] > 2 * share["amg"]
    assert report.guides[0].outcome == "runtime"
    assert report.guides[0].explained > 0.5


@pytest.mark.parametrize("kind", ["class", "two", "gaps"])
def test_outcomes_of_every_kind_guide(kind: str, tmp_path: Path) -> None:
    table = jobs(3000)
    rng = np.random.default_rng(0)
    state = np.where(
        rng.random(3000) < 0.05, "FAILED", np.where(rng.random(3000) < 0.02, "T", "OK")
    )
    runtime = table.column("runtime").to_numpy()
    columns: dict[str, Any] = {name: table.column(name) for name in ("app", "nodes", "id")}
    columns["state"] = pa.array(state)
    if kind != "class":
        columns["runtime"] = pa.array(runtime, mask=(np.arange(3000) % 3 == 0) & (kind == "gaps"))
    study = cp.Study.model_validate(
        {
            "columns": {
                "app": {"role": "context"},
                "nodes": {"role": "knob"},
                "id": {"role": "ignored"},
                "state": {"role": "outcome"},
                **({} if kind == "class" else {"runtime": {"role": "outcome"}}),
            }
        }
    )
    source = write(tmp_path / "a.parquet", pa.table(columns))
    report, sample = reduced(source, tmp_path / "s.parquet", study=study)
    assert report.usable == 3000
    assert {(one.outcome, one.label) for one in report.guides} >= {("state", "FAILED")}
    failed = {one.label: one.chance for one in report.labels if one.column == "state"}
    assert failed["FAILED"] > 1.5 * failed["OK"]
    if kind == "gaps":
        assert sample.column("runtime").null_count > 0
        assert "1,000 usable rows have no runtime" in report.notes


def test_rows_without_any_outcome_are_left_out(tmp_path: Path) -> None:
    table = jobs(2000)
    gone = np.arange(2000) % 4 == 0
    place = table.column_names.index("runtime")
    runtime = pa.array(table.column("runtime").to_numpy(), mask=gone)
    source = write(tmp_path / "a.parquet", table.set_column(place, "runtime", runtime))
    report, sample = reduced(source, tmp_path / "s.parquet", keep=0.5)
    there = table.column("size").is_valid().to_numpy()
    assert report.dropped["no outcome was measured"] == (gone & there).sum()
    assert sample.column("runtime").null_count == 0
