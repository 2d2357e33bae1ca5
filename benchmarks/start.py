"""CPU time of commands from beginning to end: `python -m benchmarks.start`.

`--help`, `columns` of 3,000 rows, and questions to 28,000 runs: to a saved engine, and to the raw
table for the first and the second time. Each in a new process, on one thread, with byte code and
kernels compiled before.
"""

import argparse
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.jobs import OUTCOME, SEED, columns_of
from benchmarks.peers.jobs import table as jobs
from benchmarks.show import save, table

ROWS, FEW = 28_000, 3_000
QUESTION = f"Reconfigure X = {{tasks: ?, threads: ?}} to achieve Y = {{{OUTCOME}: reduce by 20%}}"
STUDY = ("--role", f"{OUTCOME}=outcome", "--surrogate", "forest")
START = ("--from", "row:17")


def write(path: Path, rows: int) -> Path:
    """A table of jobs made by the law of `benchmarks.peers`."""
    columns = columns_of(*jobs(rows, SEED))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def seconds(words: Sequence[object], folder: Path) -> float:
    """User and system CPU seconds of a command."""
    here = {"OMP_NUM_THREADS": "1", "COMPASS_CACHE": str(folder / "cache")}
    here["PYTHONDONTWRITEBYTECODE"] = ""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "compass.cli.main", *map(str, words)],
        env=os.environ | here,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(folder: Path, repeats: int) -> dict[str, float]:
    """The median CPU seconds of each command."""
    many, few = write(folder / "jobs.csv", ROWS), write(folder / "few.csv", FEW)
    engine = folder / "jobs.compass"
    seconds(["fit", many, "-o", engine, *STUDY], folder)
    ask = ["ask", many, QUESTION, *START, *STUDY]
    first = seconds(ask, folder)
    commands = {
        "compass --help": ["--help"],
        f"compass columns, {FEW:,} rows": ["columns", few],
        "compass ask X.compass --no-prove": ["ask", engine, QUESTION, *START, "--no-prove"],
        "compass ask X.compass": ["ask", engine, QUESTION, *START],
        "compass ask raw.csv, again": ask,
    }
    found = {}
    for name, words in commands.items():
        seconds(words, folder)  # compiles what is not compiled yet
        found[name] = statistics.median(seconds(words, folder) for _ in range(repeats))
    return found | {"compass ask raw.csv, first": first}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), given.repeats)
    print(table(["command", "CPU s"], [(name, f"{time:.2f}") for name, time in found.items()]))
    if given.json is not None:
        save(given.json, found)


if __name__ == "__main__":
    main()
