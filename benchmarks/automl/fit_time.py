"""The CPU time of `compass fit` beside the families one after another on one core."""

import argparse
import time

import numpy as np

import compass as cp
from benchmarks.show import save, table
from compass.domain.space import Role
from compass.learn.compare import selectable_families
from compass.learn.folds import CrossValidation, evaluate, scales_of
from compass.learn.training import TrainingData
from compass.model.base import Task, family
from compass.model.recipe import Recipe
from compass.prepare.split import configurations
from compass.settings import Settings

MOST = 0.65  # of the summed single-core times
COLUMNS = 10


def jobs(rows: int, seed: int = 3) -> cp.Dataset:
    """Jobs of ten columns, two of them labels, with a runtime by a law and noise."""
    rng = np.random.default_rng(seed)
    nodes = 2.0 ** rng.integers(0, 8, rows)
    tasks = 2.0 ** rng.integers(0, 7, rows)
    threads = rng.choice([1.0, 2.0, 4.0, 8.0], rows)
    size = rng.integers(1, 200, rows).astype(float)
    steps = rng.integers(10, 1000, rows).astype(float)
    tile = rng.choice([8.0, 16.0, 32.0, 64.0], rows)
    memory = rng.uniform(1, 256, rows)
    share = rng.uniform(0, 1, rows)
    app = rng.choice(["cfd", "md", "fft", "qcd"], rows)
    partition = rng.choice(["a", "b", "c"], rows)
    serial = np.select([app == "cfd", app == "md", app == "fft"], [0.02, 0.01, 0.08], 0.04)
    speed = np.select([partition == "a", partition == "b"], [1.0, 1.4], 2.1)
    work = size**1.3 * steps * (1 + np.abs(np.log2(tile / 24)) / 4) / speed
    runtime = work * (serial + (1 - serial) / (nodes * tasks * threads**0.8)) + 0.1 * memory * share
    runtime = runtime * rng.lognormal(0, 0.05, rows)
    columns = {
        **{"nodes": nodes, "tasks": tasks, "threads": threads, "size": size, "steps": steps},
        **{"tile": tile, "memory": memory, "share": share, "app": app, "partition": partition},
        "runtime": runtime,
    }
    return cp.read({name: list(values) for name, values in columns.items()}).roles(
        knobs=["nodes", "tasks", "threads", "tile", "memory"],
        context=["size", "steps", "share", "app", "partition"],
        outcomes=["runtime"],
    )


def run(given: argparse.Namespace) -> int:
    """Print the time of each family, their sum, and that of a fit."""
    data = jobs(given.rows)
    data.prepared  # noqa: B018 - reading and cleaning are not what is measured
    cp.Compass(jobs(600)).fit()  # compiled kernels and imported libraries are not either
    began, worked = time.perf_counter(), time.process_time()
    engine = cp.Compass(data).fit()
    wall, fit = time.perf_counter() - began, time.process_time() - worked
    card = engine.cards[0]
    settings = Settings(threads=1)
    cv = _folds(engine, settings)
    singles = {name: _one_core(cv, name) for name in selectable_families() if _able(cv, name)}
    rows = [(name, f"{seconds:.1f}", *_compared(card, name)) for name, seconds in singles.items()]
    print(
        table(
            ("family", "five folds alone, s", "in the comparison, CPU s", "folds", "status"), rows
        )
    )
    total = sum(singles.values())
    print(f"\n{given.rows} rows x {COLUMNS} columns; chosen: {card.family}, MAPE {card.error:.2%}")
    print(f"families one after another on one core: {total:.1f} s")
    print(f"compass fit (selection, model, trust): {fit:.1f} CPU s, ratio {fit / total:.2f}")
    print(f"at most {MOST}; {wall:.1f} s by the clock")
    if given.json:
        save(given.json, {"alone": singles, "fit": fit, "wall": wall, "ratio": fit / total})
    return int(fit > MOST * total)


def _folds(engine: cp.Compass, settings: Settings) -> CrossValidation:
    space = engine.space
    outcome = engine.store.data_of(space.having(Role.KNOB, Role.CONTEXT), "runtime")
    rows = outcome.train
    X, features = outcome.view.X[rows], outcome.view.features
    data = TrainingData(X, outcome.y[rows], Task(), None, settings.seed, settings, features)
    return CrossValidation.of(data, configurations(X))


def _able(cv: CrossValidation, name: str) -> bool:
    rows, columns = cv.data.X.shape
    return family(name).obstacle(int(0.8 * rows), columns, Task()) is None


def _one_core(cv: CrossValidation, name: str) -> float:
    """CPU seconds of the five folds of a family, on the scale that a comparison would take."""
    from compass.execute.one_thread import one_thread

    recipe = Recipe(family=name, log=scales_of(cv.data)[-1])
    began = time.process_time()
    with one_thread():
        for number in range(cv.count):
            evaluate(cv, recipe, cv.fold(number))
    return time.process_time() - began


def _compared(card: cp.ModelCard, name: str) -> tuple[str, str, str]:
    score = next(s for s in card.scores if s.family == name)
    return f"{score.seconds:.1f}", str(score.folds), score.status
