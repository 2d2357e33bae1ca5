"""What a choice of runs costs by each acquisition: `python -m benchmarks.pareto.choosers`.

CPU seconds per run chosen, on one thread: 20 runs of a law on 232 configurations, 6 more pending, a
batch of four is chosen among the rest. The first of all has loaded nothing yet. qLogNEHVI of five
outcomes takes most of a minute; `--outcomes 2` leaves it out.
"""

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.show import table
from compass import registry
from compass.acquire.loop import LoopProblem
from compass.domain.space import Category, Number, Space
from compass.language import bind_rule, parse_rule
from compass.pareto.acquisition import SeenRuns
from compass.pareto.next_runs import next_front_runs
from compass.rules import compile_rule
from compass.settings import LoopSettings

Floats = NDArray[np.float64]

RUNS, PENDING, BATCH = 20, 6, 4
SPACE = Space(
    parameters=(
        Number(name="a", low=1, high=16, step=1),
        Number(name="b", low=1, high=32, allowed=(1, 2, 4, 8, 16, 32)),
        Category(name="c", values=("x", "y", "z")),
    )
)
RULES = ("a * b <= 256", "c == 'z' -> b >= 4")


def law(X: Floats) -> Floats:
    """Five outcomes [n, 5] of configurations X [n, 3]; the first two trade off."""
    a, b, c = X.T
    two = (100 / a + 40 / b + 5 * c, 30 + 6 * a + 2 * b + 10 * (2 - c))
    more = (10 + np.abs(a - 8) + b / 4, 50 - 2 * a + b, 20 + np.abs(b - 8) + c)
    return np.column_stack([*two, *more])


def seconds(name: str, outcomes: int) -> float:
    """CPU seconds per run of a batch."""
    rules = tuple(
        compile_rule(bind_rule(parse_rule(text), SPACE), SPACE, SPACE.names, text) for text in RULES
    )
    problem = LoopProblem(SPACE, rules, 0, LoopSettings(sweep=0, starts=8))
    order = np.random.default_rng(2).permutation(len(problem.pool.X))
    X = problem.pool.X[order[: RUNS + PENDING]]
    seen = SeenRuns(X[:RUNS], law(X[:RUNS])[:, :outcomes], np.zeros(RUNS, dtype=np.bool_))
    began = time.process_time()
    next_front_runs(
        problem,
        seen,
        pending=X[RUNS:],
        count=BATCH,
        log_sign=(1,) * outcomes,
        acquisition=name,
    )
    return (time.process_time() - began) / BATCH


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pareto.choosers")
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--outcomes", type=int, action="append", choices=range(2, 6))
    said = parser.parse_args(arguments)
    names = list(registry.everything("front_acquisition"))
    lines = [
        (outcomes, *(f"{seconds(name, outcomes):.2f}" for name in names))
        for outcomes in said.outcomes or range(2, 6)
    ]
    print(table(("outcomes", *names), lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
