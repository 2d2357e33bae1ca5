"""CPU time and memory of reading a dump of sacct and of one advice, in processes of their own."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.schedule.advice.dump import lines

JOBS = 333_333  # three lines each

_READ = """
import json, resource, sys, time
from pathlib import Path
import pyarrow.compute, pyarrow.csv
from compass.readers.sacct import Sacct
start = time.process_time()
table = Sacct().read(Path(sys.argv[1]))
spent = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"jobs": table.num_rows, "columns": table.num_columns,
                  "cpu_s": round(spent, 2), "peak_mib": round(peak)}))
"""

_ADVISE = """
import json, resource, sys, time
from compass.schedule.advice.advisor import Advisor
from compass.schedule.advice.source import past_jobs
found = Advisor(past_jobs(sys.argv[1])).of_last(20)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"advice": len(found), "cpu_s": round(time.process_time(), 2),
                  "peak_mib": round(peak)}))
"""


def _child(code: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(repeats: int = 3) -> dict[str, Any]:
    """The quickest of some readings and advices, of a generated dump of a million lines."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "million.psv"
        dump.write_text("\n".join(lines(JOBS, 1)) + "\n")
        return {
            name: min(
                (_child(code, str(dump)) for _ in range(repeats)), key=lambda one: one["cpu_s"]
            )
            for name, code in (("read", _READ), ("advise", _ADVISE))
        }


def _spent(one: dict[str, Any]) -> float:
    return float(one["cpu_s"])
