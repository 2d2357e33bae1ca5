"""What is learnt from 5 % of the rows: `python -m benchmarks.studies.share`.

A fifth of the configurations is put aside. Of the other rows the engine's own selection of a model
learns all, 20 %, 5 % or 1 %, drawn at random with a seed; the error is of the rows put aside.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.automl.learn import selected
from benchmarks.automl.tables import Problem, problems
from benchmarks.roles import data_folder
from benchmarks.show import save, table

SHARES = (1.0, 0.2, 0.05, 0.01)
FEWEST = 40  # rows; below that nothing is chosen


def part_of(problem: Problem, share: float, seed: int) -> Problem | None:
    """The same problem with a share of the rows to learn from."""
    count = round(share * len(problem.y))
    if count < FEWEST:
        return None
    rows = np.sort(np.random.default_rng(seed).permutation(len(problem.y))[:count])
    return replace(problem, X=problem.X[rows], y=problem.y[rows])


def main() -> None:
    """Measure every table, share and seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", action="append", metavar="NAME", help="this table; may repeat")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value here too")
    arguments = parser.parse_args()
    every: dict[str, dict[str, list[float]]] = {}
    for seed in range(arguments.seeds):
        for problem in problems(data_folder(), seed, tuple(arguments.only or ())):
            for share in SHARES:
                part = part_of(problem, share, seed)
                if part is not None:
                    errors = every.setdefault(problem.name, {}).setdefault(f"{share:g}", [])
                    errors.append(selected(part).error)
    rows = [
        (name, *(f"{np.mean(found[f'{s:g}']):.1%}" if f"{s:g}" in found else "" for s in SHARES))
        for name, found in every.items()
    ]
    print(table(("error on rows put aside", *(f"{share:.0%}" for share in SHARES)), rows))
    if arguments.json:
        save(arguments.json, {"seeds": arguments.seeds, "errors": every})


if __name__ == "__main__":
    main()
