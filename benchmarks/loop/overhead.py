"""What an ask costs: a full ask of ours beside Optuna's TPE with SQLite, on one core.

    python -m benchmarks.loop.overhead

Both know 50, 200 or 1000 runs of a space of 41,472 configurations, and are asked for the next.
`cold` is the first ask of a process that has just read the runs, everything but imports included;
`next` is one more after another run was told; `batch` is one of 16 that are asked for together (of
Optuna one of four, one after the other). CPU seconds on one thread, the median of five.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.show import table

SIZES = (50, 200, 1000)
ROUNDS = 5
TOGETHER = 16
_ONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def ours(size: int, seed: int) -> dict[str, float]:
    """CPU seconds of our asks."""
    import time

    import numpy as np

    from compass.acquire.loop import LoopProblem, Seen, next_runs

    space, law = _space()
    problem = LoopProblem(space, (), seed)
    X = np.random.default_rng(seed).permutation(problem.pool.X, axis=0)[: size + 1]
    none = np.empty((0, len(space)))

    def ask(n: int, count: int) -> float:
        seen = Seen(X[:n], law(X[:n]), np.zeros(n, dtype=bool))
        began = time.process_time()
        next_runs(problem, seen, pending=none, count=count, positive=True)
        return time.process_time() - began

    ask(25, 1)  # what is imported and compiled once is not an ask
    problem.fitted.clear()
    return {
        "cold": ask(size, 1),
        "next": ask(size + 1, 1),
        "batch": ask(size + 1, TOGETHER) / TOGETHER,
    }


def optuna_tpe(size: int, seed: int) -> dict[str, float]:
    """CPU seconds of Optuna's asks, with its study in an SQLite file."""
    import time
    import warnings

    import numpy as np
    import optuna

    warnings.filterwarnings("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space, law = _space()
    distributions = {
        p.name: optuna.distributions.IntDistribution(0, len(p.allowed) - 1)  # type: ignore[union-attr, arg-type]
        for p in space
    }
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        study = optuna.create_study(
            storage=f"sqlite:///{folder}/study.db",
            sampler=optuna.samplers.TPESampler(seed=seed),
        )
        trials = []
        for _ in range(size):
            places = {p.name: int(rng.integers(len(p.allowed))) for p in space}  # type: ignore[union-attr, arg-type]
            x = np.array([[p.allowed[places[p.name]] for p in space]])  # type: ignore[union-attr, index]
            trials.append(
                optuna.trial.create_trial(
                    params=places, distributions=distributions, value=float(law(x)[0])
                )
            )
        study.add_trials(trials)

        def ask() -> float:
            began = time.process_time()
            trial = study.ask(distributions)
            took = time.process_time() - began
            study.tell(trial, 1.0)
            return took

        return {"cold": ask(), "next": ask(), "batch": float(np.mean([ask() for _ in range(4)]))}


def _space():  # type: ignore[no-untyped-def]
    """Ten parameters with 2 to 4 values each, and a time."""
    import numpy as np

    from compass.domain.space import Number, Space

    values = [(16, 32, 64, 128)] * 2 + [(8, 16, 32)] * 4 + [(1, 2, 4, 8)] * 2 + [(0, 1)]
    space = Space(
        parameters=tuple(
            Number(name=f"p{j}", low=own[0], high=own[-1], allowed=own)
            for j, own in enumerate(values)
        )
    )
    best = np.array([own[len(own) // 2] for own in values])

    def law(X):  # type: ignore[no-untyped-def]
        return np.exp(0.2 * np.abs(np.log2(X + 1) - np.log2(best + 1)).sum(axis=1))

    return space, law


CONTESTANTS: dict[str, Callable[[int, int], dict[str, float]]] = {
    "compass": ours,
    "optuna tpe, sqlite": optuna_tpe,
}


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given:  # one contestant in a process of its own
        print(json.dumps(CONTESTANTS[given[0]](int(given[1]), int(given[2]))))
        return 0
    import numpy as np

    lines = []
    for size in SIZES:
        for name in CONTESTANTS:
            found = [_measured(name, size, seed) for seed in range(ROUNDS)]
            cells = (np.median([one[k] for one in found]) for k in ("cold", "next", "batch"))
            lines.append((f"{name}, {size} runs", *(f"{1000 * cell:.0f}" for cell in cells)))
    print("CPU milliseconds of an ask\n" + table(("", "cold", "next", "one of a batch"), lines))
    return 0


def _measured(name: str, size: int, seed: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.loop.overhead", name, str(size), str(seed)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **_ONE},
        cwd=Path(__file__).parents[2],
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    sys.exit(main())
