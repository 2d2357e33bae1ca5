"""`compass reduce` beside dask.dataframe on the same files: rows per CPU second and peak memory.

    python -m benchmarks.scale                      # 20 M rows, Parquet and CSV, three repeats
    python -m benchmarks.scale --memory 100000000   # peak memory of ours on so many rows

The contestants take turns, each in a process of its own; the best of the repeats counts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.scale.jobs import write

WANTED = {"parquet": {"idiomatic": 8.0, "fused": 3.0}, "csv": {"idiomatic": 4.0, "fused": 2.5}}
RATE = 6.0  # million rows per CPU second, Parquet
PEAK = 600  # MB


def run(who: str, folder: Path, *more: str) -> dict[str, float]:
    """One run of a contestant."""
    command = [sys.executable, "-m", "benchmarks.scale.contestants", who, str(folder), *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{who} failed:\n{done.stderr[-3000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def race(form: str, folder: Path, rows: int, repeats: int) -> bool:
    """The contestants in turns; prints a table; whether every target is met."""
    names = ("ours", "idiomatic", "together", "fused")
    found: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(repeats):
        for name in names:
            found[name].append(run(name, folder))
    best = {name: min(runs, key=lambda one: one["cpu"]) for name, runs in found.items()}
    print(f"\n{form}: {rows:,} rows, {repeats} repeats in turns, load {os.getloadavg()[0]:.1f}")
    print(
        f"{'':12} {'CPU s':>8} {'all CPU s':>22} {'Mrow/CPU s':>11} {'s':>7} {'peak MB':>8} "
        f"{'kept':>10} {'ours is':>8}"
    )
    good = True
    for name, one in best.items():
        ratio = one["cpu"] / best["ours"]["cpu"]
        every = " ".join(f"{r['cpu']:.2f}" for r in found[name])
        print(
            f"{name:12} {one['cpu']:8.2f} {every:>22} {rows / one['cpu'] / 1e6:11.2f} "
            f"{one['seconds']:7.2f} {one['peak_mb']:8.0f} {one['kept']:10,.0f} {ratio:7.1f}x"
        )
        good &= ratio >= WANTED[form].get(name, 0)
    if form == "parquet":
        good &= rows / best["ours"]["cpu"] / 1e6 >= RATE
    print("targets:", WANTED[form], "met" if good else "NOT met")
    return good


def memory(folder: Path, rows: int, visits: int) -> bool:
    """Peak memory of ours."""
    one = run("ours", folder, "--visits", str(visits))
    print(
        f"\npeak memory on {rows:,} rows: {one['peak_mb']:.0f} MB (limit {PEAK}); "
        f"{rows / one['cpu'] / 1e6:.2f} Mrow per CPU second, {one['seconds']:.1f} s"
    )
    return one["peak_mb"] < PEAK


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--form", action="append", choices=["parquet", "csv"])
    parser.add_argument("--memory", type=int, metavar="ROWS", help="peak memory on so many rows")
    parser.add_argument("--folder", type=Path, help="where the tables are kept for another time")
    said = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        place = said.folder or Path(temporary)
        if said.memory:
            write(place / "memory", said.memory, "parquet")
            good = memory(place / "memory", said.memory, 1)
        else:
            good = True
            for form in said.form or ["parquet", "csv"]:
                write(place / form, said.rows, form)
                good &= race(form, place / form, said.rows, said.repeats)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
