"""Memory does not grow with the number of rows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from reduce_case import jobs, write

_PROGRAM = """
import sys
from pathlib import Path
from reduce_case import reduced

report, _ = reduced([sys.argv[1]] * int(sys.argv[2]), Path(sys.argv[3]), keep=0.001)
print(report.rows, report.stages[-1].peak_mb)
"""


@pytest.mark.soak
def test_peak_memory_is_that_of_a_few_fragments(tmp_path: Path) -> None:
    source = write(tmp_path / "a.parquet", jobs(125_000), group=25_000)
    found = {}
    for visits in (4, 32):
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, source, str(visits), tmp_path / f"{visits}.parquet"],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        )
        rows, peak = done.stdout.split()
        found[int(rows)] = float(peak)
    assert list(found) == [500_000, 4_000_000]
    # A copy of the further rows would be 140 MB and more.
    assert found[4_000_000] - found[500_000] < 60, found
