"""Augmentation: errors on real rows never seen, with and without synthetic rows, by the gate.

Of each table so many rows are learnt from, 1,000 others are predicted. `always` adds the rows of
the default without asking; `gate` is what `fit(augment="cart")` does. The model is a forest.
"""

import sys
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import compass as cp
from compass.domain.space import Category
from compass.settings import Settings
from compass.synth.base import Floats

from .learn import drawn, learnt
from .tables import RealTable, performance_table

SIZES = (50, 200)
SEEDS = 5
_TEST = 1000


def run() -> Iterator[str]:
    """The table, line by line."""
    yield f"Errors (mean absolute percentage) as a share of those without synthetic rows; {SEEDS} "
    yield "seeds, with the standard error.\n"
    yield "| table | real rows | always | gate | gate opened |"
    yield "|---|---:|---:|---:|---:|"
    for name in ("powerbound", "kripke"):
        table = performance_table(name)
        for size in SIZES:
            yield _line(table, size)


def _line(table: RealTable, size: int) -> str:
    found = np.array([_errors(table, size, seed) for seed in range(SEEDS)])
    mean = found.mean(axis=0)
    doubt = found.std(axis=0, ddof=1) / np.sqrt(SEEDS)
    return (
        f"| {table.name} | {size} | {mean[0]:.3f} ± {doubt[0]:.3f} | "
        f"{mean[1]:.3f} ± {doubt[1]:.3f} | {mean[2]:.0%} |"
    )


def _errors(table: RealTable, size: int, seed: int) -> tuple[float, float, float]:
    order = np.random.default_rng(seed).permutation(len(table.rows))
    train, test = table.rows[order[:size]], table.rows[order[size : size + _TEST]]
    plain = _error(table, train, test, seed)
    model, _ = learnt(table, train, "cart")
    made, _ = drawn(table, model, size, seed)
    always = _error(table, np.vstack([train, made]), test, seed)
    opened = _opened(table, train, seed)
    return always / plain, (always if opened else plain) / plain, float(opened)


def _error(table: RealTable, train: Floats, test: Floats, seed: int) -> float:
    """The error of a forest as an engine has it, on the scale that suits the outcome."""
    from sklearn.ensemble import RandomForestRegressor

    place = table.space.names.index(table.target)
    others = [j for j in range(len(table.space)) if j != place]
    forest = RandomForestRegressor(100, random_state=seed, n_jobs=1)
    forest.fit(train[:, others], np.log(np.maximum(train[:, place], 1e-9)))
    truth = test[:, place]
    predicted = np.exp(forest.predict(test[:, others]))
    return float(np.mean(np.abs(predicted - truth) / np.maximum(np.abs(truth), 1e-9)))


def _opened(table: RealTable, train: Floats, seed: int) -> bool:
    """Whether the gate of an engine lets synthetic rows in."""
    columns: dict[str, list[object] | Floats] = {}
    for place, parameter in enumerate(table.space):
        codes = train[:, place]
        if isinstance(parameter, Category):
            columns[parameter.name] = [parameter.values[int(code)] for code in codes]
        else:
            columns[parameter.name] = codes
    others = [name for name in table.space.names if name != table.target]
    data = cp.read(pa.table(columns)).roles(knobs=others, outcomes=[table.target])
    engine = cp.Compass(data, settings=Settings(surrogate="forest", seed=seed))
    try:
        report = engine.fit(augment="cart").augmentation
    except cp.CompassError as problem:
        sys.stderr.write(f"{table.name}, {len(train)} rows: {problem.message}\n")
        return False
    return report is not None and report.rows > 0
