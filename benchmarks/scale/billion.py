"""A billion rows, end to end: reduce, fit, and twenty suggestions, with times and peak memory.

    python -m benchmarks.scale.billion
    python -m benchmarks.scale.billion --rows 100000000 --visits 10 --keep 0.0002

There is no room for a billion rows on a small machine: the files hold `--rows` rows and are
visited `--visits` times. Each visit reads and decodes them anew and draws other random numbers
(the occurrence of a file is part of a row's key), but the operating system may have some of them
in memory, and the rows of two visits are the same rows.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.scale.jobs import write

PAPER = 419.71  # seconds for 1.3 billion rows on a cluster
QUESTION = (
    "Recommend X = {nodes: ?, tasks: ?, gpus: ?} to achieve Y = {runtime_s: minimize} "
    "where C = {app: wrf} top 20"
)


def stage(name: str, folder: Path, visits: int, keep: float) -> dict[str, float]:
    """One stage in a process of its own, so that its peak memory is its own."""
    command = [sys.executable, "-m", "benchmarks.scale.billion", "--stage", name]
    command += ["--folder", str(folder), "--visits", str(visits), "--keep", str(keep)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr[-3000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def work(name: str, folder: Path, visits: int, keep: float) -> dict[str, float]:
    """Does one stage here, and says what it took."""
    import compass as cp
    from benchmarks.scale.contestants import STUDY, WHERE
    from compass.reducers.large import peak_memory

    began = time.perf_counter()
    study = cp.Study.model_validate(STUDY)
    sample, engine = folder / "sample.parquet", folder / "jobs.compass"
    more: dict[str, float] = {}
    if name == "reduce":
        files = sorted((folder / "jobs").iterdir()) * visits
        report = cp.reduce(files, sample, keep=keep, where=WHERE, study=study)
        more = {"rows": report.rows, "usable": report.usable, "kept": report.kept}
    elif name == "fit":
        cp.Compass(cp.read(str(sample), study=study)).fit().save(engine)
    else:
        answer = cp.load(engine).ask(QUESTION)
        trusted = sum(one.trust.label == "trusted" for one in answer.suggestions)
        more = {"suggestions": len(answer.suggestions), "trusted": trusted}
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "seconds": time.perf_counter() - began,
        "cpu": used.ru_utime + used.ru_stime,
        "peak_mb": peak_memory() / 1e6,
        **more,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--visits", type=int, default=10)
    parser.add_argument("--keep", type=float, default=0.0001)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--stage", choices=["reduce", "fit", "ask"])
    said = parser.parse_args(arguments)
    if said.stage:
        print(json.dumps(work(said.stage, said.folder, said.visits, said.keep)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = said.folder or Path(temporary)
        files = write(folder / "jobs", said.rows, "parquet")
        size = sum(file.stat().st_size for file in files) / 1e9
        total = said.rows * said.visits
        print(
            f"{total:,} rows: {len(files)} Parquet files of {said.rows:,} rows in all "
            f"({size:.1f} GB), visited {said.visits} times; {os.cpu_count()} cores, "
            f"{platform.machine()}, load {os.getloadavg()[0]:.1f}"
        )
        print(f"{'stage':10} {'seconds':>8} {'CPU s':>8} {'peak MB':>8}")
        seconds = 0.0
        for name in ("reduce", "fit", "ask"):
            found = stage(name, folder, said.visits, said.keep)
            seconds += found["seconds"]
            took = [found.pop(key) for key in ("seconds", "cpu", "peak_mb")]
            print(
                f"{name:10} {took[0]:8.1f} {took[1]:8.1f} {took[2]:8.0f}  {found or ''}", flush=True
            )
        print(f"{'all':10} {seconds:8.1f}")
        print(
            f"the paper: {PAPER} s for 1.3 billion rows on a cluster; "
            f"here: {seconds:.0f} s for {total / 1e9:.2f} billion rows"
        )


if __name__ == "__main__":
    main()
