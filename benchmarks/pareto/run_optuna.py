"""Optuna's samplers for several outcomes on a case: `CONTESTANT CASE SEED,SEED`, JSON lines out.

Runs in an environment of its own (`requirements.txt`). What a sampler asks for is moved to the
nearest measured configuration that was not evaluated, and told as such: the same feasible pool as
for everybody. It is told the logarithms of the outcomes.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pareto.front_case import FrontCase


def search(case: FrontCase, seed: int, sampler: Any) -> list[int]:
    """The rows that are evaluated, in order; the starts first."""
    import optuna

    warnings.filterwarnings("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=sampler, directions=["minimize"] * case.Y.shape[1])
    names = [f"p{j}" for j in range(len(case.sizes))]
    space = {
        name: optuna.distributions.CategoricalDistribution(tuple(range(size)))
        if label
        else optuna.distributions.IntDistribution(0, size - 1)
        for name, size, label in zip(names, case.sizes, case.labels, strict=True)
    }
    known = np.log(case.Y)
    sizes = np.array([max(size - 1, 1) for size in case.sizes])
    order: list[int] = []

    def add(row: int) -> None:
        params = dict(zip(names, map(int, case.places[row]), strict=True))
        study.add_trial(
            optuna.trial.create_trial(
                params=params, distributions=space, values=known[row].tolist()
            )
        )
        order.append(row)

    for row in case.starts[seed]:
        add(row)
    while len(order) < case.budget:
        trial = study.ask(space)
        asked = np.array([trial.params[name] for name in names])
        apart = np.abs(case.places - asked) / sizes
        apart = np.where(np.array(case.labels), apart > 0, apart).sum(axis=1)
        apart[order] = np.inf
        row = int(np.argmin(apart))
        if (case.places[row] == asked).all():
            study.tell(trial, known[row].tolist())
            order.append(row)
            continue
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
        add(row)
    return order


def _tpe(seed: int, starts: int) -> Any:
    import optuna

    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=starts, multivariate=True)


def _nsga(seed: int, starts: int) -> Any:
    import optuna

    return optuna.samplers.NSGAIISampler(seed=seed, population_size=max(starts, 10))


def _nsga3(seed: int, starts: int) -> Any:
    import optuna

    return optuna.samplers.NSGAIIISampler(seed=seed, population_size=max(starts, 10))


def _gp(seed: int, starts: int) -> Any:
    import optuna

    return optuna.samplers.GPSampler(
        seed=seed, n_startup_trials=starts, deterministic_objective=True
    )


CONTESTANTS: dict[str, Callable[[int, int], Any]] = {
    "tpe": _tpe,
    "nsga-ii": _nsga,
    "nsga-iii": _nsga3,
    "gp": _gp,
}

if __name__ == "__main__":
    contestant, path, seeds = sys.argv[1:]
    given = FrontCase.read(Path(path))
    for number in map(int, seeds.split(",")):
        began = time.process_time()
        starts = len(given.starts[number])
        rows = search(given, number, CONTESTANTS[contestant](number, starts))
        cpu = (time.process_time() - began) / max(len(rows) - starts, 1)
        print(json.dumps({"seed": number, "order": rows, "cpu": cpu}), flush=True)
