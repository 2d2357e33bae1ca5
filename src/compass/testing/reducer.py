"""What a way to choose rows promises: the share, honest weights, and the same rows again."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from compass.prepare import Prepared, Study, prepare
from compass.readers import Table
from compass.testing.base import Witness, first_difference, witness

_SHARES = (0.05, 0.3, 0.8)
_SEEDS = 16
Chosen = tuple[NDArray[np.int64], NDArray[np.float64]]


@cache
def runs(n: int = 2000) -> Prepared:
    """Prepared runs of three applications, one of them rare, whose rows count 1, 2 or 3."""
    rng = np.random.default_rng(11)
    nodes = rng.choice([1, 2, 4, 8], n)
    columns = {
        "app": rng.choice(["amg", "comd", "rare"], n, p=[0.6, 0.38, 0.02]).tolist(),
        "nodes": nodes.tolist(),
        "size": rng.uniform(1, 100, n).tolist(),
        "started": np.arange(n).tolist(),
        "runtime": (rng.uniform(1, 100, n) / nodes).tolist(),
        "w": rng.integers(1, 4, n).astype(float).tolist(),
    }
    study = Study.model_validate(
        {
            "columns": {
                "app": {"role": "context"},
                "nodes": {"role": "knob"},
                "size": {"role": "context"},
                "runtime": {"role": "outcome"},
                "started": {"role": "ignored"},
                "w": {"role": "ignored"},
            },
            "time": "started",
            "weight": "w",
        }
    )
    return prepare(Table.of(pa.table(columns)), study)


def check_reducer(plugin: Any, *, name: str | None = None, data: Prepared | None = None) -> None:
    """Raise ConformanceError unless the reducer keeps its promises; `data` are rows of yours."""
    found = witness("reducer", plugin, name)
    with found.at("plugin()").calling("it is a class that needs no arguments"):
        plugin()
    prepared = runs() if data is None else data
    before = (prepared.values.copy(), prepared.weight.copy())
    for keep in _SHARES:
        rows, weight = _reduce(found, plugin, prepared, keep, 1)
        at = found.at(_look(keep, 1))
        _shape(at, prepared, rows, weight)
        _share(at, prepared, rows, keep)
        again = _reduce(found, plugin, prepared, keep, 1)
        twice = at.at(f"{at.look}, twice")
        for what, one, two in (("rows", rows, again[0]), ("weights", weight, again[1])):
            twice.same(one, two, f"the same data, share and seed give the same {what}")
        _total(found, plugin, prepared, keep)
    _edges(found, plugin, prepared)
    unchanged = np.array_equal(prepared.values, before[0], equal_nan=True)
    found.at(_look(0.3, 1)).expect(
        unchanged and np.array_equal(prepared.weight, before[1]),
        "it leaves the data as it is",
        "values or weights of the prepared data have changed",
    )


def _look(keep: float, seed: int) -> str:
    return f"plugin().reduce(compass.testing.reducer.runs(), {keep}, seed={seed})"


def _reduce(found: Witness, plugin: Any, prepared: Prepared, keep: float, seed: int) -> Chosen:
    with found.at(_look(keep, seed)).calling("it chooses rows"):
        rows, weight = plugin().reduce(prepared, keep, seed)
    return rows, weight


def _shape(at: Witness, prepared: Prepared, rows: object, weight: object) -> None:
    at.expect(
        isinstance(rows, np.ndarray) and rows.dtype == np.int64 and rows.ndim == 1,
        "rows are an int64 array",
        f"{getattr(rows, 'dtype', type(rows).__name__)}",
    )
    assert isinstance(rows, np.ndarray)
    at.expect(
        isinstance(weight, np.ndarray)
        and weight.dtype == np.float64
        and weight.shape == rows.shape,
        "weights are a float64 array, one for each row",
        f"{getattr(weight, 'dtype', type(weight).__name__)} for {len(rows)} rows",
    )
    assert isinstance(weight, np.ndarray)
    at.expect(
        (np.diff(rows) > 0).all(), "rows are ascending and distinct", f"{rows[:8].tolist()}, ..."
    )
    at.expect(
        len(rows) and rows[0] >= 0 and rows[-1] < prepared.rows,
        "rows are positions in the prepared data, at least one",
        f"{len(rows)} rows from {rows.min(initial=0)} to {rows.max(initial=0)}",
    )
    at.expect(
        (np.isfinite(weight) & (weight > 0)).all(),
        "weights are positive numbers",
        f"{weight[~(np.isfinite(weight) & (weight > 0))][:3].tolist()} among them",
    )


def _share(at: Witness, prepared: Prepared, rows: NDArray[np.int64], keep: float) -> None:
    """Each row kept by the throw of a coin is fair as well: five standard deviations are given."""
    n = prepared.rows
    wanted, slack = n * keep, 5 * np.sqrt(n * keep * (1 - keep)) + 1
    at.expect(
        abs(len(rows) - wanted) <= slack,
        "about the share `keep` of the rows is kept",
        f"{len(rows)} of {n} rows for keep={keep}",
    )


def _total(found: Witness, plugin: Any, prepared: Prepared, keep: float) -> None:
    sums = [_reduce(found, plugin, prepared, keep, s)[1].sum() for s in range(_SEEDS)]
    mean, total = float(np.mean(sums)), float(prepared.weight.sum())
    found.at(_look(keep, 1) + "[1].sum()").expect(
        abs(mean - total) <= 0.05 * total,
        "the kept rows count as much as all rows did",
        f"weights sum to {mean:.6g} on average over {_SEEDS} seeds, those of all rows to {total:g}",
    )


def _edges(found: Witness, plugin: Any, prepared: Prepared) -> None:
    rows, weight = _reduce(found, plugin, prepared, 1.0, 1)
    at = found.at(_look(1.0, 1))
    _shape(at, prepared, rows, weight)
    kept = f"{len(rows)} of {prepared.rows}"
    at.expect(len(rows) == prepared.rows, "keep=1 keeps every row", kept)
    at.expect(
        np.allclose(weight, prepared.weight),
        "with keep=1 every row counts what it did",
        first_difference(weight, prepared.weight),
    )
    least, weight = _reduce(found, plugin, prepared, 1e-9, 1)
    _shape(found.at(_look(1e-9, 1)), prepared, least, weight)
