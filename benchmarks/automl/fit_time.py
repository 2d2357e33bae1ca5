"""The time of `compass fit` beside the families one after another on one core."""

import argparse
import time

import numpy as np

import compass as cp
from benchmarks.show import save, table
from compass.domain.space import Role
from compass.learn.select import Course, course, cross_validate, known, scales_of
from compass.model.base import Task, family, obstacle
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
    began = time.perf_counter()
    engine = cp.Compass(data).fit()
    wall = time.perf_counter() - began
    card = engine.cards[0]
    settings = Settings(threads=1)
    here = _ground(engine, settings)
    singles = {name: _alone(here, name) for name in known() if _able(here, name)}
    rows = [(name, f"{seconds:.1f}", *_raced(card, name)) for name, seconds in singles.items()]
    print(table(("family", "five folds alone, s", "in the race, CPU s", "folds", "status"), rows))
    total = sum(singles.values())
    print(f"\n{given.rows} rows x {COLUMNS} columns; chosen: {card.family}, MAPE {card.error:.2%}")
    print(f"families one after another on one core: {total:.1f} s")
    print(f"compass fit (selection, model, trust): {wall:.1f} s, ratio {wall / total:.2f}")
    print(f"at most {MOST}")
    if given.json:
        save(given.json, {"alone": singles, "fit": wall, "ratio": wall / total})
    return int(wall > MOST * total)


def _ground(engine: cp.Compass, settings: Settings) -> Course:
    space = engine.space
    lesson = engine.store.data_of(space.having(Role.KNOB, Role.CONTEXT), "runtime")
    rows = lesson.train
    return course(
        lesson.view.X[rows],
        lesson.y[rows],
        Task(),
        groups=configurations(lesson.view.X[rows]),
        weight=None,
        seed=settings.seed,
        settings=settings,
        features=lesson.view.features,
    )


def _able(here: Course, name: str) -> bool:
    return obstacle(family(name), int(0.8 * len(here.y)), here.X.shape[1], Task()) is None


def _alone(here: Course, name: str) -> float:
    """CPU seconds of the five folds of a family, on the one scale that the race would take."""
    from compass.model.one_thread import one_thread

    recipe = Recipe(family=name, log=scales_of(here)[-1])
    began = time.process_time()
    with one_thread():
        for part in range(here.parts):
            cross_validate(here, recipe, part)
    return time.process_time() - began


def _raced(card: cp.ModelCard, name: str) -> tuple[str, str, str]:
    score = next(s for s in card.scores if s.family == name)
    return f"{score.seconds:.1f}", str(score.folds), score.status
