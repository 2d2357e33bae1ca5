"""Model selection on public tables: `make models` and `make automl`.

    python -m benchmarks.automl families   auto beside every single family and scikit-learn's forest
    python -m benchmarks.automl flaml      auto and tuning beside FLAML, the same seconds and cores
    python -m benchmarks.automl cost       CPU seconds of `compass fit`, and of choosing in it
    python -m benchmarks.automl time       `compass fit` beside the families one after another

A fifth of the configurations of each table is put aside first and looked at once, at the end.
Errors are MAPE as `compass.model.error` defines it. What is compared is the model that is trained
on all other rows (an engine keeps a fifth of them back to calibrate its intervals).
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.automl import beside_flaml, fit_cost, fit_time, single_families
from benchmarks.roles import data_folder

PARTS: dict[str, Callable[[argparse.Namespace], int]] = {
    "cost": fit_cost.run,
    "families": single_families.run,
    "flaml": beside_flaml.run,
    "time": fit_time.run,
}


def main(given: Sequence[str] | None = None) -> int:
    """Run one part; the exit code is 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.automl")
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--data", type=Path, default=data_folder())
    parser.add_argument("--only", nargs="*", default=(), help="names of tables")
    parser.add_argument("--seed", type=int, default=0, help="which configurations are put aside")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each tool and table")
    parser.add_argument("--python", type=Path, help="the interpreter that has FLAML")
    parser.add_argument("--log", action="store_true", help="FLAML learns the logarithm too")
    parser.add_argument("--theirs", type=Path, help="a file that keeps FLAML's results")
    parser.add_argument("--only-theirs", action="store_true", help="run FLAML, nothing else")
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--json", type=Path)
    return PARTS[parser.parse_args(given).part](parser.parse_args(given))


if __name__ == "__main__":
    sys.exit(main())
