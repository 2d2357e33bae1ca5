"""What a front costs on a fitted engine: `python -m benchmarks.pareto.speed [--keep]`.

CPU seconds of one process and one thread for a front of 12 points with intervals, trust and
evidence, without proof (`prove=0`), the median of five questions after a first one. The table is
generated: parameters that trade runtime for power. Growth with rows, outcomes and parameters is
printed.

The exit code is 1 when a front of two outcomes on 30,000 rows takes 0.5 s or more.
"""

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

import compass as cp
from benchmarks.pareto import kept
from benchmarks.show import table

LIMIT = 0.5
REPEATS = 5
CASES = (
    (30_000, 2, 6),  # rows, outcomes, parameters
    (3_000, 2, 6),
    (100_000, 2, 6),
    (30_000, 3, 6),
    (30_000, 4, 6),
    (30_000, 5, 6),
    (30_000, 2, 12),
    (30_000, 2, 24),
)


def generated(rows: int, outcomes: int, parameters: int, seed: int = 1) -> cp.Dataset:
    """A table of runs: each parameter makes a run faster and costs something else."""
    rng = np.random.default_rng(seed)
    X = rng.choice([1, 2, 4, 8, 16, 32, 64], (rows, parameters)).astype(float)
    X[:, ::3] = rng.integers(1, 49, X[:, ::3].shape)
    names = [f"p{j}" for j in range(parameters)]
    weight = 1 / (1 + np.arange(parameters))
    Y = [100 / (1 + np.log2(X) @ weight)]
    shifted = (np.roll(weight, 2 * k) for k in range(outcomes - 1))
    Y += [20 + np.sqrt(X) @ own * 5 for own in shifted]
    columns: dict[str, object] = {n: X[:, j] for j, n in enumerate(names)}
    columns["app"] = rng.choice(["a", "b", "c"], rows)
    for k, y in enumerate(Y):
        columns[f"y{k}"] = y * rng.lognormal(0, 0.03, rows)
    roles = {"knobs": names, "context": ["app"], "outcomes": [f"y{k}" for k in range(outcomes)]}
    return cp.read(pa.table(columns)).roles(**roles)


def measured(rows: int, outcomes: int, parameters: int, surrogate: str) -> dict[str, float]:
    """CPU seconds of the first and of the median further question."""
    engine = cp.Compass(generated(rows, outcomes, parameters), surrogate=surrogate).fit()
    aims = [f"y{k}" for k in range(outcomes)]
    spent, volume = [], 0.0
    for number in range(REPEATS + 1):
        where = [f"app == '{'abc'[number % 3]}'"]
        began = time.process_time()
        answer = engine.pareto(aims, where=where, prove=0)
        spent.append(time.process_time() - began)
        assert answer.front is not None
        volume = answer.front.hypervolume
    return {
        "rows": rows,
        "outcomes": outcomes,
        "parameters": parameters,
        "first": spent[0],
        "median": float(np.median(spent[1:])),
        "found": answer.front.found,
        "volume": volume,
    }


def show(cases: Sequence[dict[str, float]]) -> str:
    """One line per case."""
    head = ("rows", "outcomes", "parameters", "first, CPU s", "median, CPU s", "points found")
    lines = [
        (
            *(int(one[k]) for k in ("rows", "outcomes", "parameters")),
            f"{one['first']:.2f}",
            f"{one['median']:.2f}",
            int(one["found"]),
        )
        for one in cases
    ]
    return table(head, lines)


def slow(cases: Sequence[dict[str, float]]) -> list[str]:
    """What is told where the first case takes too long."""
    kinds = [tuple(int(one[k]) for k in ("rows", "outcomes", "parameters")) for one in cases]
    took = [one["median"] for kind, one in zip(kinds, cases, strict=True) if kind == CASES[0]]
    return [f"{seconds:.2f} s of CPU" for seconds in took if seconds >= LIMIT]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pareto.speed")
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--surrogate", default="lightgbm")
    parser.add_argument("--quick", action="store_true", help="the first case alone")
    parser.add_argument("--keep", action="store_true", help=f"keep the values in {kept.FILE.name}")
    said = parser.parse_args(arguments)
    found = []
    for case in CASES[:1] if said.quick else CASES:
        found.append(measured(*case, said.surrogate))
        print(found[-1], file=sys.stderr, flush=True)
        if said.keep:
            kept.keep("speed", found[-1:])
    print(show(found))
    return 1 if slow(found) else 0


if __name__ == "__main__":
    sys.exit(main())
