"""Runs with a category and an optional number, and what all models without trees are held to."""

import io
from typing import Any

import numpy as np
import pytest

from compass.domain.errors import BadInput, DataProblem, EngineProblem
from compass.domain.space import Category, Number, Space
from compass.model.base import Task
from compass.settings import NeuralSettings, Settings

FEATURES = Space(
    parameters=(
        Number(name="nodes", low=1, high=64),
        Number(name="share", low=-1, high=1, optional=True),
        Category(name="app", values=("a", "b", "c")),
    )
)
NONE = 3.0  # the code of a share that is none
SETTINGS = Settings(neural=NeuralSettings(layers=2, units=8, epochs=5))


def runs(n: int = 80, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows [n, 3] (nodes count by their logarithm) and a smooth outcome with a little noise."""
    rng = np.random.default_rng(seed)
    nodes, share = rng.uniform(1, 64, n), rng.uniform(-1, 1, n)
    share[::6] = NONE
    X = np.column_stack([nodes, share, rng.integers(0, 3, n)])
    level = np.where(share == NONE, 0.7, np.sin(2 * share))
    return X, 5 + np.log(nodes) * (1 + X[:, 2]) + level + 0.05 * rng.normal(size=n)


def thirds(y: np.ndarray) -> np.ndarray:
    """The outcome as one of three classes."""
    return np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float)


def fit(kind: Any, X: np.ndarray, y: np.ndarray, classes: int | None = None, **more: Any) -> Any:
    given = {"settings": SETTINGS, "seed": 5, "weight": None, "features": FEATURES} | more
    return kind.fit(X, y, task=Task(classes), **given)


def check_rows(kind: Any) -> None:
    """The same bits in every batch, in any layout and after a way through a file."""
    X, y = runs()
    ask = runs(41, seed=1)[0]
    for outcome, classes in ((y, None), (thirds(y) * 2, 6)):
        model = fit(kind, X, outcome, classes)
        file = io.BytesIO()
        np.savez(file, **model.arrays())
        file.seek(0)
        again = kind.restore(dict(np.load(file, allow_pickle=False)), model.task)
        for what in ("predict", "spread", "gradient"):
            one = getattr(model, what, lambda _: None)(ask)
            if one is None:
                continue
            ways = {
                "alone": np.concatenate([getattr(model, what)(ask[[i]]) for i in range(41)]),
                "in sevens": np.concatenate(
                    [getattr(model, what)(ask[i : i + 7]) for i in range(0, 41, 7)]
                ),
                "among many": getattr(model, what)(np.tile(ask, (60, 1)))[-41:],
                "turned": getattr(model, what)(np.asfortranarray(ask)),
                "restored": getattr(again, what)(ask),
            }
            for way, other in ways.items():
                assert np.array_equal(one, other), (what, way, classes)
        if classes:
            assert not model.predict(ask)[:, [1, 3, 5]].any()
            np.testing.assert_allclose(model.predict(ask).sum(axis=1), 1)


def check_gradient(model: Any, *, tight: float = 1e-6) -> None:
    """Slopes against central differences; none for labels and the level none."""
    ask = runs(30, seed=2)[0]
    slopes = model.gradient(ask)
    assert slopes.shape == ask.shape
    assert not slopes[:, 2].any()
    assert not slopes[ask[:, 1] == NONE, 1].any()
    for column in (0, 1):
        rows = ask[:, column] != NONE
        up, down = ask[rows].copy(), ask[rows].copy()
        up[:, column] += 1e-5
        down[:, column] -= 1e-5
        seen = (model.predict(up) - model.predict(down))[:, 0] / 2e-5
        np.testing.assert_allclose(slopes[rows, column], seen, rtol=1e-4, atol=tight)
        assert np.abs(seen).max() > 1e-3


def check_edges(kind: Any) -> None:
    """Constants, single classes, rows without weight, and rows that are refused."""
    X, y = runs(24)
    assert np.allclose(fit(kind, X, np.full(24, 3.25)).predict(X), 3.25, rtol=1e-9)
    single = fit(kind, X, np.full(24, 2.0), 4)
    assert np.allclose(single.predict(X), [0, 0, 1, 0])
    assert (single.spread(X) >= 0).all()
    weight = np.ones(24)
    weight[5:] = 0
    kept = fit(kind, X, y, weight=weight).predict(X)
    assert np.array_equal(kept, fit(kind, X[:5], y[:5]).predict(X))
    wrong = X.copy()
    wrong[3, 1] = np.nan
    with pytest.raises(DataProblem, match="missing, infinite or enormous"):
        fit(kind, wrong, y)
    with pytest.raises(DataProblem, match="nothing to learn"):
        fit(kind, X[:0], y[:0])
    with pytest.raises(BadInput, match="positions from 0 to 2"):
        fit(kind, X, np.full(24, 3.0), 3)
    with pytest.raises(BadInput, match="3 features"):
        single.predict(X[:, :2])


def check_damage(kind: Any) -> None:
    """Saved arrays that lack a part, hold NaN or are of another task are refused."""
    X, y = runs(24)
    arrays = fit(kind, X, y).arrays()
    for name, array in arrays.items():
        with pytest.raises(EngineProblem):
            kind.restore({key: one for key, one in arrays.items() if key != name}, Task())
        if array.dtype == np.float64 and array.size and name != "design/none":
            hurt = array.copy()
            hurt.flat[0] = np.nan
            with pytest.raises(EngineProblem):
                kind.restore({**arrays, name: hurt}, Task())
    design = {"levels": [0, 0, 2**62], "log": [0, 0, 0], "none": [np.nan, NONE, 7.0]}
    for name, wrong in design.items():
        kept = arrays[f"design/{name}"]
        hurt = np.array(wrong, dtype=np.float64 if name == "log" else kept.dtype)
        with pytest.raises(EngineProblem):
            kind.restore({**arrays, f"design/{name}": hurt}, Task())
    with pytest.raises(EngineProblem):
        kind.restore(arrays, Task(3))
    with pytest.raises(EngineProblem, match="3 classes, 2 were expected"):
        kind.restore(fit(kind, X, thirds(y), 3).arrays(), Task(2))
