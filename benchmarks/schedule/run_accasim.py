"""Simulate a trace with AccaSim, in its own environment: prints seconds, and starts by job.

    python run_accasim.py TRACE.swf NODES

AccaSim 1.1.3 is of 2020: a name that Python has moved since is put where it looks for it.
"""

import collections
import collections.abc
import json
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path


def main() -> None:
    """Run, and print JSON."""
    collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined]
    from accasim.base.allocator_class import FirstFit
    from accasim.base.scheduler_class import EASYBackfilling
    from accasim.base.simulator_class import Simulator

    trace, nodes = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        machine = Path(folder) / "machine.json"
        machine.write_text(
            json.dumps(
                {
                    "groups": {"g0": {"core": 1}},
                    "resources": {"g0": nodes},
                    "equivalence": {"processor": {"core": 1}},
                    "start_time": 0,
                }
            )
        )
        simulator = Simulator(
            trace,
            str(machine),
            EASYBackfilling(FirstFit()),
            RESULTS_FOLDER_NAME=folder,
            statistics_output=False,
            show_statistics=False,
        )
        before = time.process_time()
        simulator.start_simulation()
        seconds = time.process_time() - before
        written = next(Path(folder).rglob("sched*")).read_text().splitlines()
        cells = [(line.split(";")[0], line.split("__")[2].split(";")[0]) for line in written]
        starts = [
            (job, datetime.fromisoformat(start).replace(tzinfo=UTC).timestamp())
            for job, start in cells
        ]
    print(json.dumps({"seconds": seconds, "starts": starts}))


if __name__ == "__main__":
    main()
