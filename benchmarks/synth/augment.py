"""Augmentation: errors on real rows never seen, with and without synthetic rows, by the gate.

Of each table so many rows are learnt from, 1,000 others are predicted. `always` adds the rows of
the default without asking; `gate` is what `fit(augment="cart")` does. The model is a forest.
"""

import sys
from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

import compass as cp
from compass.domain.space import Category
from compass.settings import Settings
from compass.synth.base import Floats

from .kept import Kept, rounded
from .learn import drawn, learnt
from .tables import RealTable, performance_table

TABLES = ("powerbound", "kripke")
SIZES = (50, 100, 200, 500)
SEEDS = 20
_TEST = 1000


def run(kept: Kept) -> Iterator[str]:
    """The table, line by line."""
    yield f"Errors (mean absolute percentage) over those without synthetic rows; {SEEDS} seeds, "
    yield "geometric mean and 95 % interval (bootstrap).\n"
    yield "| table | real rows | error without | always | gate | gate opened | worse by the gate |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name in TABLES:
        table = performance_table(name)
        for size in SIZES:
            found = [
                kept.once("augment", f"{name} {size} {seed}", partial(_errors, table, size, seed))
                for seed in range(SEEDS)
            ]
            yield _line(name, size, np.array(found))


def _line(name: str, size: int, found: Floats) -> str:
    plain, always, opened = found.T
    gate = np.where(opened > 0, always, plain) / plain
    return (
        f"| {name} | {size} | {plain.mean():.1%} | {_shown(always / plain)} | {_shown(gate)} | "
        f"{opened.mean():.0%} | {int((gate > 1).sum())} of {len(gate)} |"
    )


def _shown(ratio: Floats) -> str:
    """The geometric mean of ratios with its interval."""
    logs = np.log(ratio)
    rng = np.random.default_rng(0)
    means = rng.choice(logs, (2000, len(logs))).mean(axis=1)
    low, high = np.exp(np.quantile(means, [0.025, 0.975]))
    return f"{np.exp(logs.mean()):.3f} ({low:.3f} to {high:.3f})"


def _errors(table: RealTable, size: int, seed: int) -> list[float]:
    """The error without synthetic rows, that with them, and whether the gate lets them in."""
    order = np.random.default_rng(seed).permutation(len(table.rows))
    train, test = table.rows[order[:size]], table.rows[order[size : size + _TEST]]
    plain = _error(table, train, test, seed)
    model, _ = learnt(table, train, "cart")
    made, _ = drawn(table, model, size, seed)
    always = _error(table, np.vstack([train, made]), test, seed)
    return [rounded(plain), rounded(always), float(_opened(table, train, seed))]


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
