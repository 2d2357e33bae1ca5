import csv
import shutil
from pathlib import Path

import pytest

from compass.collect.probe import (
    COLUMNS,
    KERNELS,
    SIZES,
    ProbePoint,
    ProbeRate,
    peaks,
    points,
    probe,
    with_numpy,
)
from compass.domain.errors import BadInput, EnvironmentProblem
from compass.platforms.columns import found_columns
from compass.platforms.counters import counter_mapping
from compass.platforms.pairs import match
from compass.platforms.peaks import read_peaks
from compass.readers import read

COMPILER = any(shutil.which(name) for name in ("gcc", "cc", "clang"))


def test_thread_counts_are_powers_of_two_and_all() -> None:
    found = points(6)
    assert {p.threads for p in found if p.kernel == "triad"} == {1, 2, 4, 6}
    assert {p.threads for p in found if p.kernel == "sort"} == {1}
    assert {p.kernel for p in found} == set(KERNELS)
    assert max(p.size for p in found if p.kernel == "matmul") < max(SIZES)


@pytest.mark.parametrize("kernel", KERNELS)
def test_numpy_runs_every_kernel(kernel: str) -> None:
    found = with_numpy(ProbePoint(kernel, 4096, 1))
    assert found.seconds > 0
    assert found.bytes > 0
    assert found.flops == {"sort": 0, "matmul": 2 * 64**3}.get(kernel, found.flops)


def test_peaks_are_the_best_rates() -> None:
    found = [
        ProbeRate(ProbePoint("triad", max(SIZES), 1), 2.0, 40.0, 4.0),
        ProbeRate(ProbePoint("triad", min(SIZES), 1), 1.0, 90.0, 4.0),  # from a cache
        ProbeRate(ProbePoint("matmul", min(SIZES), 1), 1.0, 10.0, 50.0),
    ]
    assert peaks(found) == (20.0, 50.0)


@pytest.mark.skipif(not COMPILER, reason="there is no C compiler")
def test_a_probe_is_a_benchmark_table(tmp_path: Path) -> None:
    report = probe(tmp_path / "probe.csv", "here", compiled=True)
    assert (report.how, report.failed) == ("compiled", ())
    with report.path.open() as handle:
        rows = list(csv.DictReader(handle))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == report.rows
    assert {row["kernel"] for row in rows} == set(KERNELS)
    assert all(float(row["runtime"]) > 0 for row in rows)
    table = read(str(report.path))
    columns = found_columns(table, counter_mapping(), configuration=["size", "threads"])
    assert columns.counters == ("bytes", "flops", "iterations")
    assert match(table, columns).machines == ("here",)
    told = read_peaks(report.peaks_path)["here"]
    assert told.bandwidth == pytest.approx(report.bandwidth, rel=1e-3)
    assert told.flops == pytest.approx(report.flops, rel=1e-3)


def test_without_a_compiler_numpy_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr("compass.collect.probe.SIZES", (4096,))
    report = probe(tmp_path / "probe.csv", "here")
    assert report.how == "numpy"
    with pytest.raises(EnvironmentProblem, match="No C compiler"):
        probe(tmp_path / "probe.csv", "here", compiled=True)


def test_a_name_that_breaks_the_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no name of a machine"):
        probe(tmp_path / "probe.csv", "a,b")
