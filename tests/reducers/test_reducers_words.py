"""Text columns of numbers are sampled like numbers, and failed runs stay in the sample."""

from pathlib import Path

import numpy as np
import pytest

from compass.prepare import prepare
from compass.readers import read
from compass.readers.sample import ROW
from compass.reducers.large import reduce


def written(path: Path, rows: int, first: int) -> Path:
    """Runs with memory as sizes, and words in the time from some row on."""
    rng = np.random.default_rng(3)
    lines = ["tile,mem,runtime"]
    for row in range(rows):
        tile, mem = rng.choice([8, 16, 32]), rng.choice(["4G", "8G", "512M"])
        time = f"{tile / 8 + rng.random():.4f}"
        word = rng.choice(["timeout", "OOM", "-"]) if row >= first and row % 5 == 0 else None
        lines.append(f"{tile},{mem},{word or time}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("method", ["uniform", "guided"])
@pytest.mark.parametrize("first", [0, 11_000])
def test_a_sample_reads_like_the_whole(tmp_path: Path, method: str, first: int) -> None:
    source = written(tmp_path / "runs.csv", 12_000, first)
    whole = prepare(read(source))
    sample = tmp_path / "sample.parquet"
    report = reduce(source, sample, keep=0.5, method=method)
    table = read(sample)
    part = prepare(table)
    rows = np.asarray(table.column(ROW).to_pylist())
    for name in ("tile", "mem", "runtime"):
        place = np.searchsorted(whole.row_id, rows[part.row_id])
        np.testing.assert_array_equal(part.column(name), whole.column(name)[place])
    told = dict(zip(whole.failures.row_id.tolist(), whole.failures.reasons, strict=True))
    kept = dict(zip(rows[part.failures.row_id].tolist(), part.failures.reasons, strict=True))
    assert kept.items() <= told.items()
    assert len(kept) > 0.3 * len(told)
    assert part.space["mem"].unit == "GiB"  # type: ignore[union-attr]
    runtime = next(one for one in report.columns if one.name == "runtime")
    measured = whole.outcome("runtime")
    assert runtime.count == len(measured)
    assert runtime.mean == pytest.approx(measured.mean())
