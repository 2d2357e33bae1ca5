"""Measures the kernels on this machine and writes a table Compass can read."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from compass.collect.plan import KERNELS
from compass.collect.sweep import collect
from compass.domain.errors import CompassError


def options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("kernels.csv"), help="table to write")
    parser.add_argument("--rows", type=int, default=3000, help="configurations to measure")
    parser.add_argument("--repeats", type=int, default=5, help="timed repeats in each visit")
    parser.add_argument("--visits", type=int, default=2, help="visits to each configuration")
    parser.add_argument("--seed", type=int, default=7, help="same seed, same configurations")
    parser.add_argument("--patience", type=float, default=300, help="seconds to wait for quiet")
    parser.add_argument("--kernel", action="append", choices=KERNELS, help="only this kernel")
    return parser.parse_args()


def show(done: int, total: int) -> None:
    """Shows how far the sweep is, on one line of the terminal."""
    print(f"\r{done} of {total} configurations", end="", file=sys.stderr, flush=True)


def main() -> int:
    """Runs the sweep and says what it produced."""
    given = options()
    try:
        report = collect(
            given.output,
            rows=given.rows,
            repeats=given.repeats,
            seed=given.seed,
            kernels=given.kernel,
            visits=given.visits,
            patience=given.patience,
            progress=show,
        )
    except CompassError as problem:
        print(f"{problem}", file=sys.stderr)
        return 1
    print(file=sys.stderr)
    print(f"{report.rows} rows in {report.path}, {report.seconds:.0f} s, {report.failed} left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
